// The two kernels against plain loops, and the class-by-class evaluation of a network against object by
// object.
#include <cmath>
#include <vector>

#include "nn/gnn_network.hpp"
#include "tests/check.hpp"
#include "util/rng.hpp"

using namespace misstep;

namespace {

float number(Rng& rng) {
    return static_cast<float>(rng.below(2001)) / 1000.0f - 1.0f;
}

bool close(float a, double b) {
    return std::fabs(a - b) <= 1e-5 * (1 + std::fabs(b));
}

std::vector<const GnnKernels*> all_kernels() {
    std::vector<const GnnKernels*> kernels{&kGenericGnnKernels};
#if defined(__x86_64__)
    if (&gnn_kernels() != &kGenericGnnKernels) kernels.push_back(&kAvx2GnnKernels);
#endif
    return kernels;
}

Linear random_layer(Rng& rng, std::size_t num_inputs, std::size_t num_outputs) {
    Linear layer{{}, {}, num_inputs, num_outputs};
    for (std::size_t i = 0; i < num_inputs * num_outputs; ++i) layer.weights.push_back(number(rng) / 4);
    for (std::size_t i = 0; i < num_outputs; ++i) layer.bias.push_back(number(rng));
    return layer;
}

Mlp random_mlp(Rng& rng, std::size_t first, std::size_t middle, std::size_t last) {
    return {random_layer(rng, first, middle), random_layer(rng, middle, last)};
}

}  // namespace

TEST(gnn_multiply_is_a_matrix_product) {
    Rng rng(1);
    for (const GnnKernels* kernels : all_kernels())
        for (std::size_t num_rows : {1, 2, 3, 4, 5, 6, 7, 200})
            for (std::size_t num_outputs : {8, 16, 24, 40}) {
                const std::size_t num_inputs = 24;
                Linear layer = random_layer(rng, num_inputs, num_outputs);
                PanelLayer panels(layer);
                std::vector<float> in(num_rows * num_inputs), out(num_rows * num_outputs);
                for (float& value : in) value = rng.below(3) == 0 ? number(rng) : 0.0f;
                std::vector<std::uint32_t> index, space(kChunk * num_inputs);
                for (std::size_t i = 0; i < num_rows; ++i)
                    index.push_back(
                        static_cast<std::uint32_t>(rng.below(static_cast<std::uint32_t>(num_rows))));
                kernels->multiply(panels.matrix(), in.data(), index.data(), num_rows, out.data(),
                                  space.data());
                bool same = true;
                for (std::size_t row = 0; row < num_rows; ++row)
                    for (std::size_t o = 0; o < num_outputs; ++o) {
                        double sum = layer.bias[o];
                        for (std::size_t i = 0; i < num_inputs; ++i)
                            sum +=
                                double{layer.weights[o * num_inputs + i]} * in[index[row] * num_inputs + i];
                        same &= close(out[row * num_outputs + o], sum);
                    }
                CHECK(same);
            }
}

TEST(gnn_smooth_maxima_are_exact_enough) {
    Rng rng(2);
    for (const GnnKernels* kernels : all_kernels()) {
        std::vector<float> messages(40 * 8);
        for (float& value : messages) value = number(rng) * (rng.below(2) == 0 ? 8.0f : 0.5f);
        std::vector<float> exponentials = messages;
        float largest = kernels->largest(messages.data(), messages.size());
        kernels->exponentials(exponentials.data(), exponentials.size(), largest);
        const std::vector<std::uint32_t> start{0, 0, 1, 4, 5};
        const std::vector<GnnKernels::Term> terms{{3, 1}, {7, 2}, {9, 1}, {39, 5}, {0, 1}};
        std::vector<float> out(4 * 8);
        kernels->smooth_maxima(exponentials.data(), start.data(), terms.data(), 4, 8, largest, out.data());
        bool same = true;
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t i = 0; i < 8; ++i) {
                double sum = 1e-16;
                for (std::uint32_t t = start[row]; t < start[row + 1]; ++t)
                    sum +=
                        terms[t].count * std::exp(8.0 * (messages[terms[t].row * 8 + i] - double{largest}));
                same &= close(out[row * 8 + i], std::log(sum) / 8 + largest);
            }
        CHECK(same);
    }
}

