// What the operators of an ASNet read in the first layer: constant numbers and the bits of changing facts.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/asnet_graph.hpp"

namespace misstep {

class AsnetInputs {
  public:
    // Operators of one schema that read the same constant numbers and the same positions of changing facts.
    struct Class {
        Index schema;
        std::vector<float> constant;   // inputs of the module, as if all changing facts were false
        std::vector<Index> positions;  // of changing facts; bit i stands for positions[i], then the marks
        bool reads_landmarks;

        std::size_t num_bits() const { return positions.size() + (reads_landmarks ? 3 : 1); }
        // The module's inputs for these bits.
        std::vector<float> inputs(std::uint64_t bits) const;
    };

    AsnetInputs(const AsnetNetwork& net, const AsnetGraph& graph);

    const std::vector<Class>& classes() const { return classes_; }
    std::size_t class_of(std::size_t op) const { return static_cast<std::size_t>(class_of_operator_[op]); }
    // The bits of an operator, given a truth bit for each fact and for each operator its marks: kApplicable,
    // and where landmarks are read those of AsnetLandmarks.
    std::uint64_t bits(std::size_t op, const std::uint8_t* truth, const std::uint8_t* marks) const {
        const Index* fact = changing_.data() + changing_start_[op];
        const std::size_t n = static_cast<std::size_t>(changing_start_[op + 1] - changing_start_[op]);
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < n; ++i) result |= std::uint64_t{truth[fact[i]]} << i;
        return result | std::uint64_t{marks[op]} << n;
    }

  private:
    std::vector<Class> classes_;
    std::vector<Index> class_of_operator_;
    std::vector<Index> changing_start_, changing_;  // changing facts of each operator
};

}  // namespace misstep
