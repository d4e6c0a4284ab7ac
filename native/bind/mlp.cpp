// Networks and tree ensembles for Python, evaluated in batches; policies over their scores.
#include "nn/mlp.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bind/bind.hpp"
#include "nn/trees.hpp"
#include "safety/policy.hpp"
#include "util/error.hpp"

using namespace nb::literals;
using misstep::nn::Mlp;
using misstep::nn::Scorer;
using misstep::nn::TreeEnsemble;

namespace {

using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

misstep::nn::Activation activation_of(const std::string& name) {
    using misstep::nn::Activation;
    static const std::pair<const char*, Activation> kKnown[] = {
        {"relu", Activation::kRelu},         {"tanh", Activation::kTanh},
        {"sigmoid", Activation::kSigmoid},   {"elu", Activation::kElu},
        {"gelu", Activation::kGelu},         {"leaky-relu", Activation::kLeakyRelu},
        {"softplus", Activation::kSoftplus}, {"identity", Activation::kIdentity}};
    std::string names;
    for (const auto& [text, activation] : kKnown) {
        if (name == text) return activation;
        names += std::string(names.empty() ? "" : ", ") + text;
    }
    throw misstep::InputError("unknown activation '" + name + "'; there are " + names);
}

std::uint32_t slot_of(const misstep::jani::Model& model, const std::string& field, bool& real) {
    for (std::uint32_t i = 0; i < model.layout.fields().size(); ++i)
        if (model.field_name(i) == field) {
            real = model.layout.fields()[i].real;
            return model.layout.fields()[i].slot;
        }
    throw misstep::InputError("the model has no variable '" + field + "'");
}

void bind_scorer(nb::module_& m) {
    nb::class_<Scorer>(m, "Scorer", "A number for each output, from a row of inputs.")
        .def_prop_ro("inputs", &Scorer::inputs)
        .def_prop_ro("outputs", &Scorer::outputs)
        .def(
            "__call__",
            [](const Scorer& scorer, Matrix x) {
                if (x.shape(1) != scorer.inputs())
                    throw misstep::InputError("the network expects another number of inputs");
                std::size_t rows = x.shape(0);
                auto* out = new double[std::max<std::size_t>(1, rows * scorer.outputs())];
                nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<double*>(p); });
                {
                    nb::gil_scoped_release release;
                    scorer.evaluate(x.data(), out, rows);
                }
                std::size_t shape[2] = {rows, scorer.outputs()};
                return nb::ndarray<nb::numpy, double, nb::ndim<2>>(out, 2, shape, owner);
            },
            "x"_a.noconvert(), "One row of outputs for each row of inputs; the same whatever the batch.");
}

}  // namespace

void bind_mlp(nb::module_& m) {
    bind_scorer(m);
    nb::class_<Mlp, Scorer>(m, "Mlp", "A multi-layer perceptron: linear layers, an activation between.")
        .def(
            "__init__",
            [](Mlp* self, const std::vector<std::pair<Matrix, Row>>& layers, const std::string& activation) {
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
                new (self) Mlp(std::move(native), activation_of(activation));
            },
            "layers"_a, nb::kw_only(), "activation"_a,
            "(weights of shape outputs x inputs, biases) of each layer, in float64; `activation` as in "
            "PyTorch: relu, tanh, sigmoid, elu, gelu, leaky-relu, softplus or identity.");
    using Node = std::tuple<std::int32_t, double, std::uint32_t, std::uint32_t, std::uint32_t>;
    nb::class_<TreeEnsemble, Scorer>(m, "TreeEnsemble", "A base score a row plus the leaves that it reaches.")
        .def(
            "__init__",
            [](TreeEnsemble* self, std::uint32_t inputs, std::vector<double> base,
               std::vector<std::uint32_t> roots, const std::vector<Node>& nodes, std::vector<double> values) {
                std::vector<TreeEnsemble::Node> native;
                for (const auto& [feature, split, below, above, output] : nodes)
                    native.push_back({feature, split, below, above, output});
                new (self) TreeEnsemble(inputs, std::move(base), std::move(roots), std::move(native),
                                        std::move(values));
            },
            "inputs"_a, "base"_a, "roots"_a, "nodes"_a, "values"_a,
            "Nodes are (feature, split, below, above, output); a leaf has feature -1 and adds the `above` "
            "values "
            "from values[below] on to the outputs from `output` on.");
    m.def(
        "score_policy",
        [](std::shared_ptr<misstep::jani::Model> model, std::shared_ptr<Scorer> network,
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
            return std::make_shared<misstep::safety::ScorePolicy>(std::move(network), std::move(in),
                                                                  std::move(out), filter);
        },
        "model"_a, "network"_a, "inputs"_a, "outputs"_a, nb::kw_only(), "filter"_a,
        "argmax over the outputs, the first of equals; with the filter only over applicable labels.");
}
