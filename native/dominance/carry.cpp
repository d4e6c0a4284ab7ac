// Plans from dominance: the proof in fixed_point.cpp, carried out on real states.
#include <algorithm>
#include <numeric>
#include <string>

#include "dominance/dominance.hpp"
#include "util/error.hpp"

namespace misstep {
namespace {

using Abstract = std::vector<std::int32_t>;  // a state's abstract states

class Carrier {
  public:
    Carrier(const Dominance& dominance, const Word* t)
        : dominance_(dominance),
          task_(dominance.task()),
          space_(dominance.space()),
          now_(t, t + space_.num_words()),
          at_(dominance.num_factors()),
          next_(space_.num_words()) {
        dominance_.project(now_.data(), at_.data());
    }

    std::vector<ActionId> run(const Word* s, const std::vector<ActionId>& plan) {
        std::vector<Word> from(s, s + space_.num_words()), to(space_.num_words());
        Abstract at_s(at_.size());
        dominance_.project(s, at_s.data());
        const Total promised = dominance_.value(at_s.data(), at_.data());
        if (promised == kNever) throw InputError("D(s, t) is minus infinity: nothing can be carried over");
        std::int64_t left = 0;  // the cost of the rest of s's plan
        for (ActionId action : plan) left += space_.task.actions[action].cost;
        const std::int64_t most = left - promised;
        for (std::size_t step = 0; step < plan.size(); ++step) {
            if (!space_.generator.is_applicable(from.data(), plan[step]))
                throw InputError("step " + std::to_string(step + 1) + " of the plan, " +
                                 space_.task.actions[plan[step]].name + ", is not applicable");
            space_.generator.apply(from.data(), plan[step], to.data());
            if (space_.is_goal(now_.data()) && cost_ <= most) return std::move(plan_);
            Abstract to_s(at_.size());
            dominance_.project(to.data(), to_s.data());
            follow(at_s, to_s, plan[step]);
            at_s = std::move(to_s);
            std::swap(from, to);
        }
        if (!space_.is_goal(from.data())) throw InputError("the plan does not end in a goal state");
        if (!space_.is_goal(now_.data())) reach_goal();
        if (cost_ > most)
            throw DominanceDefect("the plan built costs " + std::to_string(cost_) + ", at most " +
                                  std::to_string(most) + " was promised");
        return std::move(plan_);
    }

  private:
    // Answers s -action-> s' by a path to some t' of cost g with D(s',t') >= D(s,t) - c(action) + g.
    void follow(const Abstract& s, const Abstract& to_s, ActionId action) {
        const std::int64_t needed = dominance_.value(s.data(), at_.data()) - space_.task.actions[action].cost;
        if (follow_directly(to_s, needed)) return;
        const std::int64_t before = cost_;
        follow_proof(s, to_s, dominance_.label_of(action));
        const Total reached = dominance_.value(to_s.data(), at_.data());
        if (reached == kNever || reached < needed + cost_ - before)
            throw DominanceDefect("the answer to " + space_.task.actions[action].name +
                                  " is worse than promised");
    }

    // By one action or none, whichever leaves most; nearly always enough.
    bool follow_directly(const Abstract& to_s, std::int64_t needed) {
        const Total still = dominance_.value(to_s.data(), at_.data());
        std::int64_t best = still == kNever ? std::int64_t{kNever} * 2 : still;
        ActionId chosen = kNoAction;
        actions_.clear();
        space_.generator.applicable(now_.data(), actions_);
        Abstract reached(at_.size());
        for (ActionId action : actions_) {
            space_.generator.apply(now_.data(), action, next_.data());
            dominance_.project(next_.data(), reached.data());
            const Total value = dominance_.value(to_s.data(), reached.data());
            if (value == kNever) continue;
            std::int64_t net = value - space_.task.actions[action].cost;
            if (net > best) {
                best = net;
                chosen = action;
            }
        }
        if (best < needed) return false;
        if (chosen != kNoAction) take(chosen);
        return true;
    }

    // Factor by factor: each answers the label of the one before with tau moves and a label of its own.
    void follow_proof(const Abstract& s, Abstract of_s, LabelId label) {
        Abstract moved = at_;   // after the tau moves
        Abstract target = at_;  // after the label, where the factor has answered
        LabelId current = label;
        for (std::size_t i = 0; i < at_.size(); ++i) {
            if (current == kNoLabel) break;  // nothing left to answer
            if (!task_.factors[i].is_relevant(current)) {
                target[i] = at_[i];
                continue;
            }
            LabelId answer = best_answer(i, s[i], of_s[i], current, moved[i], target[i]);
            for (std::size_t j = 0; j < at_.size(); ++j) {
                if (j < i) target[j] = best_target(j, moved[j], target[j], answer);
                if (j > i) of_s[j] = best_target(j, s[j], of_s[j], answer);
            }
            current = answer;
        }
        for (std::size_t i = 0; i < at_.size(); ++i) move(i, moved[i], ~0U);
        if (current != kNoLabel) take_best(current, target);
    }

    // Where the label leads from a state, the best in the eyes of `instead_of`.
    std::int32_t best_target(std::size_t factor, std::int32_t from, std::int32_t instead_of,
                             LabelId label) const {
        if (label == kNoLabel || !task_.factors[factor].is_relevant(label)) return from;
        std::int32_t best = kPruned;
        DominanceValue best_value = kNever;
        for (Transition t : outgoing(factor, label, from)) {
            DominanceValue value = dominance_.factor_value(factor, instead_of, t.to);
            if (value > best_value) {
                best = t.to;
                best_value = value;
            }
        }
        if (best == kPruned) throw DominanceDefect("a label that dominates another is not applicable");
        return best;
    }

