#include "jani/successors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "util/error.hpp"

namespace misstep::jani {

Successors::Successors(std::shared_ptr<const Model> model)
    : model_(std::move(model)),
      program_(model_->program),
      registry_(model_->layout.words()),
      frame_(program_.frame()),
      current_(model_->layout.words()),
      next_(model_->layout.words()) {
    for (const Variable& v : model_->variables)
        if (v.transient)
            for (std::uint32_t i = 0; i < v.initial.size(); ++i)
                transients_.emplace_back(v.slot + i, v.initial[i]);
    for (const auto& [slot, value] : transients_) frame_[slot] = value;
    sets_transients_ = false;
    for (const Instance& in : model_->instances)
        for (const auto& values : in.transient_values) sets_transients_ |= !values.empty();
}

Value* Successors::load(const std::uint64_t* state) {
    // Conditions compiled after this object was made may use slots it has not got yet.
    const auto& fresh = program_.frame();
    if (frame_.size() < fresh.size())
        frame_.insert(frame_.end(), fresh.begin() + static_cast<std::ptrdiff_t>(frame_.size()), fresh.end());
    model_->layout.unpack(state, frame_.data());
    if (sets_transients_ && model_->reads_transient) {
        for (const auto& [slot, value] : transients_) frame_[slot] = value;
        for (const Instance& in : model_->instances)
            for (const auto& [slot, source] :
                 in.transient_values[static_cast<std::size_t>(frame_[in.slot].i)])
                frame_[slot] = program_.eval(source, frame_.data());
    }
    return frame_.data();
}

std::uint32_t Successors::store() {
    model_->layout.pack(frame_.data(), next_.data());
    bool added = false;
    return registry_.insert(next_.data(), added);
}

void Successors::expand(std::uint32_t state) {
    dropped_ = false;
    choices_.clear();
    outcomes_.clear();
    probabilities_.clear();
    std::copy_n(registry_[state], current_.size(), current_.begin());
    load(current_.data());
    for (const Vector& vector : model_->vectors) {
        if (vector.instances.size() > 1) {
            synchronised(vector);
            continue;
        }
        const Instance& in = model_->instances[vector.instances[0]];
        const auto& tree = vector.trees[0][static_cast<std::size_t>(frame_[in.slot].i)];
        if (!tree) continue;
        if (enabled_.empty()) enabled_.resize(1);
        enabled_[0].clear();
        collect(*tree, in, enabled_[0]);
        for (std::size_t i = 0; i < enabled_[0].size(); ++i) {
            const Edge& edge = in.edges[enabled_[0][i]];
            auto first = static_cast<std::uint32_t>(outcomes_.size());
            for (const Destination& d : edge.destinations) {
                const double p = probability(d);
                if (!possible(p)) continue;
                if (d.simple) {
                    simple(in, d);
                } else {
                    const Destination* one = &d;
                    apply(vector, &one);
                }
                emit(first, p);
            }
            if (outcomes_.size() > first)
                choices_.push_back({vector.label, first, static_cast<std::uint32_t>(outcomes_.size())});
        }
    }
}

void Successors::collect(const EdgeTree& tree, const Instance& in, std::vector<std::uint32_t>& enabled) {
    for (const EdgeTree* node = &tree; node; node = node->others.get()) {
        for (std::uint32_t e : node->edges)
            if (!in.edges[e].guarded || program_.test(in.edges[e].guard, frame_.data())) enabled.push_back(e);
        if (node->children.empty()) continue;
        const auto index = static_cast<std::size_t>(frame_[node->slot].i - node->lower);
        if (index < node->children.size() && node->children[index])
            collect(*node->children[index], in, enabled);
    }
}

double Successors::probability(const Destination& d) {
    if (d.certain) return d.weight;
    double p = program_.eval(d.probability, frame_.data()).d;
    if (!(p >= 0)) throw InputError("a probability is negative or not a number");
    return p;
}

Value Successors::checked(const Assignment& a, Value value) {
    if (a.type == Type::real) {
        if (!std::isfinite(value.d)) throw InputError("'" + *a.name + ": the value is not a finite number");
        if (a.bounded && (value.d < a.lower.d || value.d > a.upper.d)) {
            ++out_of_bounds_;
            if (model_->options.reals == OutOfBounds::drop) dropped_ = true;
            if (model_->options.reals == OutOfBounds::error)
                throw InputError("'" + *a.name + ": the value " + std::to_string(value.d) +
                                 " is out of bounds");
            if (model_->options.reals == OutOfBounds::clip)
                value.d = std::clamp(value.d, a.lower.d, a.upper.d);
        }
        value.d += 0.0;  // -0.0 becomes 0.0: states are compared bit by bit
    } else if (a.bounded && (value.i < a.lower.i || value.i > a.upper.i)) {
        if (model_->options.integers == OutOfBounds::drop) dropped_ = true;
        if (model_->options.integers == OutOfBounds::error)
            throw InputError("'" + *a.name + ": the value " + std::to_string(value.i) + " is out of bounds");
        value.i = std::clamp(value.i, a.lower.i, a.upper.i);
    }
    return value;
}

// One instance, one assignment order: everything is read from the old valuation, so only the packed copy
// changes.
void Successors::simple(const Instance& in, const Destination& d) {
    std::copy(current_.begin(), current_.end(), next_.begin());
    const auto& fields = model_->layout.fields();
    if (in.locations.size() > 1) fields[in.field].put(next_.data(), make(d.location));
    for (const Assignment& a : d.assignments)
        fields[a.field].put(next_.data(), checked(a, program_.eval(a.value, frame_.data())));
}

void Successors::emit(std::uint32_t first, double probability) {
    if (std::exchange(dropped_, false)) return;
    bool added = false;
    std::uint32_t id = registry_.insert(next_.data(), added);
    if (!added) {
        auto same = std::find(outcomes_.begin() + first, outcomes_.end(), id);
        if (same != outcomes_.end()) {
            probabilities_[static_cast<std::size_t>(same - outcomes_.begin())] += probability;
            return;
        }
    }
    outcomes_.push_back(id);
    probabilities_.push_back(probability);
}

void Successors::synchronised(const Vector& vector) {
    const std::size_t n = vector.instances.size();
    if (enabled_.size() < n) enabled_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Instance& in = model_->instances[vector.instances[i]];
        const auto& tree = vector.trees[i][static_cast<std::size_t>(frame_[in.slot].i)];
        enabled_[i].clear();
        if (tree) collect(*tree, in, enabled_[i]);
        if (enabled_[i].empty()) return;
    }
    std::vector<std::size_t> digits(n, 0);
    combination_.resize(n);
    while (true) {
        for (std::size_t i = 0; i < n; ++i) combination_[i] = enabled_[i][digits[i]];
        fire(vector, combination_.data());
        std::size_t i = n;
        while (i > 0 && ++digits[i - 1] == enabled_[i - 1].size()) digits[--i] = 0;
        if (i == 0) return;
    }
}

