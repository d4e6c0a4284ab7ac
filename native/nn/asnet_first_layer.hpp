// The first layer of an ASNet: operators read bits, so their vectors come from tables made once a task.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/asnet_inputs.hpp"
#include "nn/asnet_kernel.hpp"
#include "nn/channel_rows.hpp"

namespace misstep {

class AsnetFirstLayer {
  public:
    AsnetFirstLayer(const AsnetNetwork& net, const AsnetGraph& graph, int width, const AsnetKernels& kernels);

    // Finds every operator's row, given what AsnetInputs::bits reads.
    void evaluate(const std::uint8_t* truth, const std::uint8_t* marks);

    // Valid until the next evaluate().
    const Index* row_of_operator() const { return row_of_operator_.data(); }
    const float* rows() const { return rows_.data(); }
    // For each row the operator's own part of the second layer: bias and matrix times the row. Absent where
    // the second layer is the last.
    const float* own_parts() const { return own_parts_.data(); }

  private:
    static constexpr std::size_t kMaxTableBits = 11;  // positions and the applicable bit
    static constexpr std::size_t kMaxTableRows = 1U << 16;

    void fill_row(const AsnetInputs::Class& cls, std::uint64_t bits, Index row);

    const AsnetKernels& kernels_;
    int width_;
    AsnetInputs inputs_;
    std::vector<Index> first_row_;  // by class; -1: too many rows for a table, so made for each state
    std::vector<Index> row_of_operator_;
    std::vector<ChannelRows> weights_;  // by schema: a row an input, then the bias
    std::vector<ChannelRows> own_;      // by schema: the second layer's matrix, then its bias
    ChannelRows rows_, own_parts_;
};

}  // namespace misstep
