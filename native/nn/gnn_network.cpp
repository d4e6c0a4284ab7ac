#include "nn/gnn_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "util/error.hpp"

namespace misstep {
namespace {

// Multiplications for which calling other threads pays: a tenth of a millisecond.
constexpr std::size_t kWorthHelp = 1'000'000;
// How many multiplications an exponential or a logarithm stands for.
constexpr std::size_t kWorkOfExponential = 8;

void require_shape(const Linear& layer, std::size_t num_inputs, std::size_t num_outputs, const char* what) {
    if (layer.num_inputs != num_inputs || layer.num_outputs != num_outputs ||
        layer.weights.size() != num_inputs * num_outputs || layer.bias.size() != num_outputs)
        throw InputError(std::string("the network's ") + what + " has the shape " +
                         std::to_string(layer.num_outputs) + " x " + std::to_string(layer.num_inputs) +
                         ", not " + std::to_string(num_outputs) + " x " + std::to_string(num_inputs));
}

// What `layer`'s columns from `first` on do to the output of `before`, as one layer.
Linear composed(const Linear& layer, std::size_t first, const Linear& before) {
    Linear result;
    result.num_inputs = before.num_inputs;
    result.num_outputs = layer.num_outputs;
    for (std::size_t out = 0; out < layer.num_outputs; ++out) {
        const float* weights = layer.weights.data() + out * layer.num_inputs + first;
        std::vector<double> sums(before.num_inputs);
        double bias = 0;
        for (std::size_t k = 0; k < before.num_outputs; ++k) {
            bias += double{weights[k]} * before.bias[k];
            for (std::size_t in = 0; in < before.num_inputs; ++in)
                sums[in] += double{weights[k]} * before.weights[k * before.num_inputs + in];
        }
        for (double sum : sums) result.weights.push_back(static_cast<float>(sum));
        result.bias.push_back(static_cast<float>(bias));
    }
    return result;
}

}  // namespace

const GnnKernels& gnn_kernels() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2GnnKernels;
#endif
    return kGenericGnnKernels;
}

PanelLayer::PanelLayer(const Linear& layer, std::size_t first, std::size_t num_inputs, bool with_bias)
    : num_inputs_(num_inputs), num_outputs_(layer.num_outputs) {
    std::size_t num_panels = (num_outputs_ + kPanel - 1) / kPanel;
    weights_.assign(num_panels * kPanel * num_inputs, 0.0f);
    for (std::size_t out = 0; out < num_outputs_; ++out)
        for (std::size_t in = 0; in < num_inputs; ++in)
            weights_[(out / kPanel * num_inputs + in) * kPanel + out % kPanel] =
                layer.weights[out * layer.num_inputs + first + in];
    bias_.assign(num_outputs_, 0.0f);
    if (with_bias) std::ranges::copy(layer.bias, bias_.begin());
}

GnnNetwork::EmbeddingLayer GnnNetwork::embedding_layer(const Linear& layer, std::size_t first,
                                                       const Linear& update) const {
    return {PanelLayer(layer, first, hidden_size_, false), PanelLayer(composed(layer, first, update))};
}

GnnNetwork::Head GnnNetwork::head(const Readout& readout) const {
    const std::size_t h = hidden_size_;
    require_shape(readout.pre.first, h, h, "readout (pre, first layer)");
    require_shape(readout.pre.second, h, h, "readout (pre, second layer)");
    require_shape(readout.post.first, h, h, "readout (post, first layer)");
    require_shape(readout.post.second, h, 1, "readout (post, second layer)");
    return {PanelLayer(readout.pre.first), PanelLayer(readout.pre.second), PanelLayer(readout.post.first),
            readout.post.second.weights, readout.post.second.bias[0]};
}

