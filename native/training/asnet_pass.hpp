// Forward and backward pass of an ASNet over a few states at once, which may be states of different tasks.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "nn/channel_rows.hpp"
#include "training/asnet_layout.hpp"
#include "training/asnet_loss.hpp"
#include "training/asnet_training_kernel.hpp"

namespace misstep {

struct AsnetSample {
    std::size_t task;
    const Word* state;
    std::span<const ActionLabel> labels;  // of all applicable operators, the teacher's first
    std::span<const AsnetLandmarks::Mark> landmarks;
};

// Weights in the order of the layout, and a copy in which every matrix is transposed.
struct AsnetWeights {
    const float* plain;
    const float* transposed;
};

// Keeps its memory from call to call; one thread at a time. Each (fact, slot) is multiplied once, whatever
// the number of operators that meet there, and equal operators of the first layer are computed once.
class AsnetPass {
  public:
    // All must outlive the pass; tasks may be added to the vectors later.
    AsnetPass(const AsnetLayout& layout, const std::vector<std::unique_ptr<AsnetTask>>& tasks,
              const AsnetShared& shared);

    // Returns the sum of the losses and adds its gradient to `gradient`, which lies as the layout says.
    double run(std::span<const AsnetSample> samples, const AsnetWeights& weights, const AsnetLossRule& rule,
               AsnetDropout& dropout, float* gradient);

  private:
    // Where a state's rows begin. A state has a row more than facts, for the fact that does not exist, and a
    // part for each pair and each slot.
    struct Place {
        const AsnetTask* task;
        Index fact, op, part;
    };
    // The lists of all states as one, group by group and in a group state by state; segments begin at
    // start[group * states + state].
    struct Merged {
        std::vector<Index> items, start;
    };
    struct Lists {
        Merged facts;                   // by predicate
        std::vector<Index> kinds;       // of these facts
        Merged pool_pairs, pool_facts;  // by slot; pairs as numbered in their task
        Merged used_facts, used_parts;  // by slot
        Merged local_ops, ops;          // by schema: as numbered in their task, and as rows
    };

    void place(std::span<const AsnetSample> samples);
    void find_rows(std::span<const AsnetSample> samples);
    void find_work(std::span<const AsnetSample> samples);
    template <class Of>
    void merge(Merged& merged, std::size_t num_groups, Of&& of, Index Place::* offset);
    void make_room();

    void first_layer();
    void predicate_layer(std::size_t layer);
    void action_layer(std::size_t layer);
    double last_layer(std::span<const AsnetSample> samples, const AsnetLossRule& rule);

    void predicate_layer_back(std::size_t layer);
    void action_layer_back(std::size_t layer);
    void own_back(std::size_t layer);
    void parts_back(std::size_t layer);
    void first_layer_back();

    std::span<const Index> group(const Merged& merged, std::size_t number) const;
    const AsnetLayout::PredicateModule& module_of_slot(std::size_t layer, std::size_t slot) const;
    std::size_t read_of_slot(std::size_t layer, std::size_t slot) const;
    void subtract_rows(std::size_t matrix, float* target) const;
    void subtract_from_rows(const float* row, std::size_t matrix);
    // Of the operators before a predicate layer: their vectors, gradients and rows for one state.
    struct Operators {
        const float* vectors;
        float* gradient;
        const Index* row;
    };
    Operators operators(std::size_t layer, const Place& at);
    void back_through(std::size_t matrix, const ChannelRows& in, ChannelRows& d_in,
                      std::span<const Index> from, const ChannelRows& d_out, std::span<const Index> to);

    const AsnetLayout& layout_;
    const std::vector<std::unique_ptr<AsnetTask>>& tasks_;
    const AsnetShared& shared_;
    const AsnetTrainingKernels& kernels_;
    const std::size_t width_;

    AsnetWeights weights_{};
    float* gradient_ = nullptr;
    AsnetDropout* dropout_ = nullptr;

    std::vector<Place> places_;
    Index num_facts_ = 0, num_ops_ = 0, num_parts_ = 0;
    std::vector<std::unique_ptr<AsnetDemand>> demands_;  // by task, made when first needed
    std::vector<std::vector<AsnetWork>> copies_;         // by state, then layer
    std::vector<std::vector<const AsnetWork*>> works_;
    std::vector<Lists> lists_;  // by layer
    std::vector<Index> slot_predicate_, slot_place_, slot_schema_, slot_position_;

    // Rows of the first layer: by operator which, by row its number in AsnetShared.
    std::vector<Index> row_of_op_, used_rows_, schema_row_start_;
    std::vector<Index> row_here_;  // by number in AsnetShared: the row, or -1

    std::vector<Index> identity_, zeros_;
    std::vector<std::int32_t> values_;
    std::vector<std::vector<std::uint8_t>> truth_, marks_;  // by state
    std::vector<Index> competing_;
    std::vector<float> scores_, d_scores_;

    ChannelRows rows_, own_parts_, d_rows_, d_own_parts_;
    std::vector<ChannelRows> facts_, d_facts_, ops_, d_ops_, pooled_;  // by layer
    ChannelRows parts_, d_parts_, d_pooled_, base_, d_base_;
    std::size_t room_rows_ = 0, room_facts_ = 0, room_ops_ = 0, room_parts_ = 0, room_pooled_ = 0;
};

}  // namespace misstep