void Successors::fire(const Vector& vector, const std::uint32_t* edges) {
    const std::size_t n = vector.instances.size();
    auto first = static_cast<std::uint32_t>(outcomes_.size());
    std::vector<std::vector<std::pair<const Destination*, double>>> possible_ones(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (const Destination& d : model_->instances[vector.instances[i]].edges[edges[i]].destinations)
            if (double p = probability(d); possible(p)) possible_ones[i].emplace_back(&d, p);
        if (possible_ones[i].empty()) return;
    }
    std::vector<std::size_t> digits(n, 0);
    destinations_.resize(n);
    while (true) {
        double p = 1;
        for (std::size_t i = 0; i < n; ++i) {
            destinations_[i] = possible_ones[i][digits[i]].first;
            p *= possible_ones[i][digits[i]].second;
        }
        apply(vector, destinations_.data());
        emit(first, p);
        std::size_t i = n;
        while (i > 0 && ++digits[i - 1] == possible_ones[i - 1].size()) digits[--i] = 0;
        if (i == 0) break;
    }
    if (outcomes_.size() > first)
        choices_.push_back({vector.label, first, static_cast<std::uint32_t>(outcomes_.size())});
}

// The general case: assignments of one order are simultaneous over all participants, orders follow one
// another.
void Successors::apply(const Vector& vector, const Destination* const* destinations) {
    std::copy(current_.begin(), current_.end(), next_.begin());
    const auto& fields = model_->layout.fields();
    const std::size_t n = vector.instances.size();
    undo_.clear();
    for (const auto& [slot, value] : transients_) {
        undo_.emplace_back(slot, frame_[slot]);
        frame_[slot] = value;
    }
    auto restore = [this] {
        for (std::size_t i = undo_.size(); i-- > 0;) frame_[undo_[i].first] = undo_[i].second;
    };
    try {
        std::vector<std::size_t> done(n, 0);
        while (true) {
            bool any = false;
            std::int64_t order = 0;
            for (std::size_t i = 0; i < n; ++i)
                if (done[i] < destinations[i]->assignments.size()) {
                    std::int64_t o = destinations[i]->assignments[done[i]].order;
                    if (!any || o < order) order = o;
                    any = true;
                }
            if (!any) break;
            writes_.clear();
            for (std::size_t i = 0; i < n; ++i)
                for (; done[i] < destinations[i]->assignments.size(); ++done[i]) {
                    const Assignment& a = destinations[i]->assignments[done[i]];
                    if (a.order != order) break;
                    std::uint32_t slot = a.slot;
                    if (a.length != 0) {
                        std::int64_t index = program_.eval(a.index, frame_.data()).i;
                        if (index < 0 || index >= a.length)
                            throw InputError("'" + *a.name + ": array index " + std::to_string(index) +
                                             " is out of range");
                        slot += static_cast<std::uint32_t>(index);
                    }
                    Value value = checked(a, program_.eval(a.value, frame_.data()));
                    for (const Write& w : writes_)
                        if (w.slot == slot && w.value.i != value.i)
                            throw InputError("'" + *a.name + ": two different values at the same time");
                    writes_.push_back({&a, slot, value});
                }
            for (const Write& w : writes_) {
                undo_.emplace_back(w.slot, frame_[w.slot]);
                frame_[w.slot] = w.value;
                if (!w.assignment->transient)
                    fields[model_->field_of_slot[w.slot]].put(next_.data(), w.value);
            }
        }
        for (std::size_t i = 0; i < n; ++i)
            fields[model_->instances[vector.instances[i]].field].put(next_.data(),
                                                                     make(destinations[i]->location));
    } catch (...) {
        restore();
        throw;
    }
    restore();
}

