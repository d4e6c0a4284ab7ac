// Tree ensembles: each output is a base score plus the leaves that the inputs reach.
#pragma once

#include <vector>

#include "nn/scorer.hpp"

namespace misstep::nn {

class TreeEnsemble final : public Scorer {
  public:
    // An inner node sends inputs[feature] < split to `below`, everything else to `above`. A leaf (feature <
    // 0) adds values[below], values[below + 1], ... (`above` of them) to the outputs from `output` on.
    struct Node {
        std::int32_t feature;
        double split;
        std::uint32_t below, above, output;
    };
    // Roots are the first nodes of the trees; children come after their parents. Throws InputError where a
    // number points to nothing.
    TreeEnsemble(std::uint32_t inputs, std::vector<double> base, std::vector<std::uint32_t> roots,
                 std::vector<Node> nodes, std::vector<double> values);

    std::uint32_t inputs() const override { return inputs_; }
    std::uint32_t outputs() const override { return static_cast<std::uint32_t>(base_.size()); }
    void evaluate(const double* in, double* out, std::size_t n) const override;

  private:
    std::uint32_t inputs_;
    std::vector<double> base_;
    std::vector<std::uint32_t> roots_;
    std::vector<Node> nodes_;
    std::vector<double> values_;
};

}  // namespace misstep::nn
