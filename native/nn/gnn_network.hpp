// The relational networks of Ståhlberg, Bonet & Geffner (KR 2022): weights, and the values of a batch of
// states.
#pragma once

#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "nn/gnn_kernel.hpp"
#include "nn/gnn_refinement.hpp"
#include "util/crew.hpp"

namespace misstep {

template <class T>
struct CacheLineAllocator {
    using value_type = T;
    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
    friend bool operator==(CacheLineAllocator, CacheLineAllocator) { return true; }
};
using Floats = std::vector<float, CacheLineAllocator<float>>;

// A linear layer as it is given: weights (out, in), row by row.
struct Linear {
    std::vector<float> weights, bias;
    std::size_t num_inputs = 0, num_outputs = 0;
};
struct Mlp {
    Linear first, second;
};
struct Readout {
    Mlp pre, post;
};

// A linear layer as the kernels want it.
class PanelLayer {
  public:
    PanelLayer() = default;
    // Columns first .. first + num_inputs of the layer's weights.
    PanelLayer(const Linear& layer, std::size_t first, std::size_t num_inputs, bool with_bias);
    explicit PanelLayer(const Linear& layer) : PanelLayer(layer, 0, layer.num_inputs, true) {}
    PanelMatrix matrix() const { return {weights_.data(), bias_.data(), num_inputs_, num_outputs_}; }
    std::size_t num_outputs() const { return num_outputs_; }

  private:
    Floats weights_, bias_;
    std::size_t num_inputs_ = 0, num_outputs_ = 0;
};

// How an object puts its messages together.
enum class GnnAggregation : std::uint8_t {
    // Smooth maximum relative to the largest message of the batch; the update makes the new embedding.
    kSmoothMax,
    // The largest message, number by number, or 0; the update is added to the old embedding. What an object
    // gets depends on its own state alone.
    kMax,
};

struct GnnWeights {
    std::size_t hidden_size = 0;  // a multiple of kFloatsPerVector
    std::size_t num_layers = 0;   // the same weights in each
    std::vector<std::size_t> arities;
    std::vector<Mlp> relations;
    Mlp update;
    Readout value;
    std::optional<Readout> solvable;  // without it every state counts as solvable
    GnnAggregation aggregation = GnnAggregation::kSmoothMax;
    // The readouts are not of the sum over all objects, but of each object that stands for an action.
    bool scores_actions = false;
};

// Immutable, may be shared between threads. Throws InputError where shapes do not fit.
class GnnNetwork {
  public:
    explicit GnnNetwork(const GnnWeights& weights);

    std::size_t hidden_size() const { return hidden_size_; }
    std::size_t num_layers() const { return num_layers_; }
    bool scores_actions() const { return scores_actions_; }
    const std::vector<std::size_t>& arities() const { return arities_; }

  private:
    friend class GnnEvaluator;

    // A layer that reads embeddings comes twice: for the embeddings themselves, and for the activations from
    // which the update's second layer makes them. The latter are mostly zero, so they are often cheaper to
    // multiply although there are twice as many.
    struct EmbeddingLayer {
        PanelLayer of_embedding, of_activation;
    };
    struct Relation {
        std::vector<EmbeddingLayer> positions;  // the columns of the first layer for each argument; no bias
        Floats bias;
        PanelLayer second;
    };
    struct Head {
        PanelLayer pre1, pre2, post1;
        std::vector<float> post2;
        float post2_bias = 0;
    };

    EmbeddingLayer embedding_layer(const Linear& layer, std::size_t first, const Linear& update) const;
    Head head(const Readout& readout) const;

    std::size_t hidden_size_, num_layers_;
    std::vector<std::size_t> arities_;
    std::vector<Relation> relations_;
    PanelLayer update_messages_;  // the columns of the update's first layer for messages; with bias
    EmbeddingLayer update_embeddings_;
    PanelLayer update2_;
    Head value_;
    std::optional<Head> solvable_;
    GnnAggregation aggregation_;
    bool scores_actions_;
};

// Evaluates batches; holds the memory for that.
class GnnEvaluator {
  public:
    // So many threads share the work on a batch; the values do not depend on their number.
    explicit GnnEvaluator(const GnnNetwork& network, int num_threads = 1);

    // The value of each state of the batch, or of each action of its only state; 1e5 more where the network
    // thinks it unsolvable; NaN in all where numbers overflow. With kSmoothMax all states share the maximum
    // of the aggregation, as when the network was trained: the value of a state depends on the others of its
    // batch. With kMax it does not, bit for bit.
    void evaluate(const GnnBatch& batch, std::vector<float>& values);

    // Multiplications of matrices so far, those by zero included.
    std::uint64_t work() const { return work_; }

  private:
    // Calls work(thread, first row, number of rows) for all rows, in pieces where more threads help.
    template <class Work>
    void for_rows(std::size_t num_rows, std::size_t work_per_row, const Work& work);
    void multiply(const PanelMatrix& matrix, const float* in, const std::uint32_t* rows, std::size_t num_rows,
                  float* out);
    void sum_relu(const float* bias, const float* const* tables, std::size_t num_tables,
                  const std::uint32_t* index, std::size_t num_rows, std::size_t size, float* out);
    void embed(const PanelLayer& layer, const Floats& in, const std::vector<std::uint32_t>* rows,
               std::size_t num_rows, Floats& out);
    bool send_messages(bool first_layer, bool sparse);
    void receive(bool first_layer, bool sparse);
    bool aggregate_messages();
    void update_embeddings(bool first_layer);
    bool mostly_zero(std::size_t num_classes) const;
    // Fills `received_` with what the second half of a readout gets; returns the number of rows.
    std::size_t sum_up(const GnnBatch& batch);
    void read_out(const GnnNetwork::Head& head, const GnnBatch& batch, std::vector<float>& out);

    const GnnNetwork& network_;
    const GnnKernels& kernels_;
    Refinement classes_;
    Floats embeddings_, activations_;  // one row a class
    Floats hidden_, messages_, received_, own_, next_;
    std::vector<Floats> tables_;
    Crew crew_;
    std::vector<std::vector<std::uint32_t>> input_space_;  // of each thread
    std::vector<std::uint32_t> pairs_;
    float largest_ = 0;
    std::uint64_t work_ = 0;
};

}  // namespace misstep
