// Deciders answer "is this state r-safe?"; every answer leaves bounds behind that the next one starts from.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "safety/bounds.hpp"
#include "safety/meter.hpp"

namespace misstep::safety {

enum class Verdict : std::uint8_t { safe, unsafe, unknown };

struct Answer {
    Verdict verdict;
    LimitHit limit;  // why it is unknown
    std::uint64_t expanded;
    double seconds;
};

class Decider {
  public:
    explicit Decider(Game& game) : game_(game), finite_(true), infinite_(false) {}
    virtual ~Decider() = default;

    // radius may be `infinite`.
    Answer decide(StateId s, std::uint32_t radius, const Budget& budget);
    // The least radius up to `most` for which s is safe; nothing if there is none or a limit was hit. The
    // budget is for all the queries together.
    std::optional<std::uint32_t> minimal_radius(StateId s, std::uint32_t most, const Budget& budget);
    // Evidence for the latest answer on s with this radius; empty unless it was safe, or unsafe,
    // respectively.
    std::vector<StrategyStep> strategy(StateId s, std::uint32_t radius, const Known& known = {});
    std::vector<RefutationStep> refutation(StateId s, std::uint32_t radius, const Known& known = {});
    bool refuted(StateId s, std::uint32_t radius);
    // The moves that the indices in such evidence are about.
    Moves moves(StateId s, std::uint32_t radius) { return bounds(radius).moves(game_, s); }
    std::uint64_t expanded() const { return total_; }
    Game& game() { return game_; }

  protected:
    // Returns when lower(s) >= cap or upper(s) < cap; throws OutOfBudget before.
    virtual void solve(StateId s, Bounds& bounds, std::uint32_t cap) = 0;

    // The moves of s, counted once per decider; a state without moves is settled on the way.
    Moves expand(StateId s, Bounds& bounds);
    // Whether s needs no more work under this cap. Sets the values of leaves that are seen for the first
    // time.
    bool closed(StateId s, Bounds& bounds, std::uint32_t cap) {
        meet(s, bounds);
        return bounds.lower(s) >= cap || bounds.settled(s);
    }
    // Whether this decider has expanded s: to expand it again costs nothing.
    bool expanded_before(StateId s) const { return s < counted_.size() && counted_[s]; }
    void meet(StateId s, Bounds& bounds) {
        bounds.grow(game_.size());
        if (game_.leaf(s) == Leaf::unsafe) bounds.lose_leaf(s);
        if (game_.leaf(s) == Leaf::goal) bounds.settle_leaf(s);
    }
    // min over moves of cost + max over outcomes of the lower bound; the first move that attains it.
    struct Backup {
        std::uint32_t value;
        std::uint32_t move;
    };
    Backup backup(StateId s, Bounds& bounds, std::uint32_t cap);

    Game& game_;
    Meter meter_;

  private:
    Answer query(StateId s, std::uint32_t radius);  // within the budget that the meter was started with
    Bounds& bounds(std::uint32_t radius) { return radius == infinite ? infinite_ : finite_; }
    Bounds finite_, infinite_;
    std::vector<bool> counted_;
    std::uint64_t total_ = 0;
};

// In which order `level` looks into the outcomes of a move: worth a factor of 50 on refutations.
// shared: outcomes that were expanded before, since that costs nothing; then the one that most moves that
// cost as much have in common, since losing it refutes them all at once; then the least h_u, where the
// adversary most likely wins; then the last.
enum class OutcomeOrder : std::uint8_t { shared, last_first, first_first };

std::unique_ptr<Decider> make_level(Game& game, OutcomeOrder order);
std::unique_ptr<Decider> make_tarjan(Game& game);
std::unique_ptr<Decider> make_value_iteration(Game& game);
std::unique_ptr<Decider> make_lao(Game& game);
std::unique_ptr<Decider> make_lrtdp(Game& game);
std::unique_ptr<Decider> make_policy_iteration(Game& game);
// level, tarjan, value-iteration, lao, lrtdp or policy-iteration; throws InputError otherwise.
std::unique_ptr<Decider> make_decider(const std::string& name, Game& game, OutcomeOrder order);

}  // namespace misstep::safety
