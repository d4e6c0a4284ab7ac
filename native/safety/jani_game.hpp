// The game of a JANI model: T(s, label) is the union over all enabled edges with that label, because a policy
// chooses labels; which edge and which outcome is up to the adversary.
#pragma once

#include <memory>
#include <optional>

#include "jani/distance.hpp"
#include "jani/successors.hpp"
#include "safety/game.hpp"
#include "safety/pair_map.hpp"
#include "safety/policy.hpp"

namespace misstep::safety {

class JaniGame final : public Game {
  public:
    struct Setup {
        const jani::Expr* unsafe = nullptr;
        const jani::Expr* goal = nullptr;      // may be absent
        std::shared_ptr<Policy> policy;        // may be absent
        std::optional<std::uint32_t> horizon;  // states after this many steps are leaves, and safe
        double epsilon = 1e-5;                 // of h_u
        bool normalised = false;
        bool by_edge = false;  // draw an enabled edge first, then its outcome by probability
    };
    JaniGame(std::shared_ptr<jani::Model> model, Setup setup);

    jani::Model& model() { return *model_; }
    jani::Successors& successors() { return successors_; }
    // The game's state for a state of the model, at step 0.
    StateId state(std::uint32_t model_state) { return number(model_state, 0); }
    std::uint32_t model_state(StateId s) const { return horizon_ ? pairs_[s].first : s; }
    std::uint32_t step(StateId s) const { return horizon_ && s < pairs_.size() ? pairs_[s].second : 0; }
    // h_u, computed once a state.
    double distance(StateId s) override;
    void weights(StateId s, const Move& move, std::vector<double>& weights) override;
    std::size_t bytes() const override;
    // The label that the policy chose in a state, applicable or not.
    std::optional<std::uint32_t> chosen(StateId s);
    std::uint64_t policy_calls() const { return policy_calls_; }

  protected:
    void generate(StateId s, MoveSink& sink) override;
    std::optional<std::uint32_t> ask(StateId s, std::vector<std::uint32_t>& labels) override;

  private:
    StateId number(std::uint32_t model_state, std::uint32_t step);
    Leaf classify(std::uint32_t model_state);

    std::shared_ptr<jani::Model> model_;
    jani::Successors successors_;
    std::uint32_t unsafe_ = 0, goal_ = 0;
    bool has_goal_ = false;
    jani::Distance distance_;
    std::shared_ptr<Policy> policy_;
    std::optional<std::uint32_t> horizon_;
    bool by_edge_;
    PairMap numbers_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
    std::vector<double> distances_;
    std::vector<std::uint32_t> chosen_;
    std::vector<double> scores_;
    std::uint64_t policy_calls_ = 0;
};

}  // namespace misstep::safety
