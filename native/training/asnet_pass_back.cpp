// The backward pass: layer by layer, the gradient of what a layer made becomes that of its inputs and
// weights.
#include <algorithm>

#include "training/asnet_pass.hpp"

namespace misstep {
namespace {

constexpr float kZero alignas(64)[kMaxAsnetHidden] = {};

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}
Index count(std::span<const Index> list) {
    return static_cast<Index>(list.size());
}

}  // namespace

// Gradients of out[to[i]] = matrix * in[from[i]]; no row of d_in may be meant twice.
void AsnetPass::back_through(std::size_t matrix, const ChannelRows& in, ChannelRows& d_in,
                             std::span<const Index> from, const ChannelRows& d_out,
                             std::span<const Index> to) {
    kernels_.outer(in.data(), from.data(), d_out.data(), to.data(), gradient_ + matrix, count(from));
    kernels_.forward.linear(d_out.data(), to.data(), d_in.data(), layout_.width, weights_.transposed + matrix,
                            d_in.data(), from.data(), count(from));
}

// What a vector of minus ones in the place of an input does to the matrix.
void AsnetPass::subtract_from_rows(const float* row, std::size_t matrix) {
    for (int i = 0; i < layout_.hidden; ++i)
        for (std::size_t c = 0; c < width_; ++c)
            gradient_[matrix + static_cast<std::size_t>(i) * width_ + c] -= row[c];
}

void AsnetPass::predicate_layer_back(std::size_t layer) {
    const Lists& lists = lists_[layer];
    const auto& modules = layout_.predicates[layer];
    ChannelRows& d_facts = d_facts_[layer];
    const Index num_listed = count(lists.facts.items);
    kernels_.activate_back(facts_[layer].data(), d_facts.data(), lists.facts.items.data(), num_listed,
                           *dropout_);
    d_base_ = ChannelRows(layout_.width, shared_.kinds.size());
    kernels_.add_rows(d_facts.data(), lists.facts.items.data(), d_base_.data(), lists.kinds.data(),
                      num_listed);
    for (Index kind = 0; at(kind) < shared_.kinds.size(); ++kind) {
        const auto& module = modules[at(shared_.kinds.group(kind))];
        const float* row = d_base_.row(at(kind));
        for (std::size_t c = 0; c < width_; ++c) gradient_[module.bias + c] += row[c];
        for (Index slot : shared_.kinds.value(kind))
            subtract_from_rows(row, module.pool[at(slot_place_[at(slot)])]);
    }
    for (std::size_t predicate = 0; layer > 0 && predicate < modules.size(); ++predicate) {
        auto list = group(lists.facts, predicate);
        back_through(modules[predicate].keep, facts_[layer - 1], d_facts_[layer - 1], list, d_facts, list);
    }
    for (std::size_t slot = 0; slot < slot_predicate_.size(); ++slot) {
        const std::size_t matrix = module_of_slot(layer, slot).pool[at(slot_place_[slot])];
        const Index* start = lists.pool_pairs.start.data() + slot * places_.size();
        auto to = group(lists.pool_facts, slot);
        const Index* from = identity_.data() + start[0];
        kernels_.outer(pooled_[layer].data(), from, d_facts.data(), to.data(), gradient_ + matrix, count(to));
        kernels_.forward.linear(d_facts.data(), to.data(), kZero, 0, weights_.transposed + matrix,
                                d_pooled_.data(), from, count(to));
        for (std::size_t s = 0; s < places_.size(); ++s) {
            const AsnetGraph& graph = places_[s].task->graph;
            const Operators ops = operators(layer, places_[s]);
            kernels_.pool_back(ops.vectors, ops.row, graph.member_start.data(), graph.members.data(),
                               lists.pool_pairs.items.data() + start[s], pooled_[layer].row(at(start[s])),
                               d_pooled_.row(at(start[s])), ops.gradient, start[s + 1] - start[s]);
        }
    }
}

void AsnetPass::action_layer_back(std::size_t layer) {
    const Lists& lists = lists_[layer];
    std::fill_n(d_parts_.data(), at(num_parts_) * width_, 0.0F);
    for (std::size_t schema = 0; schema < layout_.first.size(); ++schema) {
        const Index* start = lists.local_ops.start.data() + schema * places_.size();
        for (std::size_t s = 0; s < places_.size(); ++s) {
            const Place& place = places_[s];
            const AsnetGraph& graph = place.task->graph;
            kernels_.combine_back(ops_[layer].row(at(place.op)), d_ops_[layer].row(at(place.op)),
                                  graph.parts.data(), graph.row_start.data(),
                                  static_cast<int>(layout_.actions[layer - 1][schema].read.size()),
                                  d_parts_.row(at(place.part)), layer == 1 ? d_own_parts_.data() : nullptr,
                                  row_of_op_.data() + place.op, lists.local_ops.items.data() + start[s],
                                  start[s + 1] - start[s], *dropout_);
        }
    }
    own_back(layer);
    parts_back(layer);
}

void AsnetPass::own_back(std::size_t layer) {
    for (std::size_t schema = 0; schema < layout_.first.size(); ++schema) {
        const auto& module = layout_.actions[layer - 1][schema];
        const Index begin = schema_row_start_[schema], end = schema_row_start_[schema + 1];
        auto list = layer == 1 ? std::span<const Index>(identity_.data() + begin, identity_.data() + end)
                               : group(lists_[layer].ops, schema);
        const ChannelRows& d_out = layer == 1 ? d_own_parts_ : d_ops_[layer];
        kernels_.add_rows(d_out.data(), list.data(), gradient_ + module.bias, zeros_.data(), count(list));
        back_through(module.own, layer == 1 ? rows_ : ops_[layer - 1],
                     layer == 1 ? d_rows_ : d_ops_[layer - 1], list, d_out, list);
    }
}

void AsnetPass::parts_back(std::size_t layer) {
    const Lists& reads = lists_[layer - 1];
    for (std::size_t slot = 0; slot < slot_predicate_.size(); ++slot)
        back_through(read_of_slot(layer - 1, slot), facts_[layer - 1], d_facts_[layer - 1],
                     group(reads.used_facts, slot), d_parts_, group(reads.used_parts, slot));
    for (const Place& place : places_)
        for (Index slot : place.task->missing_slots)
            subtract_from_rows(d_parts_.row(at(place.part + place.task->graph.num_pairs + slot)),
                               read_of_slot(layer - 1, at(slot)));
}

void AsnetPass::first_layer_back() {
    AsnetDropout none{};
    kernels_.activate_back(rows_.data(), d_rows_.data(), identity_.data(),
                           static_cast<Index>(used_rows_.size()), none);
    for (std::size_t row = 0; row < used_rows_.size(); ++row) {
        const auto& module = layout_.first[at(shared_.rows.group(used_rows_[row]))];
        const std::vector<float>& inputs = shared_.rows.value(used_rows_[row]);
        kernels_.first_back(inputs.data(), static_cast<int>(inputs.size()), d_rows_.row(row),
                            gradient_ + module.weights, gradient_ + module.bias);
    }
}

}  // namespace misstep
