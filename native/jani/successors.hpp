// Successor generation: from a packed state to its choices (edge or synchronised edges) and their outcomes.
#pragma once

#include <memory>
#include <vector>

#include "jani/model.hpp"

namespace misstep::jani {

struct Choice {
    std::uint32_t label;
    std::uint32_t first, last;  // its outcomes, without duplicates, in discovery order
};

// Not thread-safe: one for each thread. Successors go to a registry.
class Successors {
  public:
    explicit Successors(std::shared_ptr<const Model> model);

    const Model& model() const { return *model_; }
    // The model's code, and what is compiled into it for this object only: the model itself never changes,
    // so that objects on several threads can share one.
    Program& program() { return program_; }
    Registry& registry() { return registry_; }
    const Registry& registry() const { return registry_; }

    // Fills choices(), outcomes() and their probabilities(). Throws InputError where the model leaves its own
    // bounds.
    void expand(std::uint32_t state);
    const std::vector<Choice>& choices() const { return choices_; }
    const std::vector<std::uint32_t>& outcomes() const { return outcomes_; }
    const std::vector<double>& probabilities() const { return probabilities_; }

    // The values of a state in a frame, transient ones included; valid until the next call.
    Value* load(const std::uint64_t* state);
    Value* load(std::uint32_t state) { return load(registry_[state]); }
    // Packs the frame of the latest load after a caller changed it.
    std::uint32_t store();

    // How often a real value left its bounds.
    std::uint64_t out_of_bounds() const { return out_of_bounds_; }

  private:
    void collect(const EdgeTree& tree, const Instance& in, std::vector<std::uint32_t>& enabled);
    void synchronised(const Vector& vector);
    void fire(const Vector& vector, const std::uint32_t* edges);
    void apply(const Vector& vector, const Destination* const* destinations);
    double probability(const Destination& d);
    bool possible(double probability) const { return probability > 0 || model_->options.keep_impossible; }
    void simple(const Instance& in, const Destination& d);
    Value checked(const Assignment& a, Value value);
    void emit(std::uint32_t first, double probability);

    std::shared_ptr<const Model> model_;
    Program program_;
    Registry registry_;
    std::vector<Value> frame_;
    std::vector<std::pair<std::uint32_t, Value>> transients_;  // slots with their initial values
    bool sets_transients_;
    std::vector<std::uint64_t> current_, next_;
    std::vector<Choice> choices_;
    std::vector<std::uint32_t> outcomes_;
    std::vector<double> probabilities_;
    std::vector<std::vector<std::uint32_t>> enabled_;
    std::vector<std::uint32_t> combination_;
    std::vector<const Destination*> destinations_;
    struct Write {
        const Assignment* assignment;
        std::uint32_t slot;
        Value value;
    };
    std::vector<Write> writes_;
    std::vector<std::pair<std::uint32_t, Value>> undo_;
    std::uint64_t out_of_bounds_ = 0;
    bool dropped_ = false;  // the outcome under way has a value out of bounds, and such outcomes are dropped
};

// The initial states: every choice of initial locations and of the variables without a value, restricted.
std::vector<std::uint32_t> initial_states(Successors& successors, std::size_t most);

}  // namespace misstep::jani
