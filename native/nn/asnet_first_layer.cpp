#include "nn/asnet_first_layer.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace misstep {
namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

}  // namespace

AsnetFirstLayer::AsnetFirstLayer(const AsnetNetwork& net, const AsnetGraph& graph, int width,
                                 const AsnetKernels& kernels)
    : kernels_(kernels), width_(width), row_of_operator_(at(graph.num_operators)) {
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
    find_classes(net, graph);

    std::size_t num_rows = 0;
    for (Class& cls : classes_) {
        const std::size_t bits = cls.positions.size() + 1;
        if (bits > kMaxTableBits || num_rows + (std::size_t{1} << bits) > kMaxTableRows) continue;
        cls.first_row = static_cast<Index>(num_rows);
        num_rows += std::size_t{1} << bits;
    }
    for (std::size_t op = 0; op < row_of_operator_.size(); ++op)
        if (classes_[at(class_of_operator_[op])].first_row < 0)
            row_of_operator_[op] = static_cast<Index>(num_rows++);
    rows_ = ChannelRows(width, num_rows);
    if (!own_.empty()) own_parts_ = ChannelRows(width, num_rows);
    for (const Class& cls : classes_)
        if (cls.first_row >= 0)
            for (std::uint64_t bits = 0; bits < std::uint64_t{2} << cls.positions.size(); ++bits)
                fill_row(cls, bits, cls.first_row + static_cast<Index>(bits));
}

void AsnetFirstLayer::find_classes(const AsnetNetwork& net, const AsnetGraph& graph) {
    std::map<std::tuple<Index, std::vector<float>, std::vector<Index>>, Index> known;
    changing_start_.push_back(0);
    for (Index op = 0; op < graph.num_operators; ++op) {
        const Index schema = graph.schema_of(op);
        auto facts = graph.facts_of(op);
        std::vector<float> inputs(2 * facts.size() + 1);
        std::vector<Index> positions;
        for (std::size_t i = 0; i < facts.size(); ++i) {
            const Index fact = facts[i];
            if (fact == graph.num_facts) {
                inputs[i] = inputs[facts.size() + i] = -1;
                continue;
            }
            inputs[facts.size() + i] = net.goal[at(fact)] != 0 ? 1.0F : 0.0F;
            if (net.fact_variables[at(fact)] < 0) {
                inputs[i] = 1;
            } else {
                positions.push_back(static_cast<Index>(i));
                changing_.push_back(fact);
            }
        }
        changing_start_.push_back(static_cast<Index>(changing_.size()));
        auto [found, added] =
            known.try_emplace({schema, inputs, positions}, static_cast<Index>(classes_.size()));
        if (added) classes_.push_back({schema, std::move(inputs), std::move(positions)});
        class_of_operator_.push_back(found->second);
    }
}

void AsnetFirstLayer::evaluate(const std::uint8_t* truth, const std::uint8_t* applicable) {
    for (std::size_t op = 0; op < row_of_operator_.size(); ++op) {
        const Class& cls = classes_[at(class_of_operator_[op])];
        const Index* fact = changing_.data() + changing_start_[op];
        const std::size_t n = at(changing_start_[op + 1] - changing_start_[op]);
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < n; ++i) bits |= std::uint64_t{truth[fact[i]]} << i;
        bits |= std::uint64_t{applicable[op]} << n;
        if (cls.first_row >= 0)
            row_of_operator_[op] = cls.first_row + static_cast<Index>(bits);
        else
            fill_row(cls, bits, row_of_operator_[op]);
    }
}

void AsnetFirstLayer::fill_row(const Class& cls, std::uint64_t bits, Index row) {
    const ChannelRows& weights = weights_[at(cls.schema)];
    const std::size_t inputs = cls.inputs.size(), width = at(width_);
    float* sum = rows_.row(at(row));
    std::copy_n(weights.row(inputs), width, sum);
    std::size_t changing = 0;
    for (std::size_t i = 0; i < inputs; ++i) {
        float input = cls.inputs[i];
        const bool is_changing = changing < cls.positions.size() && at(cls.positions[changing]) == i;
        if (is_changing || i + 1 == inputs) input = static_cast<float>(bits >> changing++ & 1);
        for (std::size_t c = 0; c < width; ++c) sum[c] += input * weights.row(i)[c];
    }
    kernels_.activate(rows_.data(), &row, 1);
    if (own_.empty()) return;
    const ChannelRows& own = own_[at(cls.schema)];
    kernels_.linear(rows_.data(), &row, own.row(width), 0, own.data(), own_parts_.data(), &row, 1);
}

}  // namespace misstep
