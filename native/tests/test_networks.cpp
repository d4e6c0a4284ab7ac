// Perceptrons, tree ensembles, ASNets and the GNN policy against their definitions in double precision.
#include <cmath>
#include <memory>
#include <vector>

#include "nn/asnet.hpp"
#include "nn/gnn.hpp"
#include "nn/mlp.hpp"
#include "nn/trees.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

double number(Rng& rng) {
    return static_cast<double>(rng.below(2001)) / 1000 - 1;
}

using Vector = std::vector<double>;

// out = bias + inputs * weights, where weights are (inputs, outputs).
template <class Weights>
Vector affine(const Vector& inputs, const Weights& weights, const Weights& bias) {
    Vector out(bias.begin(), bias.end());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t o = 0; o < out.size(); ++o) out[o] += inputs[i] * weights[i * out.size() + o];
    return out;
}

Vector elu(Vector values) {
    for (double& v : values) v = v > 0 ? v : std::expm1(v);
    return values;
}

AsnetModule random_module(Rng& rng, std::size_t inputs, std::size_t outputs) {
    AsnetModule module;
    for (std::size_t i = 0; i < inputs * outputs; ++i)
        module.weights.push_back(static_cast<float>(number(rng) / 2));
    for (std::size_t i = 0; i < outputs; ++i) module.bias.push_back(static_cast<float>(number(rng)));
    return module;
}

// Two schemas over the task's actions, two predicates over random facts, any facts in the slots.
AsnetNetwork random_asnet(Rng& rng, const Task& task) {
    AsnetNetwork net;
    net.hidden = 1 + static_cast<int>(rng.below(12));
    const auto hidden = static_cast<std::size_t>(net.hidden);
    const std::size_t layers = 1 + pick(rng, 3), slots[2] = {1 + pick(rng, 3), 1 + pick(rng, 2)};
    const auto half = static_cast<std::int32_t>(task.actions.size() / 2);
    for (std::int32_t a = 0; a < task.num_actions(); ++a)
        if (a % 5 != 4) net.operators.push_back(a);  // some actions are left out
    std::int32_t first_schema = 0;
    for (std::int32_t action : net.operators) first_schema += action < half;
    net.schema_start = {0, first_schema, static_cast<std::int32_t>(net.operators.size())};
    net.predicate_start = {0, 4, 7};
    for (int fact = 0; fact < 7; ++fact) {
        const std::size_t var = pick(rng, task.variables.size());
        net.fact_variables.push_back(rng.below(5) == 0 ? -1 : static_cast<std::int32_t>(var));
        net.fact_values.push_back(static_cast<std::int32_t>(pick(rng, task.variables[var].values.size())));
        net.goal.push_back(rng.below(2) == 0);
    }
    net.predicate_slots.resize(2);
    for (std::size_t schema = 0; schema < 2; ++schema) {
        std::vector<std::size_t> predicate;
        for (std::size_t slot = 0; slot < slots[schema]; ++slot) {
            predicate.push_back(pick(rng, 2));
            net.predicate_slots[predicate.back()].emplace_back(static_cast<int>(schema),
                                                               static_cast<int>(slot));
        }
        std::vector<std::int32_t> facts;
        for (std::int32_t op = net.schema_start[schema]; op < net.schema_start[schema + 1]; ++op)
            for (std::size_t p : predicate) {
                const auto size =
                    static_cast<std::size_t>(net.predicate_start[p + 1] - net.predicate_start[p]);
                const auto fact = static_cast<std::int32_t>(pick(rng, size)) + net.predicate_start[p];
                facts.push_back(rng.below(4) == 0 ? -1 : fact);
            }
        net.slot_facts.push_back(std::move(facts));
    }
    for (std::size_t layer = 0; layer <= layers; ++layer) {
        net.action_modules.emplace_back();
        for (std::size_t n : slots)
            net.action_modules.back().push_back(
                random_module(rng, layer == 0 ? 2 * n + 1 : (n + 1) * hidden, layer == layers ? 1 : hidden));
        if (layer == layers) break;
        net.predicate_modules.emplace_back();
        for (const auto& own : net.predicate_slots)
            net.predicate_modules.back().push_back(
                random_module(rng, (own.size() + (layer > 0 ? 1 : 0)) * hidden, hidden));
    }
    return net;
}

