#include "training/asnet_pass.hpp"

#include <algorithm>

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

double AsnetPass::run(std::span<const AsnetSample> samples, const AsnetWeights& weights,
                      const AsnetLossRule& rule, AsnetDropout& dropout, float* gradient) {
    if (samples.empty()) return 0;
    weights_ = weights;
    gradient_ = gradient;
    dropout_ = &dropout;
    place(samples);
    first_layer();
    for (std::size_t layer = 0; layer < layout_.num_layers; ++layer) {
        predicate_layer(layer);
        if (layer + 1 < layout_.num_layers) action_layer(layer);
    }
    const double loss = last_layer(samples, rule);
    for (std::size_t layer = layout_.num_layers; layer-- > 0;) {
        predicate_layer_back(layer);
        if (layer > 0) action_layer_back(layer);
    }
    first_layer_back();
    return loss;
}

void AsnetPass::first_layer() {
    for (std::size_t row = 0; row < used_rows_.size(); ++row) {
        const auto& module = layout_.first[at(shared_.rows.group(used_rows_[row]))];
        const std::vector<float>& inputs = shared_.rows.value(used_rows_[row]);
        kernels_.first(inputs.data(), static_cast<int>(inputs.size()), weights_.plain + module.weights,
                       weights_.plain + module.bias, rows_.row(row));
    }
    kernels_.forward.activate(rows_.data(), identity_.data(), static_cast<Index>(used_rows_.size()));
    std::fill_n(d_rows_.data(), used_rows_.size() * width_, 0.0F);
    if (layout_.num_layers < 2) return;
    for (std::size_t schema = 0; schema < layout_.first.size(); ++schema) {
        const auto& module = layout_.actions[0][schema];
        const Index begin = schema_row_start_[schema], n = schema_row_start_[schema + 1] - begin;
        const Index* rows = identity_.data() + begin;
        kernels_.forward.linear(rows_.data(), rows, weights_.plain + module.bias, 0,
                                weights_.plain + module.own, own_parts_.data(), rows, n);
    }
    std::fill_n(d_own_parts_.data(), used_rows_.size() * width_, 0.0F);
}

AsnetPass::Operators AsnetPass::operators(std::size_t layer, const Place& place) {
    if (layer == 0) return {rows_.data(), d_rows_.data(), row_of_op_.data() + place.op};
    return {ops_[layer].row(at(place.op)), d_ops_[layer].row(at(place.op)), identity_.data()};
}

const AsnetLayout::PredicateModule& AsnetPass::module_of_slot(std::size_t layer, std::size_t slot) const {
    return layout_.predicates[layer][at(slot_predicate_[slot])];
}

std::size_t AsnetPass::read_of_slot(std::size_t layer, std::size_t slot) const {
    return layout_.actions[layer][at(slot_schema_[slot])].read[at(slot_position_[slot])];
}

// target -= sum of the matrix's rows: what a vector of minus ones adds.
void AsnetPass::subtract_rows(std::size_t matrix, float* target) const {
    for (int i = 0; i < layout_.hidden; ++i)
        for (std::size_t c = 0; c < width_; ++c)
            target[c] -= weights_.plain[matrix + static_cast<std::size_t>(i) * width_ + c];
}

void AsnetPass::predicate_layer(std::size_t layer) {
    const Lists& lists = lists_[layer];
    const auto& modules = layout_.predicates[layer];
    ChannelRows& facts = facts_[layer];
    const std::size_t num_kinds = shared_.kinds.size();
    base_ = ChannelRows(layout_.width, num_kinds);
    for (Index kind = 0; at(kind) < num_kinds; ++kind) {
        const auto& module = modules[at(shared_.kinds.group(kind))];
        std::copy_n(weights_.plain + module.bias, width_, base_.row(at(kind)));
        for (Index slot : shared_.kinds.value(kind))
            subtract_rows(module.pool[at(slot_place_[at(slot)])], base_.row(at(kind)));
    }
    for (std::size_t i = 0; i < lists.kinds.size(); ++i)
        std::copy_n(base_.row(at(lists.kinds[i])), width_, facts.row(at(lists.facts.items[i])));
    for (std::size_t predicate = 0; layer > 0 && predicate < modules.size(); ++predicate) {
        auto list = group(lists.facts, predicate);
        kernels_.forward.linear(facts_[layer - 1].data(), list.data(), facts.data(), layout_.width,
                                weights_.plain + modules[predicate].keep, facts.data(), list.data(),
                                count(list));
    }
    for (std::size_t slot = 0; slot < slot_predicate_.size(); ++slot) {
        const Index* start = lists.pool_pairs.start.data() + slot * places_.size();
        for (std::size_t s = 0; s < places_.size(); ++s) {
            const AsnetGraph& graph = places_[s].task->graph;
            const Operators ops = operators(layer, places_[s]);
            kernels_.pool(ops.vectors, ops.row, graph.member_start.data(), graph.members.data(),
                          lists.pool_pairs.items.data() + start[s], pooled_[layer].row(at(start[s])),
                          start[s + 1] - start[s]);
        }
        auto to = group(lists.pool_facts, slot);
        kernels_.forward.linear(pooled_[layer].data(), identity_.data() + start[0], facts.data(),
                                layout_.width,
                                weights_.plain + module_of_slot(layer, slot).pool[at(slot_place_[slot])],
                                facts.data(), to.data(), count(to));
    }
    kernels_.activate(facts.data(), lists.facts.items.data(), count(lists.facts.items), *dropout_);
    std::fill_n(d_facts_[layer].data(), at(num_facts_) * width_, 0.0F);
}