TEST(gnn_values_do_not_depend_on_the_order_of_rows_and_equal_states_have_equal_values) {
    Rng rng(3);
    const std::size_t h = 16;
    GnnWeights weights{h,
                       4,
                       {1, 2},
                       {random_mlp(rng, h, h, h), random_mlp(rng, 2 * h, 2 * h, 2 * h)},
                       random_mlp(rng, 2 * h, 2 * h, h),
                       {random_mlp(rng, h, h, h), random_mlp(rng, h, h, 1)},
                       {}};
    GnnNetwork network(weights);
    GnnEvaluator evaluator(network);
    // Objects 0 to 4 in states 0, 1 and 2; states 0 and 2 are the same but for the names of objects.
    auto node = [](std::uint32_t object, std::uint32_t state) { return object * 3 + state; };
    GnnBatch batch{3, 5, {{node(0, 0), node(1, 1), node(4, 2)}, {}}};
    for (auto [a, b] : {std::pair{0u, 1u}, {1u, 2u}, {2u, 3u}, {3u, 4u}}) {
        batch.rows[1].insert(batch.rows[1].end(), {node(a, 0), node(b, 0), node(a, 1), node(b, 1)});
        batch.rows[1].insert(batch.rows[1].begin(), {node(4 - a, 2), node(4 - b, 2)});
    }
    std::vector<float> values, again;
    evaluator.evaluate(batch, values);
    CHECK(close(values[0], values[2]));
    CHECK(!close(values[0], values[1]));
    evaluator.evaluate(batch, again);
    CHECK(values == again);
}

TEST(gnn_maxima_are_maxima_and_infinite_numbers_are_seen) {
    Rng rng(4);
    for (const GnnKernels* kernels : all_kernels()) {
        std::vector<float> messages(40 * 8);
        for (float& value : messages) value = number(rng);
        const std::vector<std::uint32_t> start{0, 0, 1, 4, 5};
        const std::vector<GnnKernels::Term> terms{{3, 1}, {7, 2}, {9, 1}, {39, 5}, {0, 1}};
        std::vector<float> out(4 * 8, 9.0f);
        kernels->maxima(messages.data(), start.data(), terms.data(), 4, 8, out.data());
        for (std::size_t row = 0; row < 4; ++row)
            for (std::size_t i = 0; i < 8; ++i) {
                float expected = start[row] == start[row + 1] ? 0.0f : -INFINITY;
                for (std::uint32_t t = start[row]; t < start[row + 1]; ++t)
                    expected = std::max(expected, messages[terms[t].row * 8 + i]);
                CHECK(out[row * 8 + i] == expected);
            }
        CHECK(kernels->all_finite(messages.data(), messages.size()));
        for (float wrong : {INFINITY, -INFINITY, std::nanf("")}) {
            std::vector<float> changed = messages;
            changed[rng.below(static_cast<std::uint32_t>(changed.size()))] = wrong;
            CHECK(!kernels->all_finite(changed.data(), changed.size()));
        }
    }
}

// A state alone, and between others: the same value to the last bit. With the smooth maximum it is not.
TEST(values_of_networks_with_plain_maxima_do_not_depend_on_the_batch) {
    Rng rng(5);
    const std::size_t h = 16;
    int smooth_differences = 0;
    for (GnnAggregation aggregation : {GnnAggregation::kMax, GnnAggregation::kSmoothMax})
        for (int repeat = 0; repeat < 10; ++repeat) {
            GnnWeights weights{h,
                               5,
                               {1, 2},
                               {random_mlp(rng, h, h, h), random_mlp(rng, 2 * h, 2 * h, 2 * h)},
                               random_mlp(rng, 2 * h, 2 * h, h),
                               {random_mlp(rng, h, h, h), random_mlp(rng, h, h, 1)},
                               Readout{random_mlp(rng, h, h, h), random_mlp(rng, h, h, 1)},
                               aggregation};
            GnnNetwork network(weights);
            GnnEvaluator evaluator(network);
            const std::uint32_t num_states = 7, num_objects = 6;
            GnnBatch batch{num_states, num_objects, {{}, {}}};
            std::vector<GnnBatch> alone(num_states, GnnBatch{1, num_objects, {{}, {}}});
            for (std::uint32_t s = 0; s < num_states; ++s)
                for (std::size_t relation : {0, 1})
                    for (std::uint32_t row = 0; row < 4; ++row)
                        for (std::size_t j = 0; j <= relation; ++j) {
                            const std::uint32_t object = rng.below(num_objects);
                            batch.rows[relation].push_back(object * num_states + s);
                            alone[s].rows[relation].push_back(object);
                        }
            std::vector<float> together, single;
            evaluator.evaluate(batch, together);
            for (std::uint32_t s = 0; s < num_states; ++s) {
                evaluator.evaluate(alone[s], single);
                if (aggregation == GnnAggregation::kMax)
                    CHECK(single[0] == together[s]);
                else
                    smooth_differences += single[0] != together[s];
            }
        }
    CHECK(smooth_differences > 0);
}