// The network as the paper defines it: operator by operator, fact by fact.
class PlainAsnet {
  public:
    PlainAsnet(const AsnetNetwork& net, const WholeSpace& whole) : net_(net), whole_(whole) {}

    // By operator; those of actions that are not applicable are of no interest.
    Vector scores(std::size_t state) {
        first_layer(state);
        for (std::size_t layer = 0; layer < net_.predicate_modules.size(); ++layer) {
            predicate_layer(layer);
            action_layer(layer + 1);
        }
        Vector result;
        for (const Vector& op : operators_) result.push_back(op[0]);
        return result;
    }

  private:
    std::size_t schema_of(std::size_t op) const {
        return static_cast<std::int32_t>(op) < net_.schema_start[1] ? 0 : 1;
    }
    std::size_t num_slots(std::size_t schema) const {
        return static_cast<std::size_t>(net_.num_slots(static_cast<int>(schema)));
    }
    std::int32_t fact_of(std::size_t op, std::size_t slot) const {
        const std::size_t schema = schema_of(op);
        const std::size_t row = op - static_cast<std::size_t>(net_.schema_start[schema]);
        return net_.slot_facts[schema][row * num_slots(schema) + slot];
    }
    bool is_true(std::size_t fact, std::size_t state) const {
        const std::int32_t var = net_.fact_variables[fact];
        return var < 0 || whole_.values(state)[static_cast<std::size_t>(var)] == net_.fact_values[fact];
    }
    void first_layer(std::size_t state) {
        operators_.clear();
        for (std::size_t op = 0; op < net_.operators.size(); ++op) {
            const std::size_t slots = num_slots(schema_of(op));
            Vector inputs(2 * slots + 1, -1.0);
            for (std::size_t slot = 0; slot < slots; ++slot)
                if (const std::int32_t fact = fact_of(op, slot); fact >= 0) {
                    inputs[slot] = is_true(static_cast<std::size_t>(fact), state);
                    inputs[slots + slot] = net_.goal[static_cast<std::size_t>(fact)];
                }
            inputs.back() = whole_.is_applicable(state, static_cast<ActionId>(net_.operators[op]));
            const AsnetModule& module = net_.action_modules[0][schema_of(op)];
            operators_.push_back(elu(affine(inputs, module.weights, module.bias)));
        }
    }
    void predicate_layer(std::size_t layer) {
        const auto hidden = static_cast<std::size_t>(net_.hidden);
        std::vector<Vector> next;
        for (std::size_t fact = 0; fact < net_.fact_variables.size(); ++fact) {
            const std::size_t predicate = static_cast<std::int32_t>(fact) < net_.predicate_start[1] ? 0 : 1;
            Vector inputs;
            for (auto [schema, slot] : net_.predicate_slots[predicate]) {
                Vector pooled(hidden, -1.0);
                bool is_first = true;
                for (std::size_t op = 0; op < operators_.size(); ++op) {
                    if (schema_of(op) != static_cast<std::size_t>(schema)) continue;
                    if (fact_of(op, static_cast<std::size_t>(slot)) != static_cast<std::int32_t>(fact))
                        continue;
                    for (std::size_t c = 0; c < hidden; ++c)
                        pooled[c] = is_first ? operators_[op][c] : std::max(pooled[c], operators_[op][c]);
                    is_first = false;
                }
                inputs.insert(inputs.end(), pooled.begin(), pooled.end());
            }
            if (layer > 0) inputs.insert(inputs.end(), facts_[fact].begin(), facts_[fact].end());
            const AsnetModule& module = net_.predicate_modules[layer][predicate];
            next.push_back(elu(affine(inputs, module.weights, module.bias)));
        }
        facts_ = std::move(next);
    }
    void action_layer(std::size_t layer) {
        const Vector missing(static_cast<std::size_t>(net_.hidden), -1.0);
        for (std::size_t op = 0; op < operators_.size(); ++op) {
            Vector inputs;
            for (std::size_t slot = 0; slot < num_slots(schema_of(op)); ++slot) {
                const std::int32_t fact = fact_of(op, slot);
                const Vector& read = fact < 0 ? missing : facts_[static_cast<std::size_t>(fact)];
                inputs.insert(inputs.end(), read.begin(), read.end());
            }
            inputs.insert(inputs.end(), operators_[op].begin(), operators_[op].end());
            const AsnetModule& module = net_.action_modules[layer][schema_of(op)];
            Vector out = affine(inputs, module.weights, module.bias);
            operators_[op] = layer + 1 == net_.action_modules.size() ? out : elu(out);
        }
    }

