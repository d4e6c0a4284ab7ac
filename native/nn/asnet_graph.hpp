// Which operators meet which facts in an ASNet, and what of it a set of operators depends on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/asnet_network.hpp"

namespace misstep {

using Index = std::int32_t;

// A pair is a fact in a slot that has operators there. Pairs are numbered by slot, slots by predicate.
struct AsnetGraph {
    explicit AsnetGraph(const AsnetNetwork& net);

    struct Slot {
        Index predicate, place;  // the place among the predicate's slots
        Index schema, position;
    };
    Index num_operators, num_facts, num_pairs;
    std::vector<Index> schema_start, predicate_start;
    std::vector<Slot> slots;
    std::vector<Index> slot_start;  // pairs of each slot
    std::vector<Index> pair_fact;
    std::vector<Index> member_start, members;  // operators of each pair
    // For each operator a row, which begins at row_start, with an entry a position: in `parts` the pair, or
    // num_pairs + slot where there is no such fact; in `facts` the fact, or num_facts.
    std::vector<Index> row_start, parts, facts;
    std::vector<Index> operator_schema;

    Index schema_of(Index op) const { return operator_schema[static_cast<std::size_t>(op)]; }
    std::span<const Index> facts_of(Index op) const {
        const Index* start = row_start.data() + op;
        return {facts.data() + start[0], facts.data() + start[1]};
    }

  private:
    void add_pairs(Index predicate, Index schema, Index position);
};

// What is computed in one layer: ascending lists, each with the places where its groups begin.
struct AsnetWork {
    std::vector<Index> operators, operator_start;           // by schema: whose vector is needed
    std::vector<Index> facts, fact_start;                   // by predicate
    std::vector<Index> pool_pairs, pool_facts, pool_start;  // by slot: all pairs of those facts
    std::vector<Index> used_pairs, used_facts, used_start;  // by slot: pairs that the next operators read
    bool all = false;
};

// Finds the work in every layer for the scores of some operators. Only what they depend on is computed: the
// result is the same, and where a task is large and its actions act locally most work falls away.
class AsnetDemand {
  public:
    AsnetDemand(const AsnetGraph& graph, int num_layers);

    // After this, work(layer) is what the layer's facts and operators need.
    void trace(std::span<const Index> scored);
    const AsnetWork& work(std::size_t layer) const {
        return layers_[layer].all ? everything_ : layers_[layer];
    }

  private:
    void mark_pairs(std::span<const Index> ops);
    void mark_members(std::span<const Index> pairs);
    void list_pairs(AsnetWork& work) const;
    void list_facts(AsnetWork& work) const;
    void list_operators(AsnetWork& work) const;

    const AsnetGraph& graph_;
    AsnetWork everything_;
    std::vector<AsnetWork> layers_;
    std::vector<std::uint8_t> fact_marked_, pair_marked_, operator_marked_;
};

}  // namespace misstep
