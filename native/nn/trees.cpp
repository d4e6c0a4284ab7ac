#include "nn/trees.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "util/error.hpp"

namespace misstep::nn {

TreeEnsemble::TreeEnsemble(std::uint32_t inputs, std::vector<double> base, std::vector<std::uint32_t> roots,
                           std::vector<Node> nodes, std::vector<double> values)
    : inputs_(inputs),
      base_(std::move(base)),
      roots_(std::move(roots)),
      nodes_(std::move(nodes)),
      values_(std::move(values)) {
    if (base_.empty()) throw InputError("a tree ensemble needs at least one output");
    for (std::uint32_t root : roots_)
        if (root >= nodes_.size()) throw InputError("a tree has no root");
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        if (node.feature < 0) {
            if (std::uint64_t{node.below} + node.above > values_.size() ||
                std::uint64_t{node.output} + node.above > base_.size())
                throw InputError("a leaf of a tree has the wrong number of values");
            continue;
        }
        if (static_cast<std::uint32_t>(node.feature) >= inputs_)
            throw InputError("a tree tests input " + std::to_string(node.feature) + " of " +
                             std::to_string(inputs_));
        if (node.below <= i || node.above <= i || std::max(node.below, node.above) >= nodes_.size())
            throw InputError("a tree's nodes are out of order");  // and a cycle would never end
    }
}

void TreeEnsemble::evaluate(const double* in, double* out, std::size_t n) const {
    for (std::size_t row = 0; row < n; ++row, in += inputs_, out += base_.size()) {
        std::copy(base_.begin(), base_.end(), out);
        for (std::uint32_t root : roots_) {
            const Node* node = &nodes_[root];
            while (node->feature >= 0)
                node = &nodes_[in[node->feature] < node->split ? node->below : node->above];
            for (std::uint32_t k = 0; k < node->above; ++k) out[node->output + k] += values_[node->below + k];
        }
    }
}

}  // namespace misstep::nn