    const AsnetNetwork& net_;
    const WholeSpace& whole_;
    std::vector<Vector> operators_, facts_;
};

}  // namespace

TEST(perceptrons_are_affine_maps_with_an_activation_between) {
    using nn::Activation;
    const std::vector<std::pair<Activation, double (*)(double)>> activations{
        {Activation::kRelu, [](double x) { return std::max(x, 0.0); }},
        {Activation::kTanh, [](double x) { return 1 - 2 / (std::exp(2 * x) + 1); }},
        {Activation::kSigmoid, [](double x) { return (1 + std::tanh(x / 2)) / 2; }},
        {Activation::kElu, [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
        {Activation::kLeakyRelu, [](double x) { return std::max(x, 0.01 * x); }},
        {Activation::kSoftplus, [](double x) { return std::log(1 + std::exp(x)); }},
        {Activation::kIdentity, [](double x) { return x; }}};
    Rng rng(121);
    for (int i = 0; i < 100; ++i) {
        std::vector<nn::Mlp::Layer> layers;
        std::uint32_t inputs = 1 + static_cast<std::uint32_t>(rng.below(5));
        const std::uint32_t first = inputs;
        for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
            nn::Mlp::Layer layer{inputs, 1 + static_cast<std::uint32_t>(rng.below(6)), {}, {}};
            for (std::uint32_t k = 0; k < layer.inputs * layer.outputs; ++k)
                layer.weights.push_back(number(rng));
            for (std::uint32_t k = 0; k < layer.outputs; ++k) layer.biases.push_back(number(rng));
            inputs = layer.outputs;
            layers.push_back(std::move(layer));
        }
        const auto& [activation, plain] = activations[static_cast<std::size_t>(i) % activations.size()];
        nn::Mlp mlp(layers, activation);
        Vector in(3 * first), out(3 * mlp.outputs());
        for (double& x : in) x = number(rng);
        mlp.evaluate(in.data(), out.data(), 3);
        for (std::size_t row = 0; row < 3; ++row) {
            Vector x(in.begin() + static_cast<std::ptrdiff_t>(row * first),
                     in.begin() + static_cast<std::ptrdiff_t>((row + 1) * first));
            for (std::size_t k = 0; k < layers.size(); ++k) {
                x = affine(x, layers[k].weights, layers[k].biases);
                if (k + 1 < layers.size())
                    for (double& v : x) v = plain(v);
            }
            for (std::size_t o = 0; o < x.size(); ++o)
                CHECK(std::abs(x[o] - out[row * mlp.outputs() + o]) < 1e-12);
        }
        layers.back().biases.pop_back();
        CHECK_THROWS(InputError, nn::Mlp(layers, activation));
    }
    CHECK_THROWS(InputError, nn::Mlp({{1, 2, {1, 1}, {0, 0}}, {3, 1, {1, 1, 1}, {0}}}, Activation::kRelu));
}

TEST(tree_ensembles_add_the_leaves_that_inputs_reach) {
    // If x0 < 1 then (x1 < 2 ? output 0 gets 10 : output 1 gets 20) else both get (1, 2); a stump adds 5
    // to 1.
    nn::TreeEnsemble trees(2, {0.5, 0.25}, {0, 5},
                           {{0, 1.0, 1, 4, 0},
                            {1, 2.0, 2, 3, 0},
                            {-1, 0, 0, 1, 0},
                            {-1, 0, 1, 1, 1},
                            {-1, 0, 2, 2, 0},
                            {-1, 0, 4, 1, 1}},
                           {10, 20, 1, 2, 5});
    const Vector in{0, 0, 0, 2, 1, 0};
    Vector out(6);
    trees.evaluate(in.data(), out.data(), 3);
    CHECK(out == Vector({10.5, 5.25, 0.5, 25.25, 1.5, 7.25}));
    CHECK_THROWS(InputError, nn::TreeEnsemble(1, {0}, {1}, {{-1, 0, 0, 0, 0}}, {}));
    CHECK_THROWS(InputError, nn::TreeEnsemble(1, {0}, {0}, {{0, 0, 0, 0, 0}}, {}));  // would never end
    CHECK_THROWS(InputError, nn::TreeEnsemble(1, {0}, {0}, {{-1, 0, 0, 2, 0}}, {1}));
}

TEST(asnets_score_as_their_definition_says) {
    Rng rng(122);
    int scored = 0;
    for (int i = 0; i < 120; ++i) {
        Task task = random_task(rng, {.max_actions = 30});
        if (task.actions.size() < 6) continue;
        StateSpace space(task);
        WholeSpace whole(space);
        AsnetNetwork net = random_asnet(rng, task);
        AsnetPolicy policy(space, net);
        PlainAsnet plain(net, whole);
        for (std::size_t s = 0; s < whole.size(); s += 7) {
            Vector expected = plain.scores(s);
            std::vector<ActionScore> scores = policy.scores(whole.words(s));
            std::size_t next = 0;
            ActionId best = kNoAction;
            for (std::size_t op = 0; op < expected.size(); ++op) {
                const auto action = static_cast<ActionId>(net.operators[op]);
                if (!whole.is_applicable(s, action)) continue;
                CHECK(next < scores.size() && scores[next].action == action);
                CHECK(std::abs(scores[next].score - expected[op]) < 1e-4 * (1 + std::abs(expected[op])));
                const bool is_better = best == kNoAction || scores[next].score > scores[0].score;
                if (is_better) std::swap(scores[0], scores[next]);
                best = scores[0].action;
                ++next;
                ++scored;
            }
            CHECK(next == scores.size());
            const Word* words = whole.words(s);
            ActionId chosen = kUnknownAction;
            policy.choose({&words, 1}, &chosen);
            CHECK(chosen == best);
        }
    }
    CHECK(scored > 1000);
}

TEST(malformed_asnets_are_refused) {
    Rng rng(123);
    Task task = random_task(rng);
    while (task.actions.size() < 6) task = random_task(rng);
    StateSpace space(task);
    const AsnetNetwork net = random_asnet(rng, task);
    check_network(net, space);
    auto refused = [&](auto change) {
        AsnetNetwork wrong = net;
        change(wrong);
        CHECK_THROWS(InputError, (check_network(wrong, space), 0));
    };
    refused([](AsnetNetwork& n) { n.hidden = kMaxAsnetHidden + 1; });
    refused([](AsnetNetwork& n) { n.operators[0] = 1000; });
    refused([](AsnetNetwork& n) { n.fact_values.pop_back(); });
    refused([](AsnetNetwork& n) { n.action_modules[0][0].bias.pop_back(); });
    refused([](AsnetNetwork& n) { n.slot_facts[0].pop_back(); });
    refused([](AsnetNetwork& n) { n.predicate_slots[0].emplace_back(0, 0); });
}
