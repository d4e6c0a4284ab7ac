// A multi-layer perceptron: linear layers with one activation function between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nn/scorer.hpp"

namespace misstep::nn {

// As PyTorch defines them, with its default parameters: leaky ReLU has a slope of 0.01, GELU is the exact
// one, softplus is the identity above 20.
enum class Activation : std::uint8_t {
    kRelu,
    kTanh,
    kSigmoid,
    kElu,
    kGelu,
    kLeakyRelu,
    kSoftplus,
    kIdentity
};

// Sums run over the inputs in order for every output, whatever the batch: a state gets the same numbers,
// hence the same action, alone and in company.
class Mlp final : public Scorer {
  public:
    struct Layer {
        std::uint32_t inputs, outputs;
        std::vector<double> weights;  // inputs x outputs
        std::vector<double> biases;
    };
    // Throws InputError where the sizes do not fit together.
    Mlp(std::vector<Layer> layers, Activation activation);

    std::uint32_t inputs() const override { return layers_.front().inputs; }
    std::uint32_t outputs() const override { return layers_.back().outputs; }
    void evaluate(const double* in, double* out, std::size_t n) const override;

  private:
    std::vector<Layer> layers_;
    Activation activation_;
    bool is_finite_ = true;  // all weights: then an input of 0 adds nothing
    std::size_t widest_ = 0;
};

}  // namespace misstep::nn
