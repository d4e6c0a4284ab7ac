// Heuristics in every state of random tasks against their definitions, solved by plain fixed points.
#include <memory>

#include "heuristics/lmcut.hpp"
#include "heuristics/relaxation_heuristics.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr int kTasks = 60;

// Costs of facts by variable and value under the equations of h^max and h^add.
class PlainRelaxation {
  public:
    PlainRelaxation(const Task& task, const Values& state, Combine combine) : combine_(combine) {
        for (const Variable& v : task.variables) costs_.emplace_back(v.values.size(), kInfinity);
        for (std::size_t var = 0; var < state.size(); ++var)
            costs_[var][static_cast<std::size_t>(state[var])] = 0;
        for (bool changed = true; changed;) {
            changed = false;
            for (const Action& action : task.actions) {
                const Cost before = cost(action.precondition);
                if (before == kInfinity) continue;
                for (Fact f : action.effect)
                    if (before + action.cost < at(f)) {
                        at(f) = before + action.cost;
                        changed = true;
                    }
            }
        }
    }
    Cost cost(const std::vector<Fact>& facts) {
        Cost total = 0;
        for (Fact f : facts) {
            if (at(f) == kInfinity) return kInfinity;
            total = combine_ == Combine::kMax ? std::max(total, at(f)) : total + at(f);
        }
        return total;
    }

  private:
    Cost& at(Fact f) { return costs_[static_cast<std::size_t>(f.var)][static_cast<std::size_t>(f.value)]; }

    Combine combine_;
    std::vector<std::vector<Cost>> costs_;
};

// Whether the actions, each applied once and without deleting anything, make the goal true in some order.
bool reaches_goal_relaxed(const Task& task, const Values& state, std::vector<std::int32_t> actions) {
    Task only = task;
    only.actions.clear();
    for (std::int32_t action : actions) only.actions.push_back(task.actions[static_cast<std::size_t>(action)]);
    return PlainRelaxation(only, state, Combine::kMax).cost(task.goal) != kInfinity;
}

std::vector<Fact> all_facts(const Values& values) {
    std::vector<Fact> facts;
    for (std::size_t var = 0; var < values.size(); ++var)
        facts.push_back({static_cast<std::int32_t>(var), values[var]});
    return facts;
}

}  // namespace

TEST(hmax_and_hadd_solve_their_equations) {
    Rng rng(21);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        HMax hmax(space);
        HAdd hadd(space);
        for (std::size_t s = 0; s < whole.size(); ++s) {
            CHECK(hmax.evaluate(whole.words(s)) ==
                  PlainRelaxation(task, whole.values(s), Combine::kMax).cost(task.goal));
            CHECK(hadd.evaluate(whole.words(s)) ==
                  PlainRelaxation(task, whole.values(s), Combine::kSum).cost(task.goal));
        }
    }
}

TEST(ff_counts_the_actions_of_a_relaxed_plan) {
    Rng rng(22);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        HFF ff(space);
        HAdd hadd(space);
        for (std::size_t s = 0; s < whole.size(); ++s) {
            const Cost value = ff.evaluate(whole.words(s)), sum = hadd.evaluate(whole.words(s));
            CHECK((value == kInfinity) == (sum == kInfinity));
            if (value == kInfinity) continue;
            Cost total = 0;
            for (std::int32_t action : ff.relaxed_plan())
                total += task.actions[static_cast<std::size_t>(action)].cost;
            CHECK(total == value && value <= sum);
            CHECK(reaches_goal_relaxed(task, whole.values(s), ff.relaxed_plan()));
        }
    }
}

TEST(lmcut_lies_between_hmax_and_the_true_cost) {
    Rng rng(23);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        HMax hmax(space);
        LMCut lmcut(space);
        for (std::size_t s = 0; s < whole.size(); ++s) {
            std::vector<Landmark> landmarks;
            const Cost value = lmcut.evaluate(whole.words(s), landmarks);
            CHECK(hmax.evaluate(whole.words(s)) <= value && value <= whole.goal_cost(s));
            if (value == kInfinity) continue;
            // Without the actions of a landmark there is no plan, not even without deletes.
            for (const Landmark& landmark : landmarks) {
                std::vector<std::int32_t> others;
                for (ActionId a = 0; a < task.actions.size(); ++a)
                    if (std::ranges::find(landmark.actions, a) == landmark.actions.end())
                        others.push_back(static_cast<std::int32_t>(a));
                CHECK(!reaches_goal_relaxed(task, whole.values(s), others));
            }
        }
    }
}

TEST(many_states_at_once_and_pairs_of_states_get_the_values_of_single_ones) {
    Rng rng(24);
    for (int i = 0; i < kTasks; ++i) {
        Task task = random_task(rng);
        StateSpace space(task);
        WholeSpace whole(space);
        std::vector<const Word*> states;
        for (std::size_t s = 0; s < whole.size(); ++s) states.push_back(whole.words(s));
        std::vector<Cost> values(states.size());
        for (const char* name : {"blind", "hmax", "hadd", "ff", "lmcut"}) {
            auto heuristic = make_heuristic(space, name);
            heuristic->evaluate(states, values.data());
            for (std::size_t s = 0; s < states.size(); ++s) CHECK(values[s] == heuristic->evaluate(states[s]));
        }
        std::vector<const Word*> sources(states.begin(), states.begin() + 2);
        std::vector<Cost> pairs(sources.size() * states.size());
        HMax hmax(space);
        hmax.pairwise(sources, states, pairs.data());
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            PlainRelaxation plain(task, whole.values(k / states.size()), Combine::kMax);
            CHECK(pairs[k] == plain.cost(all_facts(whole.values(k % states.size()))));
        }
    }
}

TEST(heuristics_are_known_by_name_only) {
    Rng rng(25);
    Task task = random_task(rng);
    StateSpace space(task);
    CHECK_THROWS(InputError, make_heuristic(space, "h2"));
    CHECK(make_heuristic(space, "lmcut")->is_admissible() && !make_heuristic(space, "lmcut")->is_consistent());
    CHECK(make_heuristic(space, "hmax")->is_consistent() && !make_heuristic(space, "ff")->is_admissible());
}