GnnNetwork::GnnNetwork(const GnnWeights& weights)
    : hidden_size_(weights.hidden_size),
      num_layers_(weights.num_layers),
      arities_(weights.arities),
      aggregation_(weights.aggregation),
      scores_actions_(weights.scores_actions) {
    const std::size_t h = hidden_size_;
    if (h == 0 || h % kFloatsPerVector != 0)
        throw UnsupportedFeature("hidden size " + std::to_string(h) + "; it must be a multiple of 8");
    if (arities_.size() != weights.relations.size())
        throw InputError("the network has " + std::to_string(weights.relations.size()) + " modules for " +
                         std::to_string(arities_.size()) + " relations");
    require_shape(weights.update.first, 2 * h, 2 * h, "update (first layer)");
    require_shape(weights.update.second, 2 * h, h, "update (second layer)");
    for (std::size_t r = 0; r < arities_.size(); ++r) {
        const Mlp& module = weights.relations[r];
        const std::size_t size = arities_[r] * h;
        if (size == 0) throw InputError("a relation of the network has no arguments");
        require_shape(module.first, size, size, "relation module (first layer)");
        require_shape(module.second, size, size, "relation module (second layer)");
        Relation relation;
        for (std::size_t j = 0; j < arities_[r]; ++j)
            relation.positions.push_back(embedding_layer(module.first, j * h, weights.update.second));
        relation.bias.assign(module.first.bias.begin(), module.first.bias.end());
        relation.second = PanelLayer(module.second);
        relations_.push_back(std::move(relation));
    }
    update_messages_ = PanelLayer(weights.update.first, 0, h, true);
    update_embeddings_ = embedding_layer(weights.update.first, h, weights.update.second);
    update2_ = PanelLayer(weights.update.second);
    value_ = head(weights.value);
    if (weights.solvable) solvable_ = head(*weights.solvable);
}

GnnEvaluator::GnnEvaluator(const GnnNetwork& network, int num_threads)
    : network_(network), kernels_(gnn_kernels()), classes_(network.arities()), crew_(num_threads) {
    std::size_t most = 2;
    for (std::size_t arity : network.arities()) most = std::max(most, arity);
    input_space_.assign(static_cast<std::size_t>(num_threads),
                        std::vector<std::uint32_t>(kChunk * most * network.hidden_size()));
    tables_.resize(most);
}

template <class Work>
void GnnEvaluator::for_rows(std::size_t num_rows, std::size_t work_per_row, const Work& work) {
    const std::size_t num_threads = static_cast<std::size_t>(crew_.num_threads());
    if (num_threads == 1 || num_rows * work_per_row < kWorthHelp) {
        work(0, 0, num_rows);
        return;
    }
    // Whole blocks, so that every row is computed as by one thread, and some pieces more than threads, since
    // a block in which more inputs are zero takes less time.
    const std::size_t blocks = (num_rows + kBlock - 1) / kBlock, pieces = 4 * num_threads;
    const std::size_t piece = (blocks + pieces - 1) / pieces * kBlock;
    crew_.run((num_rows + piece - 1) / piece, [&](int thread, std::size_t item) {
        work(thread, item * piece, std::min(piece, num_rows - item * piece));
    });
}

void GnnEvaluator::multiply(const PanelMatrix& matrix, const float* in, const std::uint32_t* rows,
                            std::size_t num_rows, float* out) {
    work_ += num_rows * matrix.num_inputs * matrix.num_outputs;
    for_rows(num_rows, matrix.num_inputs * matrix.num_outputs,
             [&](int thread, std::size_t first, std::size_t count) {
                 kernels_.multiply(matrix, rows ? in : in + first * matrix.num_inputs,
                                   rows ? rows + first : nullptr, count, out + first * matrix.num_outputs,
                                   input_space_[static_cast<std::size_t>(thread)].data());
             });
}

void GnnEvaluator::sum_relu(const float* bias, const float* const* tables, std::size_t num_tables,
                            const std::uint32_t* index, std::size_t num_rows, std::size_t size, float* out) {
    for_rows(num_rows, size * (num_tables + 1), [&](int, std::size_t first, std::size_t count) {
        kernels_.sum_relu(bias, tables, num_tables, index + first * num_tables, count, size,
                          out + first * size);
    });
}

void GnnEvaluator::embed(const PanelLayer& layer, const Floats& in, const std::vector<std::uint32_t>* rows,
                         std::size_t num_rows, Floats& out) {
    if (out.size() < num_rows * layer.num_outputs()) out.resize(num_rows * layer.num_outputs());
    multiply(layer.matrix(), in.data(), rows ? rows->data() : nullptr, num_rows, out.data());
}

