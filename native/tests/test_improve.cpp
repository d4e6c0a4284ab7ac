// Plan improvement and undo proofs on a row of rooms with a thing to carry.
#include "improve/improve.hpp"
#include "improve/known_plan.hpp"
#include "tests/check.hpp"
#include "undo/undo_proofs.hpp"
#include "util/error.hpp"

using namespace misstep;

namespace {

constexpr int kRooms = 4;
constexpr std::int32_t kHeld = kRooms;

ActionId go(int from, int to) {
    return static_cast<ActionId>(2 * std::min(from, to) + (to < from ? 1 : 0));
}
ActionId take(int room) {
    return static_cast<ActionId>(2 * (kRooms - 1) + 2 * room);
}
ActionId put(int room) {
    return take(room) + 1;
}

// Variable 0 is where we are, variable 1 where the thing is; bring it from the first room to the last.
Task carrying() {
    Task task;
    task.variables = {{"me", std::vector<std::string>(kRooms)},
                      {"thing", std::vector<std::string>(kRooms + 1)}};
    for (int room = 0; room + 1 < kRooms; ++room) {
        task.actions.push_back({"(right)", {{0, room}}, {{0, room + 1}}, 1});
        task.actions.push_back({"(left)", {{0, room + 1}}, {{0, room}}, 1});
    }
    for (int room = 0; room < kRooms; ++room) {
        task.actions.push_back({"(take)", {{0, room}, {1, room}}, {{1, kHeld}}, 1});
        task.actions.push_back({"(put)", {{0, room}, {1, kHeld}}, {{1, room}}, 1});
    }
    task.initial = {0, 0};
    task.goal = {{1, kRooms - 1}};
    return task;
}

const std::vector<ActionId> kBest{take(0), go(0, 1), go(1, 2), go(2, 3), put(3)};

}  // namespace

TEST(plans_know_their_suffixes) {
    Task task = carrying();
    StateSpace space(task);
    KnownPlan plan(space, space.initial.data(), kBest);
    CHECK(plan.cost() == 5 && plan.prefix_cost(2) == 2 && plan.suffix_cost(2) == 3);
    for (std::size_t i = 0; i <= plan.size(); ++i) CHECK(plan.suffix_from(plan.state(i), kInfinity) == i);
    CHECK(plan.suffix_from(plan.state(1), 4) == KnownPlan::kNone);
    // Where we are does not matter once the thing is in its place.
    std::vector<Word> done(space.num_words());
    std::vector<std::int32_t> values{1, kRooms - 1};
    space.packer.pack(values.data(), done.data());
    CHECK(plan.suffix_from(done.data(), 1) == plan.size());
    bool refused = false;
    try {
        KnownPlan(space, space.initial.data(), {put(3)});
    } catch (const InputError&) {
        refused = true;
    }
    CHECK(refused);
}

TEST(clumsy_plans_become_optimal) {
    Task task = carrying();
    StateSpace space(task);
    const std::vector<ActionId> there_and_back{go(0, 1), go(1, 0), take(0), go(0, 1), put(1),
                                               take(1),  go(1, 0), put(0),  take(0),  go(0, 1),
                                               go(1, 2), go(2, 3), put(3)};
    ImproveOptions options;
    ImproveResult result = improve_plan(space, space.initial.data(), there_and_back, options);
    CHECK(result.plan == kBest && result.cost == 5 && result.exhausted && result.limit == LimitHit::kNone);
    options.budget.max_expansions = 0;
    ImproveResult limited = improve_plan(space, space.initial.data(), there_and_back, options);
    CHECK(limited.limit == LimitHit::kExpansions && limited.expanded == 0 && limited.cost <= 13);
    options.enough = 5;
    CHECK(improve_plan(space, space.initial.data(), kBest, options).limit == LimitHit::kNone);
}

TEST(every_step_has_its_inverse) {
    Task task = carrying();
    StateSpace space(task);
    UndoProofs proofs(space, {});
    for (ActionId id = 0; id < task.actions.size(); ++id) {
        CHECK(proofs.inverse(id) == (id ^ 1u));
        CHECK(proofs.is_undoable(id));
    }
    CHECK(proofs.undo_plan(take(0), space.initial.data()) == std::vector<ActionId>{put(0)});
}