std::vector<std::uint32_t> initial_states(Successors& successors, std::size_t most) {
    const Model& model = successors.model();
    struct Choice {
        std::uint32_t slot;
        std::vector<std::int64_t> values;
    };
    std::vector<std::uint64_t> zero(model.layout.words());
    Value* frame = successors.load(zero.data());
    std::vector<Choice> choices;
    double count = 1;
    for (const Instance& in : model.instances) choices.push_back({in.slot, in.initial_locations});
    for (const Variable& v : model.variables) {
        if (v.transient) continue;
        for (std::uint32_t i = 0; i < v.initial.size(); ++i) frame[v.slot + i] = v.initial[i];
        if (!v.initial.empty()) continue;
        const std::optional<Value> lower = v.shape.lower, upper = v.shape.upper;
        if (!lower || !upper) throw InputError("'" + v.name + "' has neither an initial value nor bounds");
        Choice choice{v.slot, {}};
        if (static_cast<double>(upper->i) - static_cast<double>(lower->i) > static_cast<double>(most))
            throw InputError("too many initial states");
        for (std::int64_t x = lower->i; x <= upper->i; ++x) choice.values.push_back(x);
        choices.push_back(std::move(choice));
    }
    for (const Choice& choice : choices) count *= static_cast<double>(choice.values.size());
    if (count > static_cast<double>(most)) throw InputError("too many initial states");
    std::vector<std::uint32_t> result;
    std::vector<std::size_t> digits(choices.size(), 0);
    while (true) {
        for (std::size_t i = 0; i < choices.size(); ++i)
            frame[choices[i].slot] = make(choices[i].values[digits[i]]);
        if (successors.program().test(model.initial_condition, frame)) result.push_back(successors.store());
        std::size_t i = choices.size();
        while (i > 0 && ++digits[i - 1] == choices[i - 1].values.size()) digits[--i] = 0;
        if (i == 0) break;
    }
    if (result.empty()) throw InputError("no state satisfies restrict-initial");
    return result;
}

}  // namespace misstep::jani