// Fills `messages_`; false where they overflow.
bool GnnEvaluator::send_messages(bool first_layer, bool sparse) {
    const std::size_t h = network_.hidden_size_;
    const std::size_t total = classes_.num_messages() * h;
    if (messages_.size() < total) messages_.resize(total);
    for (std::size_t r = 0; r < network_.relations_.size(); ++r) {
        const Refinement::RelationRows& rows = classes_.relations()[r];
        if (rows.num_rows == 0) continue;
        const GnnNetwork::Relation& relation = network_.relations_[r];
        const std::size_t size = rows.arity * h;
        std::vector<const float*> tables;
        for (std::size_t j = 0; j < rows.arity && !first_layer; ++j) {
            const GnnNetwork::EmbeddingLayer& layer = relation.positions[j];
            embed(sparse ? layer.of_activation : layer.of_embedding, sparse ? activations_ : embeddings_,
                  &rows.classes[j], rows.classes[j].size(), tables_[j]);
            tables.push_back(tables_[j].data());
        }
        if (hidden_.size() < rows.num_rows * size) hidden_.resize(rows.num_rows * size);
        // In the first layer all embeddings are zero, and each relation has a single row.
        sum_relu(relation.bias.data(), tables.data(), tables.size(), rows.index.data(), rows.num_rows, size,
                 hidden_.data());
        multiply(relation.second.matrix(), hidden_.data(), nullptr, rows.num_rows,
                 messages_.data() + rows.first_message * h);
    }
    return aggregate_messages();
}

// What can be done before the messages are known by object; false where they are no finite numbers.
bool GnnEvaluator::aggregate_messages() {
    const std::size_t h = network_.hidden_size_, total = classes_.num_messages() * h;
    if (network_.aggregation_ == GnnAggregation::kMax) return kernels_.all_finite(messages_.data(), total);
    largest_ = total == 0 ? 0.0f : kernels_.largest(messages_.data(), total);
    if (!std::isfinite(largest_)) return false;
    for_rows(classes_.num_messages(), kWorkOfExponential * h, [&](int, std::size_t first, std::size_t count) {
        kernels_.exponentials(messages_.data() + first * h, count * h, largest_);
    });
    return true;
}

// Makes the new `activations_` from the messages and the old ones.
void GnnEvaluator::receive(bool first_layer, bool sparse) {
    const std::size_t h = network_.hidden_size_, num_classes = classes_.num_classes();
    if (!first_layer)
        embed(sparse ? network_.update_embeddings_.of_activation : network_.update_embeddings_.of_embedding,
              sparse ? activations_ : embeddings_, nullptr, classes_.num_old_classes(), own_);
    if (received_.size() < num_classes * h) received_.resize(num_classes * h);
    const std::size_t terms = classes_.terms().size() / std::max<std::size_t>(num_classes, 1);
    for_rows(num_classes, (terms + kWorkOfExponential) * h, [&](int, std::size_t first, std::size_t count) {
        if (network_.aggregation_ == GnnAggregation::kMax)
            kernels_.maxima(messages_.data(), classes_.term_start().data() + first, classes_.terms().data(),
                            count, h, received_.data() + first * h);
        else
            kernels_.smooth_maxima(messages_.data(), classes_.term_start().data() + first,
                                   classes_.terms().data(), count, h, largest_, received_.data() + first * h);
    });
    embed(network_.update_messages_, received_, nullptr, num_classes, hidden_);
    if (activations_.size() < num_classes * 2 * h) activations_.resize(num_classes * 2 * h);
    pairs_.clear();
    for (std::uint32_t c = 0; c < num_classes; ++c) {
        pairs_.push_back(c);
        if (!first_layer) pairs_.push_back(classes_.parent()[c]);
    }
    const float* tables[2] = {hidden_.data(), own_.data()};
    sum_relu(nullptr, tables, first_layer ? 1 : 2, pairs_.data(), num_classes, 2 * h, activations_.data());
}

// With kMax: the update's second layer, added to the embeddings of the classes from which the new ones come.
void GnnEvaluator::update_embeddings(bool first_layer) {
    const std::size_t h = network_.hidden_size_, num_classes = classes_.num_classes();
    embed(network_.update2_, activations_, nullptr, num_classes, next_);
    for (std::size_t c = 0; c < num_classes && !first_layer; ++c) {
        const float* old = embeddings_.data() + classes_.parent()[c] * h;
        for (std::size_t i = 0; i < h; ++i) next_[c * h + i] += old[i];
    }
    embeddings_.swap(next_);
}

