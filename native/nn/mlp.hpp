// A multi-layer perceptron with ReLU between the layers: the network of an .nnet file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nn/scorer.hpp"

namespace misstep::nn {

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
    explicit Mlp(std::vector<Layer> layers);

    std::uint32_t inputs() const override { return layers_.front().inputs; }
    std::uint32_t outputs() const override { return layers_.back().outputs; }
    void evaluate(const double* in, double* out, std::size_t n) const override;

  private:
    std::vector<Layer> layers_;
    std::size_t widest_ = 0;
};

}  // namespace misstep::nn
