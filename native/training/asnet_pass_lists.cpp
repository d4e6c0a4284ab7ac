// Where the rows of a pass lie, and the lists of what is computed.
#include <algorithm>
#include <numeric>

#include "training/asnet_pass.hpp"

namespace misstep {
namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

void grow(std::vector<Index>& list, std::size_t size) {
    const std::size_t old = list.size();
    if (old >= size) return;
    list.resize(size);
    std::iota(list.begin() + static_cast<std::ptrdiff_t>(old), list.end(), static_cast<Index>(old));
}

}  // namespace

AsnetPass::AsnetPass(const AsnetLayout& layout, const std::vector<std::unique_ptr<AsnetTask>>& tasks,
                     const AsnetShared& shared)
    : layout_(layout),
      tasks_(tasks),
      shared_(shared),
      kernels_(best_training_kernels(layout.width)),
      width_(static_cast<std::size_t>(layout.width)),
      lists_(layout.num_layers),
      facts_(layout.num_layers),
      d_facts_(layout.num_layers),
      ops_(layout.num_layers),
      d_ops_(layout.num_layers),
      pooled_(layout.num_layers) {
    for (std::size_t predicate = 0; predicate < layout.predicate_slots.size(); ++predicate)
        for (std::size_t i = 0; i < layout.predicate_slots[predicate].size(); ++i) {
            auto [schema, position] = layout.predicate_slots[predicate][i];
            slot_predicate_.push_back(static_cast<Index>(predicate));
            slot_place_.push_back(static_cast<Index>(i));
            slot_schema_.push_back(schema);
            slot_position_.push_back(position);
        }
}

void AsnetPass::place(std::span<const AsnetSample> samples) {
    places_.clear();
    num_facts_ = num_ops_ = num_parts_ = 0;
    for (const AsnetSample& sample : samples) {
        const AsnetTask& task = *tasks_[sample.task];
        places_.push_back({&task, num_facts_, num_ops_, num_parts_});
        num_facts_ += task.graph.num_facts + 1;
        num_ops_ += task.graph.num_operators;
        num_parts_ += task.graph.num_pairs + static_cast<Index>(task.graph.slots.size());
    }
    find_rows(samples);
    find_work(samples);
    make_room();
}

void AsnetPass::find_rows(std::span<const AsnetSample> samples) {
    for (Index number : used_rows_) row_here_[at(number)] = -1;
    row_here_.resize(shared_.rows.size(), -1);
    used_rows_.clear();
    row_of_op_.resize(at(num_ops_));
    truth_.resize(std::max(truth_.size(), samples.size()));
    marks_.resize(truth_.size());
    for (std::size_t s = 0; s < samples.size(); ++s) {
        places_[s].task->read(samples[s].state, values_, truth_[s]);
        marks_[s].assign(at(places_[s].task->graph.num_operators), 0);
        for (const ActionLabel& label : samples[s].labels)
            marks_[s][at(label.op)] = AsnetLandmarks::kApplicable;
        for (const auto& [op, mark] : samples[s].landmarks) marks_[s][at(op)] |= mark;
    }
    schema_row_start_.assign(1, 0);
    for (std::size_t schema = 0; schema < layout_.first.size(); ++schema) {
        for (std::size_t s = 0; s < samples.size(); ++s) {
            const AsnetTask& task = *places_[s].task;
            Index* row = row_of_op_.data() + places_[s].op;
            for (Index op = task.graph.schema_start[schema]; op < task.graph.schema_start[schema + 1]; ++op) {
                const Index number = task.row_of(at(op), truth_[s].data(), marks_[s].data());
                Index& here = row_here_[at(number)];
                if (here < 0) {
                    here = static_cast<Index>(used_rows_.size());
                    used_rows_.push_back(number);
                }
                row[op] = here;
            }
        }
        schema_row_start_.push_back(static_cast<Index>(used_rows_.size()));
    }
}

