// A multi-layer perceptron with ReLU between the layers: the network of an .nnet file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace misstep::nn {

// Sums run over the inputs in order for every output, whatever the batch: a state gets the same numbers,
// hence the same action, alone and in company.
class Mlp {
  public:
    struct Layer {
        std::uint32_t inputs, outputs;
        std::vector<double> weights;  // inputs x outputs
        std::vector<double> biases;
    };
    // Throws InputError where the sizes do not fit together.
    explicit Mlp(std::vector<Layer> layers);

    std::uint32_t inputs() const { return layers_.front().inputs; }
    std::uint32_t outputs() const { return layers_.back().outputs; }
    // `in` holds n rows of inputs, `out` gets n rows of outputs.
    void evaluate(const double* in, double* out, std::size_t n) const;
    const std::vector<Layer>& layers() const { return layers_; }

  private:
    std::vector<Layer> layers_;
    std::size_t widest_ = 0;
};

}  // namespace misstep::nn
