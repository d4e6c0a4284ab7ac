#include "nn/mlp.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "util/error.hpp"

namespace misstep::nn {
namespace {

template <class Function>
void map(double* values, std::uint32_t n, Function&& function) {
    for (std::uint32_t i = 0; i < n; ++i) values[i] = function(values[i]);
}

// What is not a number stays so in every branch: the comparisons are false for it.
void activate(Activation activation, double* values, std::uint32_t n) {
    switch (activation) {
        case Activation::kRelu:
            return map(values, n, [](double x) { return x < 0 ? 0 : x; });
        case Activation::kTanh:
            return map(values, n, [](double x) { return std::tanh(x); });
        case Activation::kSigmoid:
            return map(values, n, [](double x) { return 1 / (1 + std::exp(-x)); });
        case Activation::kElu:
            return map(values, n, [](double x) { return x < 0 ? std::expm1(x) : x; });
        case Activation::kGelu:
            return map(values, n, [](double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); });
        case Activation::kLeakyRelu:
            return map(values, n, [](double x) { return x < 0 ? 0.01 * x : x; });
        case Activation::kSoftplus:
            return map(values, n, [](double x) { return x > 20 ? x : std::log1p(std::exp(x)); });
        case Activation::kIdentity:
            return;
    }
}

}  // namespace

Mlp::Mlp(std::vector<Layer> layers, Activation activation)
    : layers_(std::move(layers)), activation_(activation) {
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
        is_finite_ &= std::ranges::all_of(layer.weights, [](double w) { return std::isfinite(w); });
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
                if (v == 0 && is_finite_) continue;  // inactive: common in states and after ReLU
                const double* w = layer.weights.data() + static_cast<std::size_t>(i) * layer.outputs;
                for (std::uint32_t o = 0; o < layer.outputs; ++o) to[o] += v * w[o];
            }
            if (last) break;
            activate(activation_, to, layer.outputs);
            x = y;
            std::swap(y, other);
        }
    }
}

}  // namespace misstep::nn
