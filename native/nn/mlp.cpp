#include "nn/mlp.hpp"

#include <algorithm>

#include "util/error.hpp"

namespace misstep::nn {

Mlp::Mlp(std::vector<Layer> layers) : layers_(std::move(layers)) {
    if (layers_.empty()) throw InputError("a network needs at least one layer");
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        if (layer.inputs == 0 || layer.outputs == 0) throw InputError("a layer of the network is empty");
        if (layer.weights.size() != static_cast<std::size_t>(layer.inputs) * layer.outputs ||
            layer.biases.size() != layer.outputs)
            throw InputError("a layer of the network has the wrong number of weights");
        if (i > 0 && layers_[i - 1].outputs != layer.inputs)
            throw InputError("the layers of the network do not fit together");
        widest_ = std::max<std::size_t>(widest_, layer.outputs);
    }
}

void Mlp::evaluate(const double* in, double* out, std::size_t n) const {
    thread_local std::vector<double> buffer;
    buffer.resize(2 * widest_);
    for (std::size_t row = 0; row < n; ++row) {
        const double* x = in + row * inputs();
        double* y = buffer.data();
        double* other = y + widest_;
        for (std::size_t k = 0; k < layers_.size(); ++k) {
            const Layer& layer = layers_[k];
            const bool last = k + 1 == layers_.size();
            double* to = last ? out + row * outputs() : y;
            std::copy(layer.biases.begin(), layer.biases.end(), to);
            for (std::uint32_t i = 0; i < layer.inputs; ++i) {
                const double v = x[i];
                if (v == 0) continue;  // inactive: common after ReLU
                const double* w = layer.weights.data() + static_cast<std::size_t>(i) * layer.outputs;
                for (std::uint32_t o = 0; o < layer.outputs; ++o) to[o] += v * w[o];
            }
            if (last) break;
            for (std::uint32_t o = 0; o < layer.outputs; ++o) to[o] = to[o] > 0 ? to[o] : 0;
            x = y;
            std::swap(y, other);
        }
    }
}

}  // namespace misstep::nn
