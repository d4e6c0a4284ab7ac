#include "nn/asnet_graph.hpp"

#include <algorithm>

namespace misstep {
namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

AsnetGraph::AsnetGraph(const AsnetNetwork& net)
    : num_operators(net.num_operators()),
      num_facts(net.num_facts()),
      schema_start(net.schema_start),
      predicate_start(net.predicate_start),
      facts(net.slot_facts) {
    for (Index schema = 0; schema < net.num_schemas(); ++schema) {
        parts.emplace_back(facts[at(schema)].size());
        for (Index op = schema_start[at(schema)]; op < schema_start[at(schema) + 1]; ++op)
            operator_schema.push_back(schema);
    }
    slot_start.push_back(0);
    member_start.push_back(0);
    for (Index predicate = 0; predicate < net.num_predicates(); ++predicate) {
        Index place = 0;
        for (auto [schema, position] : net.predicate_slots[at(predicate)]) {
            const Index begin = predicate_start[at(predicate)];
            std::vector<std::vector<Index>> by_fact(at(predicate_start[at(predicate) + 1] - begin));
            const std::size_t stride = at(net.num_slots(schema));
            for (Index op = schema_start[at(schema)]; op < schema_start[at(schema) + 1]; ++op) {
                Index fact = facts[at(schema)][at(op - schema_start[at(schema)]) * stride + at(position)];
                if (fact >= 0) by_fact[at(fact - begin)].push_back(op);
            }
            for (std::size_t i = 0; i < by_fact.size(); ++i) {
                if (by_fact[i].empty()) continue;
                for (Index op : by_fact[i])
                    parts[at(schema)][at(op - schema_start[at(schema)]) * stride + at(position)] =
                        static_cast<Index>(pair_fact.size());
                members.insert(members.end(), by_fact[i].begin(), by_fact[i].end());
                member_start.push_back(static_cast<Index>(members.size()));
                pair_fact.push_back(begin + static_cast<Index>(i));
            }
            slots.push_back({predicate, place++, schema, position});
            slot_start.push_back(static_cast<Index>(pair_fact.size()));
        }
    }
    num_pairs = static_cast<Index>(pair_fact.size());
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        auto& of_schema = facts[at(slots[slot].schema)];
        const std::size_t stride = at(net.num_slots(slots[slot].schema));
        for (std::size_t i = at(slots[slot].position); i < of_schema.size(); i += stride)
            if (of_schema[i] < 0) {
                of_schema[i] = num_facts;
                parts[at(slots[slot].schema)][i] = num_pairs + static_cast<Index>(slot);
            }
    }
}

std::span<const Index> AsnetGraph::row(const std::vector<std::vector<Index>>& by_schema, Index op) const {
    const std::size_t schema = at(schema_of(op));
    const std::size_t count = at(schema_start[schema + 1] - schema_start[schema]);
    const std::size_t stride = by_schema[schema].size() / count;
    return {by_schema[schema].data() + at(op - schema_start[schema]) * stride, stride};
}

AsnetDemand::AsnetDemand(const AsnetGraph& graph, int num_layers)
    : graph_(graph),
      layers_(static_cast<std::size_t>(num_layers)),
      fact_marked_(at(graph.num_facts) + 1, 1),
      pair_marked_(at(graph.num_pairs), 1),
      operator_marked_(at(graph.num_operators), 1) {
    list_pairs(everything_, false);
    list_pairs(everything_, true);
    list_operators(everything_);
    everything_.all = true;
}

void AsnetDemand::trace(std::span<const Index> scored) {
    std::ranges::fill(fact_marked_, std::uint8_t{0});
    std::ranges::fill(pair_marked_, std::uint8_t{0});
    std::ranges::fill(operator_marked_, std::uint8_t{0});
    for (Index op : scored) operator_marked_[at(op)] = 1;
    std::span<const Index> above = scored;
    bool all = false;
    for (std::size_t layer = layers_.size(); layer-- > 0;) {
        AsnetWork& work = layers_[layer];
        work.all = all;
        if (all) continue;
        const bool hidden_above = layer + 1 < layers_.size();
        mark_facts(above, hidden_above);
        if (hidden_above) list_pairs(work, true);
        list_pairs(work, false);
        if (layer == 0) break;  // The first operator vectors come from a table.
        for (Index pair : work.pool_pairs)
            for (Index i = graph_.member_start[at(pair)]; i < graph_.member_start[at(pair) + 1]; ++i)
                operator_marked_[at(graph_.members[at(i)])] = 1;
        list_operators(work);
        above = work.operators;
        all = work.operators.size() == at(graph_.num_operators);
    }
}

void AsnetDemand::mark_facts(std::span<const Index> ops, bool pairs) {
    for (Index op : ops) {
        for (Index fact : graph_.row(graph_.facts, op)) fact_marked_[at(fact)] = 1;
        if (!pairs) continue;
        for (Index pair : graph_.row(graph_.parts, op))
            if (pair < graph_.num_pairs) pair_marked_[at(pair)] = 1;
    }
}

void AsnetDemand::list_pairs(AsnetWork& work, bool used) const {
    auto& pairs = used ? work.used_pairs : work.pool_pairs;
    auto& facts = used ? work.used_facts : work.pool_facts;
    auto& start = used ? work.used_start : work.pool_start;
    pairs.clear();
    facts.clear();
    start.assign(1, 0);
    for (std::size_t slot = 0; slot < graph_.slots.size(); ++slot) {
        for (Index pair = graph_.slot_start[slot]; pair < graph_.slot_start[slot + 1]; ++pair) {
            const Index fact = graph_.pair_fact[at(pair)];
            if (used ? !pair_marked_[at(pair)] : !fact_marked_[at(fact)]) continue;
            pairs.push_back(pair);
            facts.push_back(fact);
        }
        start.push_back(static_cast<Index>(pairs.size()));
    }
    if (used) return;
    work.facts.clear();
    work.fact_start.assign(1, 0);
    for (std::size_t predicate = 0; predicate + 1 < graph_.predicate_start.size(); ++predicate) {
        for (Index fact = graph_.predicate_start[predicate]; fact < graph_.predicate_start[predicate + 1];
             ++fact)
            if (fact_marked_[at(fact)]) work.facts.push_back(fact);
        work.fact_start.push_back(static_cast<Index>(work.facts.size()));
    }
}

void AsnetDemand::list_operators(AsnetWork& work) {
    work.operators.clear();
    work.operator_start.assign(1, 0);
    for (std::size_t schema = 0; schema + 1 < graph_.schema_start.size(); ++schema) {
        for (Index op = graph_.schema_start[schema]; op < graph_.schema_start[schema + 1]; ++op)
            if (operator_marked_[at(op)]) work.operators.push_back(op);
        work.operator_start.push_back(static_cast<Index>(work.operators.size()));
    }
}

}  // namespace misstep
