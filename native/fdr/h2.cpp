#include "fdr/h2.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace misstep {
namespace {

using Bits = std::uint64_t;

class H2 {
  public:
    H2(const Task& task, const std::vector<std::int32_t>& from, const Budget& budget)
        : task_(task), from_(from), watch_(budget) {
        for (const Variable& variable : task.variables) {
            first_fact_.push_back(num_facts_);
            num_facts_ += static_cast<std::size_t>(variable.domain_size());
        }
        width_ = (num_facts_ + 63) / 64;
        pairs_.assign(num_facts_ * width_, 0);
        for (std::size_t a = 0; a < task.actions.size(); ++a) {
            std::vector<std::size_t> pre, eff;
            for (Fact f : task.actions[a].precondition) pre.push_back(id(f));
            for (Fact f : task.actions[a].effect) eff.push_back(id(f));
            precondition_.push_back(std::move(pre));
            effect_.push_back(std::move(eff));
        }
    }

    H2Reachability run() {
        H2Reachability result;
        std::vector<bool> reached(task_.actions.size(), false);
        mark_initial();
        bool changed = true;
        while (changed && result.limit == LimitHit::kNone) {
            changed = false;
            for (std::size_t a = 0; a < task_.actions.size(); ++a) {
                result.limit = watch_.check(0, pairs_.size() * sizeof(Bits), 1 + width_);
                if (result.limit != LimitHit::kNone) break;
                if (!reached[a] && !is_applicable(a)) continue;
                reached[a] = true;
                changed |= apply(a);
            }
        }
        bool complete = result.limit == LimitHit::kNone;
        result.actions = complete ? reached : std::vector<bool>(task_.actions.size(), true);
        for (std::size_t var = 0; var < task_.variables.size(); ++var) {
            std::size_t size = static_cast<std::size_t>(task_.variables[var].domain_size());
            std::vector<bool> values(size, true);
            if (complete)
                for (std::size_t v = 0; v < size; ++v)
                    values[v] = has(first_fact_[var] + v, first_fact_[var] + v);
            result.facts.push_back(std::move(values));
        }
        if (complete) {
            result.first_fact = first_fact_;
            result.width = width_;
            result.pairs = std::move(pairs_);
        }
        return result;
    }

  private:
    std::size_t id(Fact f) const { return first_fact_[f.var] + static_cast<std::size_t>(f.value); }
    Bits* row(std::size_t fact) { return pairs_.data() + fact * width_; }
    bool has(std::size_t p, std::size_t q) const { return (pairs_[p * width_ + q / 64] >> (q % 64)) & 1; }

    void mark_initial() {
        for (std::size_t var = 0; var < task_.variables.size(); ++var)
            for (std::size_t other = 0; other < task_.variables.size(); ++other) {
                std::size_t p = first_fact_[var] + static_cast<std::size_t>(from_[var]);
                std::size_t q = first_fact_[other] + static_cast<std::size_t>(from_[other]);
                row(p)[q / 64] |= Bits{1} << (q % 64);
            }
    }
    bool is_applicable(std::size_t action) const {
        const auto& pre = precondition_[action];
        for (std::size_t i = 0; i < pre.size(); ++i)
            for (std::size_t k = 0; k <= i; ++k)
                if (!has(pre[i], pre[k])) return false;
        return true;
    }
    // After the action hold: its effects, and every fact that can hold together with its whole precondition
    // and belongs to a variable that the action leaves alone. Returns whether a new pair was found.
    bool apply(std::size_t action) {
        after_.assign(width_, 0);
        const auto& pre = precondition_[action];
        if (pre.empty()) {
            for (std::size_t f = 0; f < num_facts_; ++f)
                if (has(f, f)) after_[f / 64] |= Bits{1} << (f % 64);
        } else {
            std::copy_n(row(pre[0]), width_, after_.begin());
            for (std::size_t i = 1; i < pre.size(); ++i)
                for (std::size_t w = 0; w < width_; ++w) after_[w] &= row(pre[i])[w];
        }
        for (Fact f : task_.actions[action].effect) {
            std::size_t first = first_fact_[f.var];
            std::size_t size = static_cast<std::size_t>(task_.variables[f.var].domain_size());
            for (std::size_t q = first; q < first + size; ++q) after_[q / 64] &= ~(Bits{1} << (q % 64));
        }
        for (std::size_t q : effect_[action]) after_[q / 64] |= Bits{1} << (q % 64);
        bool changed = false;
        for (std::size_t p : effect_[action]) {
            for (std::size_t w = 0; w < width_; ++w) {
                Bits fresh = after_[w] & ~row(p)[w];
                if (fresh == 0) continue;
                changed = true;
                row(p)[w] |= fresh;
                for (; fresh != 0; fresh &= fresh - 1) {
                    std::size_t q = w * 64 + static_cast<std::size_t>(std::countr_zero(fresh));
                    row(q)[p / 64] |= Bits{1} << (p % 64);
                }
            }
        }
        return changed;
    }

    const Task& task_;
    const std::vector<std::int32_t>& from_;
    BudgetWatch watch_;
    std::vector<std::size_t> first_fact_;
    std::size_t num_facts_ = 0;
    std::size_t width_ = 0;
    std::vector<Bits> pairs_;
    std::vector<std::vector<std::size_t>> precondition_, effect_;
    std::vector<Bits> after_;
};

}  // namespace

H2Reachability h2_reachability(const Task& task, const Budget& budget) {
    return H2(task, task.initial, budget).run();
}

H2Reachability h2_reachability(const Task& task, const std::vector<std::int32_t>& from,
                               const Budget& budget) {
    return H2(task, from, budget).run();
}

Task pruned(const Task& task, const H2Reachability& reachable) {
    std::vector<std::vector<std::int32_t>> new_value(task.variables.size());
    Task result;
    result.has_metric = task.has_metric;
    for (std::size_t var = 0; var < task.variables.size(); ++var) {
        const Variable& variable = task.variables[var];
        auto goal = std::ranges::find(task.goal, static_cast<std::int32_t>(var), &Fact::var);
        Variable kept{variable.name, {}};
        for (std::int32_t value = 0; value < variable.domain_size(); ++value) {
            bool keep = reachable.facts[var][static_cast<std::size_t>(value)] ||
                        (goal != task.goal.end() && goal->value == value);
            new_value[var].push_back(keep ? kept.domain_size() : -1);
            if (keep) kept.values.push_back(variable.values[static_cast<std::size_t>(value)]);
        }
        result.variables.push_back(std::move(kept));
        result.initial.push_back(new_value[var][static_cast<std::size_t>(task.initial[var])]);
    }
    auto renumber = [&new_value](std::vector<Fact> facts) {
        for (Fact& f : facts)
            f.value = new_value[static_cast<std::size_t>(f.var)][static_cast<std::size_t>(f.value)];
        return facts;
    };
    result.goal = renumber(task.goal);
    for (std::size_t a = 0; a < task.actions.size(); ++a) {
        if (!reachable.actions[a]) continue;
        const Action& action = task.actions[a];
        result.actions.push_back(
            {action.name, renumber(action.precondition), renumber(action.effect), action.cost});
    }
    return result;
}

}  // namespace misstep
