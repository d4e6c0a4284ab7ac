#include "jani/sample.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "jani/interval.hpp"
#include "util/error.hpp"

namespace misstep::jani {

namespace {

constexpr double max_domain = 1e6;

class Sampler {
  public:
    Sampler(Successors& successors, const Expr* condition, std::uint64_t seed)
        : successors_(successors), model_(successors.model()), rng_(seed), domains_(domains(model_)) {
        split(condition);
        by_slot_.resize(domains_.size());
        std::vector<std::uint32_t> slots;
        for (std::uint32_t i = 0; i < conjuncts_.size(); ++i) {
            slots.clear();
            collect_slots(conjuncts_[i], slots);
            std::sort(slots.begin(), slots.end());
            slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
            for (std::uint32_t slot : slots)
                if (slot < by_slot_.size()) by_slot_[slot].push_back(i);
        }
        for (std::uint32_t i = 0; i < model_.layout.fields().size(); ++i) {
            if (!model_.field_bounded(i))
                throw InputError("start states cannot be drawn: '" + model_.field_name(i) +
                                 "' has no bounds");
            fields_.push_back(i);
        }
        values_.resize(fields_.size());
        for (std::uint32_t field : fields_)
            if (!model_.layout.fields()[field].real) restrict_domain(field);
    }

    // One attempt with a fresh random order; false if the node budget ran out or nothing was found.
    bool attempt(std::uint64_t& nodes_left, std::uint64_t nodes_here) {
        std::shuffle(fields_.begin(), fields_.end(), rng_);
        // Variables that the condition speaks about come first, the most often named ones before the others.
        std::stable_sort(fields_.begin(), fields_.end(),
                         [this](std::uint32_t a, std::uint32_t b) { return mentions(a) > mentions(b); });
        slots_ = domains_;
        for (const Expr* e : conjuncts_)
            if (enclose(e, slots_).is(0)) return false;
        budget_ = std::min(nodes_left, nodes_here);
        std::uint64_t before = budget_;
        bool found = descend(0);
        nodes_left -= before - budget_;
        return found;
    }

    void write(Value* frame) const {
        for (std::uint32_t field : fields_) {
            const Field& f = model_.layout.fields()[field];
            double x = slots_[f.slot].lower;
            frame[f.slot] = f.real ? make(x) : make(static_cast<std::int64_t>(x));
        }
    }

  private:
    std::size_t mentions(std::uint32_t field) const {
        return by_slot_[model_.layout.fields()[field].slot].size();
    }

    void split(const Expr* e) {
        if (e->op == Op::logical_and) {
            split(e->args[0]);
            split(e->args[1]);
        } else {
            conjuncts_.push_back(e);
        }
    }

    // The values of an integer that no constraint on it alone excludes.
    void restrict_domain(std::uint32_t field) {
        const Field& f = model_.layout.fields()[field];
        const Interval domain = domains_[f.slot];
        if (domain.upper - domain.lower > max_domain)
            throw InputError("start states cannot be drawn: '" + model_.field_name(field) + "' is too wide");
        std::vector<double>& values = values_[field];
        slots_ = domains_;
        for (auto n = static_cast<std::int64_t>(domain.lower); n <= static_cast<std::int64_t>(domain.upper); ++n) {
            const auto x = static_cast<double>(n);
            slots_[f.slot] = {x, x};
            if (consistent(f.slot)) values.push_back(x);
        }
        if (values.empty()) return;
        domains_[f.slot] = {values.front(), values.back()};
    }

    bool consistent(std::uint32_t slot) const {
        return std::none_of(by_slot_[slot].begin(), by_slot_[slot].end(),
                            [this](std::uint32_t i) { return enclose(conjuncts_[i], slots_).is(0); });
    }

    bool descend(std::size_t depth) {
        if (depth == fields_.size()) return true;
        const Field& f = model_.layout.fields()[fields_[depth]];
        const Interval domain = domains_[f.slot];
        std::vector<double> values;
        if (f.real) {
            std::uniform_real_distribution<double> draw(domain.lower, domain.upper);
            for (int i = 0; i < 20; ++i) values.push_back(draw(rng_) + 0.0);
        } else {
            values = values_[fields_[depth]];
            std::shuffle(values.begin(), values.end(), rng_);
        }
        for (double x : values) {
            if (budget_ == 0) break;
            --budget_;
            slots_[f.slot] = {x, x};
            if (consistent(f.slot) && descend(depth + 1)) return true;
        }
        slots_[f.slot] = domain;
        return false;
    }

    Successors& successors_;
    const Model& model_;
    std::mt19937_64 rng_;
    std::vector<Interval> domains_, slots_;
    std::vector<const Expr*> conjuncts_;
    std::vector<std::vector<std::uint32_t>> by_slot_;
    std::vector<std::uint32_t> fields_;
    std::vector<std::vector<double>> values_;  // of each integer field
    std::uint64_t budget_ = 0;
};

}  // namespace

std::vector<std::uint32_t> sample_states(Successors& successors, const Expr* condition,
                                         std::uint32_t compiled, std::size_t count, std::uint64_t seed,
                                         std::uint64_t max_nodes, const Budget& budget) {
    BudgetWatch watch(budget);
    Sampler sampler(successors, condition, seed);
    std::vector<std::uint32_t> result;
    std::unordered_set<std::uint32_t> seen;
    std::vector<std::uint64_t> zero(successors.model().layout.words());
    std::size_t repeats = 0;
    while (result.size() < count && max_nodes > 0 && repeats < 10 * count + 100) {
        if (watch.look(successors.registry().bytes()) != LimitHit::kNone) break;
        if (!sampler.attempt(max_nodes, 20'000)) {
            ++repeats;
            continue;
        }
        Value* frame = successors.load(zero.data());
        sampler.write(frame);
        std::uint32_t id = successors.store();
        // Enclosures are coarse (and know nothing of transient variables): the condition itself decides.
        if (successors.program().test(compiled, successors.load(id)) && seen.insert(id).second)
            result.push_back(id);
        else
            ++repeats;
    }
    return result;
}

}  // namespace misstep::jani
