#include "training/enumerate.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace misstep {
namespace {

// False where a limit ended it.
bool reach(const StateSpace& space, std::uint32_t max_states, BudgetWatch& watch, Enumeration& all,
           LimitHit& limit) {
    std::vector<ActionId> actions;
    std::vector<Word> state(space.num_words()), successor(space.num_words());
    for (StateId id = 0; id < all.states.size(); ++id) {
        limit = watch.check(id, all.states.bytes() + all.edges.size() * sizeof(Enumeration::Edge), 1);
        if (limit != LimitHit::kNone) return false;
        std::copy_n(all.states.state(id), space.num_words(), state.data());
        all.first_edge.push_back(all.edges.size());
        actions.clear();
        space.generator.applicable(state.data(), actions);
        std::ranges::sort(actions);
        for (ActionId action : actions) {
            space.generator.apply(state.data(), action, successor.data());
            const StateId to = all.states.insert(successor.data()).first;
            if (all.states.size() > max_states) return false;
            all.edges.push_back({action, to});
        }
    }
    all.first_edge.push_back(all.edges.size());
    return true;
}

void find_values(const StateSpace& space, Enumeration& all) {
    const std::size_t num_states = all.states.size();
    std::vector<std::size_t> start(num_states + 1, 0);
    for (const auto& edge : all.edges) ++start[edge.to + 1];
    for (std::size_t i = 0; i < num_states; ++i) start[i + 1] += start[i];
    struct Back {
        StateId from;
        Cost cost;
    };
    std::vector<Back> back(all.edges.size());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (StateId from = 0; from < num_states; ++from)
        for (const auto& edge : all.edges_of(from))
            back[next[edge.to]++] = {from, space.task.actions[edge.action].cost};

    using Entry = std::pair<Total, StateId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    all.values.assign(num_states, kEndless);
    for (StateId id = 0; id < num_states; ++id)
        if (space.is_goal(all.states.state(id))) {
            all.values[id] = 0;
            open.emplace(0, id);
        }
    while (!open.empty()) {
        auto [value, id] = open.top();
        open.pop();
        if (value > all.values[id]) continue;
        for (std::size_t i = start[id]; i < start[id + 1]; ++i) {
            const Total through = value + back[i].cost;
            if (through >= all.values[back[i].from]) continue;
            all.values[back[i].from] = through;
            open.emplace(through, back[i].from);
        }
    }
}

}  // namespace

Total Enumeration::regret(const Task& task, StateId from, const Edge& edge) const {
    if (values[edge.to] == kEndless) return kEndless;
    return task.actions[edge.action].cost + values[edge.to] - values[from];
}

std::unique_ptr<Enumeration> enumerate_states(const StateSpace& space, const Word* start,
                                              std::uint32_t max_states, const Budget& budget,
                                              LimitHit& limit) {
    BudgetWatch watch(budget);
    auto all = std::make_unique<Enumeration>(space.num_words());
    all->states.insert(start);
    all->complete = reach(space, max_states, watch, *all, limit);
    if (all->complete) find_values(space, *all);
    return all;
}

}  // namespace misstep
