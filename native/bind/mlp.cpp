// Networks for Python: made from weight matrices, evaluated in batches.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind/bind.hpp"
#include "safety/policy.hpp"
#include "util/error.hpp"

using namespace nb::literals;
using misstep::nn::Mlp;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::uint32_t slot_of(const misstep::jani::Model& model, const std::string& field, bool& real) {
    for (std::uint32_t i = 0; i < model.layout.fields().size(); ++i)
        if (model.field_name(i) == field) {
            real = model.layout.fields()[i].real;
            return model.layout.fields()[i].slot;
        }
    throw misstep::InputError("the model has no variable '" + field + "'");
}

}  // namespace

void bind_mlp(nb::module_& m) {
    nb::class_<Mlp>(m, "Mlp", "A multi-layer perceptron with ReLU between the layers.")
        .def(
            "__init__",
            [](Mlp* self, const std::vector<std::pair<Matrix, Row>>& layers) {
                std::vector<Mlp::Layer> native;
                for (const auto& [weights, biases] : layers) {
                    Mlp::Layer layer{static_cast<std::uint32_t>(weights.shape(1)),
                                     static_cast<std::uint32_t>(weights.shape(0)),
                                     std::vector<double>(weights.size()),
                                     std::vector<double>(biases.data(), biases.data() + biases.size())};
                    for (std::size_t o = 0; o < weights.shape(0); ++o)
                        for (std::size_t i = 0; i < weights.shape(1); ++i)
                            layer.weights[i * weights.shape(0) + o] = weights(o, i);
                    native.push_back(std::move(layer));
                }
                new (self) Mlp(std::move(native));
            },
            "layers"_a, "(weights of shape outputs x inputs, biases) of each layer, in float64.")
        .def_prop_ro("inputs", &Mlp::inputs)
        .def_prop_ro("outputs", &Mlp::outputs)
        .def(
            "__call__",
            [](const Mlp& mlp, Matrix x) {
                if (x.shape(1) != mlp.inputs())
                    throw misstep::InputError("the network expects another number of inputs");
                std::size_t rows = x.shape(0);
                auto* out = new double[std::max<std::size_t>(1, rows * mlp.outputs())];
                nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<double*>(p); });
                {
                    nb::gil_scoped_release release;
                    mlp.evaluate(x.data(), out, rows);
                }
                std::size_t shape[2] = {rows, mlp.outputs()};
                return nb::ndarray<nb::numpy, double, nb::ndim<2>>(out, 2, shape, owner);
            },
            "x"_a.noconvert(), "One row of outputs for each row of inputs; the same whatever the batch.");
    m.def(
        "mlp_policy",
        [](std::shared_ptr<misstep::jani::Model> model, std::shared_ptr<Mlp> network,
           const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
           bool filter) -> std::shared_ptr<misstep::safety::Policy> {
            std::vector<misstep::safety::Input> in;
            for (const std::string& field : inputs) {
                bool real = false;
                std::uint32_t slot = slot_of(*model, field, real);
                in.push_back({slot, real});
            }
            std::vector<std::uint32_t> out;
            for (const std::string& label : outputs) {
                auto found = std::find(model->labels.begin(), model->labels.end(), label);
                if (found == model->labels.end())
                    throw misstep::InputError("the model has no action '" + label + "'");
                out.push_back(static_cast<std::uint32_t>(found - model->labels.begin()));
            }
            return std::make_shared<misstep::safety::MlpPolicy>(std::move(network), std::move(in),
                                                                std::move(out), filter);
        },
        "model"_a, "network"_a, "inputs"_a, "outputs"_a, nb::kw_only(), "filter"_a,
        "argmax over the outputs, the first of equals; with the filter only over applicable labels.");
}
