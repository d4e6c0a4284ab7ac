#include "nn/asnet_graph.hpp"

#include <algorithm>

namespace misstep {
namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}
template <class T>
Index size_of(const std::vector<T>& items) {
    return static_cast<Index>(items.size());
}

// For each group of [start[g], start[g + 1]) the numbers that `keep` says, and where the groups begin.
template <class Keep>
void list(const std::vector<Index>& start, Keep&& keep, std::vector<Index>& kept,
          std::vector<Index>& kept_start) {
    kept.clear();
    kept_start.assign(1, 0);
    for (std::size_t group = 0; group + 1 < start.size(); ++group) {
        for (Index i = start[group], end = start[group + 1]; i < end; ++i)
            if (keep(i)) kept.push_back(i);
        kept_start.push_back(size_of(kept));
    }
}

void look_up(const std::vector<Index>& pairs, const std::vector<Index>& pair_fact,
             std::vector<Index>& facts) {
    facts.resize(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) facts[i] = pair_fact[at(pairs[i])];
}

}  // namespace

AsnetGraph::AsnetGraph(const AsnetNetwork& net)
    : num_operators(net.num_operators()),
      num_facts(net.num_facts()),
      schema_start(net.schema_start),
      predicate_start(net.predicate_start) {
    for (Index schema = 0; schema < net.num_schemas(); ++schema) {
        const Index first = schema_start[at(schema)], row = net.num_slots(schema);
        for (Index op = first; op < schema_start[at(schema) + 1]; ++op) {
            row_start.push_back(size_of(facts) + row * (op - first));
            operator_schema.push_back(schema);
        }
        facts.insert(facts.end(), net.slot_facts[at(schema)].begin(), net.slot_facts[at(schema)].end());
    }
    row_start.push_back(size_of(facts));
    parts.resize(facts.size());
    slot_start.push_back(0);
    member_start.push_back(0);
    for (Index predicate = 0; predicate < net.num_predicates(); ++predicate) {
        Index place = 0;
        for (auto [schema, position] : net.predicate_slots[at(predicate)]) {
            add_pairs(predicate, schema, position);
            slots.push_back({predicate, place++, schema, position});
            slot_start.push_back(size_of(pair_fact));
        }
    }
    num_pairs = size_of(pair_fact);
    for (Index slot = 0; slot < size_of(slots); ++slot) {
        const std::size_t schema = at(slots[at(slot)].schema);
        for (Index op = schema_start[schema]; op < schema_start[schema + 1]; ++op) {
            const std::size_t entry = at(row_start[at(op)] + slots[at(slot)].position);
            if (facts[entry] >= 0) continue;
            facts[entry] = num_facts;
            parts[entry] = num_pairs + slot;
        }
    }
}

void AsnetGraph::add_pairs(Index predicate, Index schema, Index position) {
    const Index first = predicate_start[at(predicate)];
    std::vector<std::vector<Index>> by_fact(at(predicate_start[at(predicate) + 1] - first));
    for (Index op = schema_start[at(schema)]; op < schema_start[at(schema) + 1]; ++op)
        if (const Index fact = facts[at(row_start[at(op)] + position)]; fact >= 0)
            by_fact[at(fact - first)].push_back(op);
    for (std::size_t i = 0; i < by_fact.size(); ++i) {
        if (by_fact[i].empty()) continue;
        for (Index op : by_fact[i]) parts[at(row_start[at(op)] + position)] = size_of(pair_fact);
        members.insert(members.end(), by_fact[i].begin(), by_fact[i].end());
        member_start.push_back(size_of(members));
        pair_fact.push_back(first + static_cast<Index>(i));
    }
}

AsnetDemand::AsnetDemand(const AsnetGraph& graph, int num_layers)
    : graph_(graph),
      layers_(static_cast<std::size_t>(num_layers)),
      fact_marked_(at(graph.num_facts) + 1, 1),
      pair_marked_(at(graph.num_pairs), 1),
      operator_marked_(at(graph.num_operators), 1) {
    list_pairs(everything_);
    list_facts(everything_);
    list_operators(everything_);
    everything_.all = true;
}

void AsnetDemand::trace(std::span<const Index> scored) {
    std::ranges::fill(fact_marked_, std::uint8_t{0});
    std::ranges::fill(pair_marked_, std::uint8_t{0});
    std::ranges::fill(operator_marked_, std::uint8_t{0});
    for (Index op : scored) {
        operator_marked_[at(op)] = 1;
        for (Index fact : graph_.facts_of(op)) fact_marked_[at(fact)] = 1;
    }
    bool all = false;
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
        AsnetWork& work = layers_[layer];
        work.all = all;
        if (all) continue;
        if (layer + 1 < layers_.size()) {
            mark_pairs(layers_[layer + 1].operators);
            list_pairs(work);
            for (Index fact : work.used_facts) fact_marked_[at(fact)] = 1;
        }
        list_facts(work);
        if (layer == 0) break;  // The first operator vectors come from a table.
        mark_members(work.pool_pairs);
        list_operators(work);
        // Looking closer would cost more than it could save.
        all = 4 * work.operators.size() >= 3 * at(graph_.num_operators);
    }
}

// These loops keep their arrays at hand: stores of bytes might change anything, for all the compiler knows.
void AsnetDemand::mark_pairs(std::span<const Index> ops) {
    const Index *start = graph_.row_start.data(), *parts = graph_.parts.data();
    const Index num_pairs = graph_.num_pairs;
    std::uint8_t* marked = pair_marked_.data();
    for (Index op : ops)
        for (Index i = start[op], end = start[op + 1]; i < end; ++i)
            if (parts[i] < num_pairs) marked[parts[i]] = 1;
}

void AsnetDemand::mark_members(std::span<const Index> pairs) {
    const Index *start = graph_.member_start.data(), *members = graph_.members.data();
    std::uint8_t* marked = operator_marked_.data();
    for (Index pair : pairs)
        for (Index i = start[pair], end = start[pair + 1]; i < end; ++i) marked[members[i]] = 1;
}

void AsnetDemand::list_pairs(AsnetWork& work) const {
    const std::uint8_t* marked = pair_marked_.data();
    list(graph_.slot_start, [=](Index pair) { return marked[pair] != 0; }, work.used_pairs, work.used_start);
    look_up(work.used_pairs, graph_.pair_fact, work.used_facts);
}

void AsnetDemand::list_facts(AsnetWork& work) const {
    const std::uint8_t* marked = fact_marked_.data();
    const Index* fact_of = graph_.pair_fact.data();
    list(graph_.predicate_start, [=](Index fact) { return marked[fact] != 0; }, work.facts, work.fact_start);
    list(
        graph_.slot_start, [=](Index pair) { return marked[fact_of[pair]] != 0; }, work.pool_pairs,
        work.pool_start);
    look_up(work.pool_pairs, graph_.pair_fact, work.pool_facts);
}

void AsnetDemand::list_operators(AsnetWork& work) const {
    const std::uint8_t* marked = operator_marked_.data();
    list(graph_.schema_start, [=](Index op) { return marked[op] != 0; }, work.operators, work.operator_start);
}

}  // namespace misstep
