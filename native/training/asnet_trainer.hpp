// Trains an ASNet: a pool of labelled states, minibatches drawn from it, Adam with decoupled weight decay.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "training/asnet_pass.hpp"
#include "util/budget.hpp"
#include "util/crew.hpp"
#include "util/rng.hpp"

namespace misstep {

struct AsnetTrainingOptions {
    AsnetLossRule rule;
    std::size_t batch = 64;
    double rate = 1e-3;
    double dropout = 0.1;
    double weight_decay = 2e-4;  // parameters are multiplied by 1 minus this at every update
    // A task is drawn with the probability (its samples to this power), then one of its samples evenly.
    double task_power = 1;
};

// Equal seeds, samples and options give equal parameters bit for bit, whatever the number of threads: a
// minibatch is cut into the same pieces, and their gradients are added in the same order.
class AsnetTrainer {
  public:
    // Starts from the network's weights.
    AsnetTrainer(const AsnetNetwork& net, int num_threads, std::uint64_t seed);

    // The space must outlive the trainer. Throws InputError where modules have other shapes.
    std::size_t add_task(const StateSpace& space, const AsnetNetwork& net);
    const AsnetTask& task(std::size_t number) const { return *tasks_[number]; }
    std::size_t num_tasks() const { return tasks_.size(); }

    // Labels are of all applicable operators that compete, the teacher's first.
    void add_sample(std::size_t task, const Word* state, const std::vector<ActionLabel>& labels);
    std::size_t num_samples(std::size_t task) const { return pools_[task].samples.size(); }

    // The mean loss over the minibatches. A limit ends the work before all are done: then parameters are
    // those of a place in between.
    double train(std::size_t num_batches, const AsnetTrainingOptions& options, const Budget& budget,
                 LimitHit& limit);
    // The mean loss of all samples of a task without dropout, and its gradient.
    double gradient(std::size_t task, const AsnetLossRule& rule, std::vector<float>& result);

    const AsnetLayout& layout() const { return layout_; }
    // All that training goes on from: parameters, means and squares of gradients, steps, random numbers.
    std::vector<float> parameters() const { return read(parameters_); }
    std::vector<float> means() const { return read(means_); }
    std::vector<float> squares() const { return read(squares_); }
    std::uint64_t steps() const { return steps_; }
    std::uint64_t random_state() const { return rng_.state(); }
    void restore(const float* parameters, const float* means, const float* squares, std::uint64_t steps,
                 std::uint64_t random_state);

  private:
    static constexpr std::size_t kPieces = 4;  // of a minibatch; so many threads can work at it

    struct Stored {
        std::size_t state, labels, num_labels, landmarks, num_landmarks;
    };
    struct Pool {
        std::vector<Stored> samples;
        std::vector<Word> words;
        std::vector<ActionLabel> labels;
        std::vector<AsnetLandmarks::Mark> landmarks;
    };

    std::vector<float> read(const ChannelRows& rows) const;
    AsnetSample sample(std::size_t task, std::size_t number) const;
    void draw(const AsnetTrainingOptions& options);
    void share_out(std::vector<AsnetSample>& batch);
    void update(std::size_t piece, const AdamStep& step, AdamFunction adam);
    void transpose(const AsnetLayout::Piece& piece);
    AsnetPass& pass(int thread) { return *passes_[static_cast<std::size_t>(thread)]; }

    const AsnetLayout layout_;
    AsnetShared shared_;
    std::vector<std::unique_ptr<AsnetTask>> tasks_;
    std::vector<Pool> pools_;
    Rng rng_;
    std::uint64_t steps_ = 0;
    ChannelRows parameters_, transposed_, means_, squares_;
    std::vector<ChannelRows> gradients_;  // by piece of a minibatch
    Crew crew_;
    std::vector<std::unique_ptr<AsnetPass>> passes_;  // by thread

    std::vector<double> task_weights_;
    std::vector<AsnetSample> batch_;
    std::vector<AsnetSample> pieces_[kPieces];
    std::uint64_t piece_seeds_[kPieces] = {};
    double losses_[kPieces] = {};
};

}  // namespace misstep