void AsnetPass::action_layer(std::size_t layer) {
    const Lists &reads = lists_[layer], &writes = lists_[layer + 1];
    ChannelRows& ops = ops_[layer + 1];
    for (std::size_t slot = 0; slot < slot_predicate_.size(); ++slot) {
        auto from = group(reads.used_facts, slot), to = group(reads.used_parts, slot);
        kernels_.forward.linear(facts_[layer].data(), from.data(), kZero, 0,
                                weights_.plain + read_of_slot(layer, slot), parts_.data(), to.data(),
                                count(to));
    }
    for (const Place& place : places_)
        for (Index slot : place.task->missing_slots) {
            float* missing = parts_.row(at(place.part + place.task->graph.num_pairs + slot));
            std::fill_n(missing, width_, 0.0F);
            subtract_rows(read_of_slot(layer, at(slot)), missing);
        }
    for (std::size_t schema = 0; schema < layout_.first.size(); ++schema) {
        const auto& module = layout_.actions[layer][schema];
        if (layer > 0) {
            auto list = group(writes.ops, schema);
            kernels_.forward.linear(ops_[layer].data(), list.data(), weights_.plain + module.bias, 0,
                                    weights_.plain + module.own, ops.data(), list.data(), count(list));
        }
        const Index* start = writes.local_ops.start.data() + schema * places_.size();
        for (std::size_t s = 0; s < places_.size(); ++s) {
            const AsnetGraph& graph = places_[s].task->graph;
            float* out = ops.row(at(places_[s].op));
            kernels_.combine(layer > 0 ? out : own_parts_.data(),
                             layer > 0 ? identity_.data() : row_of_op_.data() + places_[s].op,
                             parts_.row(at(places_[s].part)), graph.parts.data(), graph.row_start.data(),
                             static_cast<int>(module.read.size()), out,
                             writes.local_ops.items.data() + start[s], start[s + 1] - start[s], *dropout_);
        }
    }
    std::fill_n(d_ops_[layer + 1].data(), at(num_ops_) * width_, 0.0F);
}

double AsnetPass::last_layer(std::span<const AsnetSample> samples, const AsnetLossRule& rule) {
    const std::size_t layer = layout_.num_layers - 1;
    double loss = 0;
    for (std::size_t s = 0; s < samples.size(); ++s) {
        const Place& place = places_[s];
        const AsnetGraph& graph = place.task->graph;
        const auto& labels = samples[s].labels;
        const Operators ops = operators(layer, place);
        float *facts = facts_[layer].row(at(place.fact)), *d_facts = d_facts_[layer].row(at(place.fact));
        std::fill_n(facts + at(graph.num_facts) * width_, width_, -1.0F);  // the fact that does not exist
        scores_.resize(labels.size());
        d_scores_.resize(labels.size());
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const auto& module = layout_.last[at(graph.schema_of(labels[i].op))];
            auto read = graph.facts_of(labels[i].op);
            scores_[i] = kernels_.forward.score(weights_.plain[module.bias], weights_.plain + module.weights,
                                                ops.vectors + at(ops.row[labels[i].op]) * width_, facts,
                                                read.data(), count(read));
        }
        loss += asnet_loss(rule, labels, scores_, d_scores_);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            if (d_scores_[i] == 0) continue;
            const auto& module = layout_.last[at(graph.schema_of(labels[i].op))];
            auto read = graph.facts_of(labels[i].op);
            const std::size_t own = at(ops.row[labels[i].op]) * width_;
            kernels_.score_back(d_scores_[i], weights_.plain + module.weights, ops.vectors + own, facts,
                                read.data(), count(read), gradient_ + module.weights, ops.gradient + own,
                                d_facts);
            gradient_[module.bias] += d_scores_[i];
        }
    }
    return loss;
}

}  // namespace misstep