void AsnetPass::find_work(std::span<const AsnetSample> samples) {
    demands_.resize(tasks_.size());
    const std::size_t layers = layout_.num_layers, slots = slot_predicate_.size();
    copies_.resize(std::max(copies_.size(), samples.size()));
    works_.resize(copies_.size());
    for (std::size_t s = 0; s < samples.size(); ++s) {
        auto& demand = demands_[samples[s].task];
        if (!demand) demand = std::make_unique<AsnetDemand>(places_[s].task->graph, static_cast<int>(layers));
        competing_.clear();
        for (const ActionLabel& label : samples[s].labels) competing_.push_back(label.op);
        demand->trace(competing_);
        copies_[s].resize(layers);
        works_[s].resize(layers);
        for (std::size_t layer = 0; layer < layers; ++layer) {
            const AsnetWork& work = demand->work(layer);
            if (!work.all) copies_[s][layer] = work;  // the next trace changes it
            works_[s][layer] = work.all ? &work : &copies_[s][layer];
        }
    }
    using Work = const AsnetWork&;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        Lists& lists = lists_[layer];
        auto of = [&](auto items, auto start) {
            return [this, layer, items, start](std::size_t s) {
                Work work = *works_[s][layer];
                return std::pair<const std::vector<Index>&, const std::vector<Index>&>(work.*items,
                                                                                       work.*start);
            };
        };
        merge(lists.facts, layout_.predicate_slots.size(), of(&AsnetWork::facts, &AsnetWork::fact_start),
              &Place::fact);
        merge(lists.pool_pairs, slots, of(&AsnetWork::pool_pairs, &AsnetWork::pool_start), nullptr);
        merge(lists.pool_facts, slots, of(&AsnetWork::pool_facts, &AsnetWork::pool_start), &Place::fact);
        lists.kinds.clear();
        for (std::size_t p = 0; p < layout_.predicate_slots.size(); ++p)
            for (std::size_t s = 0; s < samples.size(); ++s) {
                Work work = *works_[s][layer];
                for (Index i = work.fact_start[p]; i < work.fact_start[p + 1]; ++i)
                    lists.kinds.push_back(places_[s].task->fact_kind[at(work.facts[at(i)])]);
            }
        if (layer + 1 < layers) {
            merge(lists.used_facts, slots, of(&AsnetWork::used_facts, &AsnetWork::used_start), &Place::fact);
            merge(lists.used_parts, slots, of(&AsnetWork::used_pairs, &AsnetWork::used_start), &Place::part);
        }
        if (layer > 0) {
            auto ops = of(&AsnetWork::operators, &AsnetWork::operator_start);
            merge(lists.local_ops, layout_.first.size(), ops, nullptr);
            merge(lists.ops, layout_.first.size(), ops, &Place::op);
        }
    }
}

template <class Of>
void AsnetPass::merge(Merged& merged, std::size_t num_groups, Of&& of, Index Place::* offset) {
    merged.items.clear();
    merged.start.clear();
    std::size_t total = 0;
    for (std::size_t s = 0; s < places_.size(); ++s) total += of(s).first.size();
    merged.items.resize(total);
    Index* out = merged.items.data();
    for (std::size_t g = 0; g < num_groups; ++g)
        for (std::size_t s = 0; s < places_.size(); ++s) {
            auto [items, start] = of(s);
            merged.start.push_back(static_cast<Index>(out - merged.items.data()));
            const Index add = offset == nullptr ? 0 : places_[s].*offset;
            for (Index i = start[g]; i < start[g + 1]; ++i) *out++ = items[at(i)] + add;
        }
    merged.start.push_back(static_cast<Index>(total));
}

void AsnetPass::make_room() {
    const int width = layout_.width;
    auto fit = [width](std::size_t& room, std::size_t needed, std::initializer_list<ChannelRows*> all) {
        if (room >= needed) return;
        room = needed + needed / 4;
        for (ChannelRows* rows : all) *rows = ChannelRows(width, room);
    };
    auto fit_all = [&](std::size_t& room, std::size_t needed,
                       std::initializer_list<std::vector<ChannelRows>*> all) {
        const std::size_t before = room;
        for (std::vector<ChannelRows>* layers : all)
            for (ChannelRows& rows : *layers) fit(room = before, needed, {&rows});
    };
    std::size_t pooled = 0;
    for (const Lists& lists : lists_) pooled = std::max(pooled, lists.pool_pairs.items.size());
    fit(room_rows_, used_rows_.size(), {&rows_, &own_parts_, &d_rows_, &d_own_parts_});
    const std::size_t room_pooled = room_pooled_;
    fit(room_pooled_, pooled, {&d_pooled_});
    fit_all(room_pooled_ = room_pooled, pooled, {&pooled_});
    fit_all(room_facts_, at(num_facts_), {&facts_, &d_facts_});
    fit_all(room_ops_, at(num_ops_), {&ops_, &d_ops_});
    fit(room_parts_, at(num_parts_), {&parts_, &d_parts_});
    grow(identity_, std::max({at(num_ops_), used_rows_.size(), pooled}));
    zeros_.resize(std::max({zeros_.size(), at(num_ops_), used_rows_.size()}), 0);
}

std::span<const Index> AsnetPass::group(const Merged& merged, std::size_t number) const {
    const Index* begin = merged.start.data() + number * places_.size();
    return {merged.items.data() + begin[0], merged.items.data() + begin[places_.size()]};
}

}  // namespace misstep
