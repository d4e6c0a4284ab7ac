// All states that can be reached from one, with the exact cost of the best plan from each.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "search/search.hpp"
#include "state/registry.hpp"

namespace misstep {

struct Enumeration {
    struct Edge {
        ActionId action;
        StateId to;
    };

    bool complete = false;                // otherwise there were too many states, and nothing else is meant
    StateRegistry states;                 // by id, the start first
    std::vector<Edge> edges;              // of all states, in the order of their ids
    std::vector<std::size_t> first_edge;  // by state, and the end
    std::vector<Total> values;            // kEndless: no goal can be reached

    explicit Enumeration(std::uint32_t num_words) : states(num_words) {}
    std::span<const Edge> edges_of(StateId id) const {
        return {edges.data() + first_edge[id], edges.data() + first_edge[id + 1]};
    }
    // What going this way costs more than the best way; kEndless where it leads to a dead end.
    Total regret(const Task& task, StateId from, const Edge& edge) const;
};

// Breadth-first from `start` up to `max_states`, then Dijkstra's algorithm backwards from all goal states.
std::unique_ptr<Enumeration> enumerate_states(const StateSpace& space, const Word* start,
                                              std::uint32_t max_states, const Budget& budget,
                                              LimitHit& limit);

}  // namespace misstep