// Whether at most half of the activations matter, counted over the blocks that the kernels look at.
bool GnnEvaluator::mostly_zero(std::size_t num_classes) const {
    const std::size_t size = 2 * network_.hidden_size_;
    std::size_t blocks = 0, used = 0;
    std::vector<std::uint8_t> any(size);
    for (std::size_t row = 0; row < num_classes; row += kBlock, ++blocks) {
        std::ranges::fill(any, std::uint8_t{0});
        for (std::size_t r = row; r < std::min(row + kBlock, num_classes); ++r)
            for (std::size_t i = 0; i < size; ++i) any[i] |= activations_[r * size + i] != 0.0f;
        for (std::uint8_t is_used : any) used += is_used;
    }
    return 2 * used <= blocks * size;
}

std::size_t GnnEvaluator::sum_up(const GnnBatch& batch) {
    const std::size_t h = network_.hidden_size_;
    if (network_.scores_actions_) {
        const std::size_t num_actions = batch.num_objects - batch.first_action;
        received_.resize(std::max(received_.size(), num_actions * h));
        for (std::size_t action = 0; action < num_actions; ++action)
            std::copy_n(own_.data() + classes_.classes()[batch.first_action + action] * h, h,
                        received_.data() + action * h);
        return num_actions;
    }
    received_.assign(batch.num_states * h, 0.0f);
    for (std::size_t state = 0; state < batch.num_states; ++state)
        for (std::size_t object = 0; object < batch.num_objects; ++object) {
            const float* row = own_.data() + classes_.classes()[object * batch.num_states + state] * h;
            for (std::size_t i = 0; i < h; ++i) received_[state * h + i] += row[i];
        }
    return batch.num_states;
}

void GnnEvaluator::read_out(const GnnNetwork::Head& head, const GnnBatch& batch, std::vector<float>& out) {
    const std::size_t h = network_.hidden_size_, num_classes = classes_.num_classes();
    embed(head.pre1, embeddings_, nullptr, num_classes, hidden_);
    std::vector<std::uint32_t> same(std::max({num_classes, batch.num_states, batch.num_objects}));
    for (std::uint32_t i = 0; i < same.size(); ++i) same[i] = i;
    const float* table = hidden_.data();
    sum_relu(nullptr, &table, 1, same.data(), num_classes, h, hidden_.data());
    embed(head.pre2, hidden_, nullptr, num_classes, own_);
    const std::size_t num_rows = sum_up(batch);
    embed(head.post1, received_, nullptr, num_rows, hidden_);
    table = hidden_.data();
    sum_relu(nullptr, &table, 1, same.data(), num_rows, h, hidden_.data());
    out.resize(num_rows);
    for (std::size_t row = 0; row < num_rows; ++row) {
        float sum = head.post2_bias;
        for (std::size_t i = 0; i < h; ++i) sum += head.post2[i] * hidden_[row * h + i];
        out[row] = sum;
    }
}

void GnnEvaluator::evaluate(const GnnBatch& batch, std::vector<float>& values) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const bool by_action = network_.scores_actions_;
    values.assign(by_action ? batch.num_objects - batch.first_action : batch.num_states, nan);
    if (values.empty()) return;
    const bool is_max = network_.aggregation_ == GnnAggregation::kMax;
    classes_.start(batch);
    bool sparse = false;
    embeddings_.assign(std::max(embeddings_.size(), network_.hidden_size_), 0.0f);
    for (std::size_t layer = 0; layer < network_.num_layers_; ++layer) {
        classes_.refine();
        if (!send_messages(layer == 0, sparse)) return;
        receive(layer == 0, sparse);
        if (is_max) {  // Never sparse: what is sparse depends on the batch, and sums would be rounded
                       // otherwise.
            update_embeddings(layer == 0);
            continue;
        }
        sparse = layer + 1 < network_.num_layers_ && mostly_zero(classes_.num_classes());
        if (!sparse) embed(network_.update2_, activations_, nullptr, classes_.num_classes(), embeddings_);
    }
    read_out(network_.value_, batch, values);
    for (float& value : values) value = !std::isfinite(value) ? nan : by_action ? value : std::fabs(value);
    if (!network_.solvable_) return;
    std::vector<float> logits;
    read_out(*network_.solvable_, batch, logits);
    constexpr float kUnsolvablePenalty = 1e5f;
    for (std::size_t row = 0; row < values.size(); ++row) {
        float probability = 1.0f / (1.0f + std::exp(-logits[row]));
        if (!(probability > 0.5f))
            values[row] += kUnsolvablePenalty;  // one half is rounded to even: unsolvable
    }
}

}  // namespace misstep
