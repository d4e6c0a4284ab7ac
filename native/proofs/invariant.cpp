#include "proofs/invariant.hpp"

#include <algorithm>
#include <set>

#include "fdr/h2.hpp"

namespace misstep {
namespace {

using Facts = std::vector<Fact>;

// The part of a pair's way back through h^2 that is needed: for every action that would make a pair true, a
// pair that its precondition, with what it leaves alone, would need.
class Regression {
  public:
    Regression(const Task& task, const H2Reachability& reachable)
        : task_(task), reachable_(reachable), achievers_(task.variables.size()) {
        for (std::size_t var = 0; var < achievers_.size(); ++var)
            achievers_[var].resize(static_cast<std::size_t>(task.variables[var].domain_size()));
        for (const Action& action : task.actions)
            for (Fact fact : action.effect) achievers_[fact.var][fact.value].push_back(&action);
    }

    std::optional<Invariant> run() {
        std::optional<Facts> first = unreachable_part(task_.goal);
        if (!first) return std::nullopt;
        add(*first);
        for (std::size_t next = 0; next < result_.never.size(); ++next) {
            const Facts facts = result_.never[next];
            for (Fact fact : facts)
                for (const Action* action : achievers_[fact.var][fact.value]) block(facts, *action);
        }
        return std::move(result_);
    }

  private:
    void block(const Facts& facts, const Action& action) {
        Facts needed = action.precondition;
        for (Fact fact : facts) {
            auto effect = std::ranges::find(action.effect, fact.var, &Fact::var);
            if (effect != action.effect.end()) {
                if (*effect != fact) return;
                continue;
            }
            auto own = std::ranges::find(needed, fact.var, &Fact::var);
            if (own == needed.end())
                needed.push_back(fact);
            else if (*own != fact)
                return;
        }
        std::ranges::sort(needed);
        if (auto part = unreachable_part(needed)) add(*part);
    }

    // A fact or a pair among the facts that is not reachable; one that is known before others.
    std::optional<Facts> unreachable_part(const Facts& facts) const {
        std::optional<Facts> found;
        for (std::size_t i = 0; i < facts.size(); ++i)
            for (std::size_t k = 0; k <= i; ++k) {
                if (reachable_.together(facts[i], facts[k])) continue;
                Facts part = i == k ? Facts{facts[i]} : Facts{facts[k], facts[i]};
                if (known_.contains(part)) return part;
                if (!found || part.size() < found->size()) found = std::move(part);
            }
        return found;
    }

    void add(const Facts& facts) {
        if (known_.insert(facts).second) result_.never.push_back(facts);
    }

    const Task& task_;
    const H2Reachability& reachable_;
    std::vector<std::vector<std::vector<const Action*>>> achievers_;  // by variable and value
    std::set<Facts> known_;
    Invariant result_;
};

}  // namespace

bool Invariant::holds(const std::int32_t* values) const {
    return std::ranges::none_of(never, [values](const Facts& facts) {
        return std::ranges::all_of(facts, [values](Fact fact) { return values[fact.var] == fact.value; });
    });
}

std::optional<Invariant> find_invariant(const Task& task, const std::vector<std::int32_t>& state,
                                        const Budget& budget) {
    const H2Reachability reachable = h2_reachability(task, state, budget);
    if (reachable.limit != LimitHit::kNone) return std::nullopt;
    return Regression(task, reachable).run();
}

}  // namespace misstep