    LabelId best_answer(std::size_t i, std::int32_t s, std::int32_t to_s, LabelId current,
                        std::int32_t& moved, std::int32_t& target) const {
        const std::vector<Cost> distance = dominance_.tau().distances_from(i, at_[i], ~0U, nullptr);
        std::int64_t best = std::int64_t{kNever} * 4;
        LabelId chosen = kNoLabel;
        auto consider = [&](LabelId label) {
            std::int64_t outside = 0;
            for (std::size_t j = 0; j < at_.size(); ++j) {
                if (j == i) continue;
                DominanceValue value = dominance_.label_value(j, current, label);
                if (value == kNever) return;
                outside += value;
            }
            std::int64_t bonus = task_.labels[current].cost + outside -
                                 (label == kNoLabel ? 0 : std::int64_t{task_.labels[label].cost});
            auto end_in = [&](std::int32_t from, std::int32_t to) {
                DominanceValue value = dominance_.factor_value(i, to_s, to);
                if (distance[from] == kInfinity || value == kNever) return;
                std::int64_t net = bonus + value - distance[from];
                if (net > best) {
                    best = net;
                    chosen = label;
                    moved = from;
                    target = to;
                }
            };
            if (label == kNoLabel || !task_.factors[i].is_relevant(label)) {
                for (std::int32_t u = 0; u < task_.factors[i].num_states; ++u) end_in(u, u);
            } else {
                for (Transition t : task_.factors[i].groups[task_.factors[i].group_of[label]])
                    end_in(t.from, t.to);
            }
        };
        consider(current);
        consider(kNoLabel);
        for (LabelId label = 0; label < task_.labels.size(); ++label) consider(label);
        if (best < dominance_.factor_value(i, s, at_[i]))
            throw DominanceDefect("a transition has no answer as good as promised");
        return chosen;
    }

    std::span<const Transition> outgoing(std::size_t factor, LabelId label, std::int32_t from) const {
        const Factor& own = task_.factors[factor];
        const Transitions& all = own.groups[own.group_of[label]];
        auto range = std::ranges::equal_range(all, from, {}, &Transition::from);
        return {range.begin(), range.end()};
    }

    // Moves one factor by tau moves; all others end up where they are.
    void move(std::size_t factor, std::int32_t to, std::uint32_t below_level) {
        if (at_[factor] == to) return;
        const std::vector<TauEdge> path = dominance_.tau().path(factor, at_[factor], to, below_level);
        if (path.empty()) throw DominanceDefect("tau moves do not lead where they should");
        for (const TauEdge& edge : path) {
            Abstract home = at_, wanted = at_;
            for (std::size_t j = 0; j < at_.size(); ++j) {
                if (j == factor || !task_.factors[j].is_relevant(edge.label)) continue;
                Transition there = dominance_.tau().detour(task_, j, edge.label, home[j], edge.level);
                if (there.from == kPruned) throw DominanceDefect("a tau label is not allowed by a factor");
                move(j, there.from, edge.level);
                wanted[j] = there.to;
            }
            wanted[factor] = edge.to;
            take_best(edge.label, wanted);
            for (std::size_t j = 0; j < at_.size(); ++j)
                if (j != factor) move(j, home[j], edge.level);
        }
    }

    // The action of the label that leads to the wanted abstract states.
    void take_best(LabelId label, const Abstract& wanted) {
        Abstract reached(at_.size());
        for (ActionId action : task_.labels[label].actions) {
            if (!space_.generator.is_applicable(now_.data(), action)) continue;
            space_.generator.apply(now_.data(), action, next_.data());
            dominance_.project(next_.data(), reached.data());
            if (reached != wanted) continue;
            take(action);
            return;
        }
        throw DominanceDefect("no action of a label does what the factors say");
    }

    void take(ActionId action) {
        space_.generator.apply(now_.data(), action, next_.data());
        std::swap(now_, next_);
        dominance_.project(now_.data(), at_.data());
        plan_.push_back(action);
        cost_ += space_.task.actions[action].cost;
    }

    void reach_goal() {
        for (std::size_t i = 0; i < at_.size(); ++i) {
            if (task_.factors[i].is_goal[at_[i]]) continue;
            std::int32_t nearest = kPruned;
            const std::vector<Cost> distance = dominance_.tau().distances_from(i, at_[i], ~0U, nullptr);
            for (std::int32_t u = 0; u < task_.factors[i].num_states; ++u)
                if (task_.factors[i].is_goal[u] && distance[u] != kInfinity &&
                    (nearest == kPruned || distance[u] < distance[nearest]))
                    nearest = u;
            if (nearest == kPruned) throw DominanceDefect("tau moves do not lead to a goal");
            move(i, nearest, ~0U);
        }
        if (!space_.is_goal(now_.data()))
            throw DominanceDefect("all factors are at a goal, the state is not");
    }

    const Dominance& dominance_;
    const FactoredTask& task_;
    const StateSpace& space_;
    std::vector<Word> now_;  // t, and where the plan has led it
    Abstract at_;            // its abstract states
    std::vector<Word> next_;
    std::vector<ActionId> actions_, plan_;
    std::int64_t cost_ = 0;
};

}  // namespace

std::vector<ActionId> Dominance::carry(const Word* s, const std::vector<ActionId>& plan,
                                       const Word* t) const {
    return Carrier(*this, t).run(s, plan);
}

}  // namespace misstep
