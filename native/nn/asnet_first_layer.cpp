#include "nn/asnet_first_layer.hpp"

#include <algorithm>

namespace misstep {
namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

AsnetFirstLayer::AsnetFirstLayer(const AsnetNetwork& net, const AsnetGraph& graph, int width,
                                 const AsnetKernels& kernels)
    : kernels_(kernels), width_(width), inputs_(net, graph), row_of_operator_(at(graph.num_operators)) {
    const std::size_t hidden = at(net.hidden);
    for (Index schema = 0; schema < net.num_schemas(); ++schema) {
        const AsnetModule& module = net.action_modules[0][at(schema)];
        const std::size_t inputs = module.weights.size() / hidden;
        ChannelRows& rows = weights_.emplace_back(width, inputs + 1);
        for (std::size_t i = 0; i < inputs; ++i)
            std::copy_n(module.weights.data() + i * hidden, hidden, rows.row(i));
        std::copy_n(module.bias.data(), hidden, rows.row(inputs));
        if (net.num_layers() < 2) continue;
        const AsnetModule& next = net.action_modules[1][at(schema)];
        ChannelRows& own = own_.emplace_back(width, at(width) + 1);
        const float* matrix = next.weights.data() + at(net.num_slots(schema)) * hidden * hidden;
        for (std::size_t i = 0; i < hidden; ++i) std::copy_n(matrix + i * hidden, hidden, own.row(i));
        std::copy_n(next.bias.data(), hidden, own.row(at(width)));
    }
    std::size_t num_rows = 0;
    for (const AsnetInputs::Class& cls : inputs_.classes()) {
        const std::size_t bits = cls.num_bits();
        const bool fits = bits <= kMaxTableBits && num_rows + (std::size_t{1} << bits) <= kMaxTableRows;
        first_row_.push_back(fits ? static_cast<Index>(num_rows) : -1);
        if (fits) num_rows += std::size_t{1} << bits;
    }
    for (std::size_t op = 0; op < row_of_operator_.size(); ++op)
        if (first_row_[inputs_.class_of(op)] < 0) row_of_operator_[op] = static_cast<Index>(num_rows++);
    rows_ = ChannelRows(width, num_rows);
    if (!own_.empty()) own_parts_ = ChannelRows(width, num_rows);
    for (std::size_t i = 0; i < first_row_.size(); ++i)
        if (first_row_[i] >= 0)
            for (std::uint64_t bits = 0; bits < std::uint64_t{1} << inputs_.classes()[i].num_bits(); ++bits)
                fill_row(inputs_.classes()[i], bits, first_row_[i] + static_cast<Index>(bits));
}

void AsnetFirstLayer::evaluate(const std::uint8_t* truth, const std::uint8_t* marks) {
    for (std::size_t op = 0; op < row_of_operator_.size(); ++op) {
        const std::size_t cls = inputs_.class_of(op);
        const std::uint64_t bits = inputs_.bits(op, truth, marks);
        if (first_row_[cls] >= 0)
            row_of_operator_[op] = first_row_[cls] + static_cast<Index>(bits);
        else
            fill_row(inputs_.classes()[cls], bits, row_of_operator_[op]);
    }
}

void AsnetFirstLayer::fill_row(const AsnetInputs::Class& cls, std::uint64_t bits, Index row) {
    const ChannelRows& weights = weights_[at(cls.schema)];
    const std::vector<float> inputs = cls.inputs(bits);
    const std::size_t width = at(width_);
    float* sum = rows_.row(at(row));
    std::copy_n(weights.row(inputs.size()), width, sum);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t c = 0; c < width; ++c) sum[c] += inputs[i] * weights.row(i)[c];
    kernels_.activate(rows_.data(), &row, 1);
    if (own_.empty()) return;
    const ChannelRows& own = own_[at(cls.schema)];
    kernels_.linear(rows_.data(), &row, own.row(width), 0, own.data(), own_parts_.data(), &row, 1);
}

}  // namespace misstep
