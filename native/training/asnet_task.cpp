#include "training/asnet_task.hpp"

#include <algorithm>

namespace misstep {
namespace {

const AsnetNetwork& checked(const AsnetNetwork& net, const StateSpace& space) {
    check_network(net, space);
    return net;
}

}  // namespace

AsnetTask::AsnetTask(const StateSpace& space_, const AsnetNetwork& net_, AsnetShared& shared)
    : space(space_),
      net(checked(net_, space_)),
      graph(net),
      operator_of_action(space_.task.actions.size(), -1),
      inputs_(net, graph),
      landmarks_(net.reads_landmarks() ? std::make_unique<AsnetLandmarks>(space_, net) : nullptr) {
    for (std::size_t op = 0; op < net.operators.size(); ++op)
        operator_of_action[static_cast<std::size_t>(net.operators[op])] = static_cast<Index>(op);
    std::size_t entries = 0;
    for (const AsnetInputs::Class& cls : inputs_.classes()) {
        const bool fits = cls.num_bits() <= kMaxTableBits;
        first_entry_.push_back(fits ? static_cast<Index>(entries) : -1);
        if (fits) entries += std::size_t{1} << cls.num_bits();
    }
    table_.assign(entries, -1);
    find_kinds(shared);
}

void AsnetTask::find_kinds(AsnetShared& shared) {
    std::vector<std::vector<Index>> absent(static_cast<std::size_t>(graph.num_facts));
    for (std::size_t slot = 0; slot < graph.slots.size(); ++slot) {
        const std::size_t predicate = static_cast<std::size_t>(graph.slots[slot].predicate);
        Index pair = graph.slot_start[slot];
        for (Index f = graph.predicate_start[predicate]; f < graph.predicate_start[predicate + 1]; ++f) {
            if (pair < graph.slot_start[slot + 1] && graph.pair_fact[static_cast<std::size_t>(pair)] == f)
                ++pair;
            else
                absent[static_cast<std::size_t>(f)].push_back(static_cast<Index>(slot));
        }
        const Index missing = graph.num_pairs + static_cast<Index>(slot);
        if (std::ranges::find(graph.parts, missing) != graph.parts.end())
            missing_slots.push_back(static_cast<Index>(slot));
    }
    for (Index predicate = 0; predicate < net.num_predicates(); ++predicate)
        for (Index f = graph.predicate_start[static_cast<std::size_t>(predicate)];
             f < graph.predicate_start[static_cast<std::size_t>(predicate) + 1]; ++f)
            fact_kind.push_back(shared.kinds.number(predicate, absent[static_cast<std::size_t>(f)]));
}

void AsnetTask::read(const Word* state, std::vector<std::int32_t>& values,
                     std::vector<std::uint8_t>& truth) const {
    values.resize(static_cast<std::size_t>(space.task.num_variables()));
    space.packer.unpack(state, values.data());
    truth.resize(net.fact_variables.size());
    for (std::size_t f = 0; f < truth.size(); ++f) {
        const std::int32_t variable = net.fact_variables[f];
        truth[f] = variable < 0 || values[static_cast<std::size_t>(variable)] == net.fact_values[f];
    }
}

std::vector<AsnetLandmarks::Mark> AsnetTask::prepare(const Word* state,
                                                     const std::vector<ActionLabel>& labels,
                                                     AsnetShared& shared) {
    std::vector<std::int32_t> values;
    std::vector<std::uint8_t> truth, marks(static_cast<std::size_t>(graph.num_operators), 0);
    read(state, values, truth);
    for (const ActionLabel& label : labels)
        marks[static_cast<std::size_t>(label.op)] = AsnetLandmarks::kApplicable;
    std::vector<AsnetLandmarks::Mark> found;
    if (landmarks_) found = landmarks_->find(state);
    for (const auto& [op, mark] : found) marks[static_cast<std::size_t>(op)] |= mark;
    for (std::size_t op = 0; op < marks.size(); ++op) {
        const std::size_t cls = inputs_.class_of(op);
        const std::uint64_t bits = inputs_.bits(op, truth.data(), marks.data());
        const AsnetInputs::Class& meant = inputs_.classes()[cls];
        if (first_entry_[cls] >= 0) {
            Index& entry = table_[static_cast<std::size_t>(first_entry_[cls]) + bits];
            if (entry < 0) entry = shared.rows.number(meant.schema, meant.inputs(bits));
        } else if (!large_.contains({cls, bits})) {
            large_[{cls, bits}] = shared.rows.number(meant.schema, meant.inputs(bits));
        }
    }
    return found;
}

}  // namespace misstep
