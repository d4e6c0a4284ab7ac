#include "training/asnet_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "util/error.hpp"

namespace misstep {
namespace {

constexpr std::size_t kPiecesAnItem = 8;  // of the parameters: what a thread updates at a time

AsnetDropout make_dropout(double share, std::uint64_t seed) {
    AsnetDropout result{};
    Rng rng(seed);
    for (std::uint32_t& lane : result.lanes) lane = static_cast<std::uint32_t>(rng.next() >> 32) | 1U;
    result.threshold = static_cast<std::int32_t>(share * 2147483648.0);
    result.keep = static_cast<float>(1 - share);
    result.scale = 1 / result.keep;
    return result;
}

}  // namespace

AsnetTrainer::AsnetTrainer(const AsnetNetwork& net, int num_threads, std::uint64_t seed)
    : layout_(net), rng_(seed), gradients_(kPieces), crew_(num_threads) {
    const std::size_t rows = layout_.size / static_cast<std::size_t>(layout_.width);
    for (ChannelRows* all : {&parameters_, &transposed_, &means_, &squares_})
        *all = ChannelRows(layout_.width, rows);
    for (ChannelRows& gradient : gradients_) gradient = ChannelRows(layout_.width, rows);
    for (int i = 0; i < num_threads; ++i)
        passes_.push_back(std::make_unique<AsnetPass>(layout_, tasks_, shared_));
    std::ranges::copy(layout_.packed(net), parameters_.data());
    for (const auto& piece : layout_.pieces) transpose(piece);
}

std::size_t AsnetTrainer::add_task(const StateSpace& space, const AsnetNetwork& net) {
    auto task = std::make_unique<AsnetTask>(space, net, shared_);
    if (!layout_.fits(net)) throw InputError("the network of this task has modules of other shapes");
    tasks_.push_back(std::move(task));
    pools_.emplace_back();
    return tasks_.size() - 1;
}

void AsnetTrainer::add_sample(std::size_t task, const Word* state, const std::vector<ActionLabel>& labels) {
    const auto landmarks = tasks_[task]->prepare(state, labels, shared_);
    Pool& pool = pools_[task];
    pool.samples.push_back(
        {pool.words.size(), pool.labels.size(), labels.size(), pool.landmarks.size(), landmarks.size()});
    pool.landmarks.insert(pool.landmarks.end(), landmarks.begin(), landmarks.end());
    pool.words.insert(pool.words.end(), state, state + tasks_[task]->space.num_words());
    pool.labels.insert(pool.labels.end(), labels.begin(), labels.end());
}

AsnetSample AsnetTrainer::sample(std::size_t task, std::size_t number) const {
    const Pool& pool = pools_[task];
    const Stored& stored = pool.samples[number];
    return {task,
            pool.words.data() + stored.state,
            {pool.labels.data() + stored.labels, stored.num_labels},
            {pool.landmarks.data() + stored.landmarks, stored.num_landmarks}};
}

void AsnetTrainer::draw(const AsnetTrainingOptions& options) {
    batch_.clear();
    const double total = task_weights_.back();
    while (batch_.size() < options.batch) {
        const double at = rng_.uniform() * total;
        const std::size_t task =
            static_cast<std::size_t>(std::ranges::upper_bound(task_weights_, at) - task_weights_.begin());
        batch_.push_back(sample(task, rng_.below(pools_[task].samples.size())));
    }
    share_out(batch_);
    for (std::uint64_t& seed : piece_seeds_) seed = rng_.next();
}

// The largest first, each to the piece with the least work so far.
void AsnetTrainer::share_out(std::vector<AsnetSample>& batch) {
    auto work = [this](const AsnetSample& s) { return tasks_[s.task]->graph.facts.size(); };
    std::ranges::stable_sort(batch, [&](const auto& a, const auto& b) { return work(a) > work(b); });
    std::size_t sums[kPieces] = {};
    for (auto& piece : pieces_) piece.clear();
    for (const AsnetSample& s : batch) {
        const std::size_t least = static_cast<std::size_t>(std::ranges::min_element(sums) - sums);
        pieces_[least].push_back(s);
        sums[least] += work(s) + 1;
    }
}

double AsnetTrainer::train(std::size_t num_batches, const AsnetTrainingOptions& options, const Budget& budget,
                           LimitHit& limit) {
    task_weights_.clear();
    double total = 0;
    for (const Pool& pool : pools_) {
        if (!pool.samples.empty())
            total += std::pow(static_cast<double>(pool.samples.size()), options.task_power);
        task_weights_.push_back(total);
    }
    if (total == 0) throw InputError("there are no labelled states to train on");
    BudgetWatch watch(budget);
    const AdamFunction adam = best_adam();
    double loss = 0;
    for (std::size_t done = 0; done < num_batches; ++done) {
        if ((limit = watch.look()) != LimitHit::kNone)
            return done == 0 ? 0 : loss / static_cast<double>(done);
        draw(options);
        crew_.run(kPieces, [&](int thread, std::size_t piece) {
            AsnetDropout dropout = make_dropout(options.dropout, piece_seeds_[piece]);
            losses_[piece] = pass(thread).run(pieces_[piece], {parameters_.data(), transposed_.data()},
                                              options.rule, dropout, gradients_[piece].data());
        });
        ++steps_;
        const double t = static_cast<double>(steps_);
        constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
        const double root = std::sqrt(1 - std::pow(kBeta2, t));
        const AdamStep step{static_cast<float>(1.0 / static_cast<double>(options.batch)),
                            static_cast<float>(options.rate * root / (1 - std::pow(kBeta1, t))),
                            static_cast<float>(kEpsilon * root),
                            static_cast<float>(kBeta1),
                            static_cast<float>(kBeta2),
                            static_cast<float>(1 - options.weight_decay)};
        const std::size_t num_parts = (layout_.pieces.size() + kPiecesAnItem - 1) / kPiecesAnItem;
        crew_.run(num_parts, [&](int, std::size_t part) {
            const std::size_t end = std::min((part + 1) * kPiecesAnItem, layout_.pieces.size());
            for (std::size_t piece = part * kPiecesAnItem; piece < end; ++piece) update(piece, step, adam);
        });
        loss +=
            std::accumulate(std::begin(losses_), std::end(losses_), 0.0) / static_cast<double>(options.batch);
    }
    return num_batches == 0 ? 0 : loss / static_cast<double>(num_batches);
}

void AsnetTrainer::update(std::size_t piece, const AdamStep& step, AdamFunction adam) {
    const AsnetLayout::Piece& range = layout_.pieces[piece];
    float* gradients[kPieces];
    for (std::size_t i = 0; i < kPieces; ++i) gradients[i] = gradients_[i].data() + range.begin;
    adam(step, gradients, kPieces, parameters_.data() + range.begin, means_.data() + range.begin,
         squares_.data() + range.begin, static_cast<std::int32_t>(range.end - range.begin));
    transpose(range);
}

void AsnetTrainer::transpose(const AsnetLayout::Piece& piece) {
    if (!piece.is_matrix) return;
    const std::size_t width = static_cast<std::size_t>(layout_.width);
    const float* from = parameters_.data() + piece.begin;
    float* to = transposed_.data() + piece.begin;
    for (std::size_t i = 0; i < width; ++i)
        for (std::size_t j = 0; j < width; ++j) to[j * width + i] = from[i * width + j];
}

double AsnetTrainer::gradient(std::size_t task, const AsnetLossRule& rule, std::vector<float>& result) {
    const std::size_t count = pools_[task].samples.size();
    if (count == 0) throw InputError("the task has no labelled states");
    std::vector<AsnetSample> samples;
    for (std::size_t i = 0; i < count; ++i) samples.push_back(sample(task, i));
    ChannelRows sum(layout_.width, layout_.size / static_cast<std::size_t>(layout_.width));
    AsnetDropout none = make_dropout(0, 0);
    const double loss =
        pass(0).run(samples, {parameters_.data(), transposed_.data()}, rule, none, sum.data());
    result = read(sum);
    for (float& value : result) value /= static_cast<float>(count);
    return loss / static_cast<double>(count);
}

std::vector<float> AsnetTrainer::read(const ChannelRows& rows) const {
    return {rows.data(), rows.data() + layout_.size};
}

void AsnetTrainer::restore(const float* parameters, const float* means, const float* squares,
                           std::uint64_t steps, std::uint64_t random_state) {
    std::copy_n(parameters, layout_.size, parameters_.data());
    std::copy_n(means, layout_.size, means_.data());
    std::copy_n(squares, layout_.size, squares_.data());
    for (const auto& piece : layout_.pieces) transpose(piece);
    steps_ = steps;
    rng_.set_state(random_state);
}

}  // namespace misstep
