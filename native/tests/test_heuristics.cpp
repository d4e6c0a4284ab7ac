// Both kernels of the batched exploration against the one-state exploration, on a task with zero costs.
#include "heuristics/batch_exploration.hpp"
#include "heuristics/lmcut.hpp"
#include "tests/check.hpp"
#include "util/rng.hpp"

using namespace misstep;

namespace {

Task corridor(int length, Rng& rng) {
    Task task;
    for (int var = 0; var < 4; ++var) {
        Variable variable{"v", {}};
        for (int value = 0; value < length; ++value)
            variable.values.push_back("(at " + std::to_string(var) + ")");
        task.variables.push_back(std::move(variable));
        task.initial.push_back(0);
        task.goal.push_back({var, length - 1});
        for (int value = 0; value + 1 < length; ++value) {
            for (int step : {0, 1}) {
                Action action{
                    "(a)", {{var, value + step}}, {{var, value + 1 - step}}, static_cast<Cost>(rng.below(3))};
                if (var > 0) action.precondition.insert(action.precondition.begin(), {var - 1, value + 1});
                task.actions.push_back(std::move(action));
            }
        }
    }
    task.has_metric = true;
    return task;
}

}  // namespace

TEST(batch_equals_single) {
    Rng rng(4);
    for (int i = 0; i < 50; ++i) {
        Task task = corridor(3 + i % 5, rng);
        StateSpace space(task);
        RelaxedTask relaxed(space);
        RelaxedExploration<Combine::kSum> single(relaxed);
        auto batch = BatchExploration::make(relaxed);
        CHECK(batch != nullptr);
        std::vector<std::vector<Word>> states(kLanes, std::vector<Word>(space.num_words()));
        std::vector<const Word*> pointers;
        for (auto& state : states) {
            std::vector<std::int32_t> values;
            for (const Variable& v : task.variables)
                values.push_back(
                    static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(v.domain_size()))));
            space.packer.pack(values.data(), state.data());
            pointers.push_back(state.data());
        }
        batch->explore(pointers, Combine::kSum);
        batch->find_supporters();
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            single.explore(pointers[lane], {});
            CHECK(batch->is_exact(lane));
            for (FactId fact = 0; fact < relaxed.num_facts; ++fact) {
                CHECK(single.is_reached(fact) == (batch->cost(fact, lane) != kInfinity));
                if (!single.is_reached(fact)) continue;
                CHECK(single.cost(fact) == batch->cost(fact, lane));
                CHECK(single.supporter(fact) == batch->supporter(fact, lane));
            }
        }
    }
}

TEST(landmarks_pay_no_more_than_each_action_costs) {
    Rng rng(5);
    for (int i = 0; i < 50; ++i) {
        Task task = corridor(3 + i % 5, rng);
        StateSpace space(task);
        LMCut lmcut(space);
        std::vector<Landmark> landmarks;
        Cost value = lmcut.evaluate(space.initial.data(), landmarks);
        std::vector<Cost> paid(task.actions.size(), 0);
        Cost total = 0;
        for (const Landmark& landmark : landmarks) {
            total += landmark.cost;
            for (ActionId a : landmark.actions) paid[a] += landmark.cost;
        }
        CHECK(value == total);
        for (std::size_t a = 0; a < paid.size(); ++a) CHECK(paid[a] <= task.actions[a].cost);
    }
}
