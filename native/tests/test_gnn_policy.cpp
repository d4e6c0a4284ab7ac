// The GNN policy: its encoding of successors against batches written out by hand, no-ops, ties, wrong shapes.
#include <limits>
#include <memory>

#include "nn/gnn.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;

namespace {

constexpr std::size_t kHidden = 8;
constexpr std::uint32_t kPlaces = 3;

Linear random_layer(Rng& rng, std::size_t num_inputs, std::size_t num_outputs) {
    Linear layer{{}, {}, num_inputs, num_outputs};
    for (std::size_t i = 0; i < num_inputs * num_outputs; ++i)
        layer.weights.push_back(static_cast<float>(rng.uniform() - 0.5));
    for (std::size_t i = 0; i < num_outputs; ++i)
        layer.bias.push_back(static_cast<float>(rng.uniform() - 0.5));
    return layer;
}

Mlp random_mlp(Rng& rng, std::size_t first, std::size_t middle, std::size_t last) {
    return {random_layer(rng, first, middle), random_layer(rng, middle, last)};
}

// Relation 0 says where one is, relation 1 which places are linked.
std::shared_ptr<const GnnNetwork> random_network(Rng& rng) {
    const std::size_t h = kHidden;
    return std::make_shared<const GnnNetwork>(
        GnnWeights{h,
                   3,
                   {1, 2},
                   {random_mlp(rng, h, h, h), random_mlp(rng, 2 * h, 2 * h, 2 * h)},
                   random_mlp(rng, 2 * h, 2 * h, h),
                   {random_mlp(rng, h, h, h), random_mlp(rng, h, h, 1)},
                   {}});
}

// Places in a row, 0 to 2.
Task row() {
    Task task;
    task.variables = {{"at", {"(at 0)", "(at 1)", "(at 2)"}}};
    for (std::int32_t from = 0; from < 2; ++from) {
        task.actions.push_back({"(right)", {{0, from}}, {{0, from + 1}}, 1});
        task.actions.push_back({"(left)", {{0, from + 1}}, {{0, from}}, 1});
    }
    task.initial = {1};
    task.goal = {{0, 2}};
    return task;
}

GnnEncoding encoding() {
    GnnEncoding result;
    result.num_objects = kPlaces;
    result.fixed = {{}, {0, 1, 1, 2}};
    for (std::uint32_t place = 0; place < kPlaces; ++place)
        result.facts.push_back({{0, static_cast<std::int32_t>(place)}, 0, {place}});
    result.rank = {0, 1, 2, 3};
    return result;
}

}  // namespace

TEST(gnn_policies_go_to_the_successor_of_least_value) {
    Rng rng(131);
    Task task = row();
    StateSpace space(task);
    WholeSpace whole(space);
    int right = 0;
    for (int i = 0; i < 40; ++i) {
        auto network = random_network(rng);
        GnnPolicy policy(space, network, encoding());
        // From the middle: (left) is action 1, to place 0; (right) is action 2, to place 2.
        GnnEvaluator evaluator(*network);
        GnnBatch batch{2, kPlaces, {{0 * 2 + 0, 2 * 2 + 1}, {0, 2, 1, 3, 2, 4, 3, 5}}};
        std::vector<float> expected;
        evaluator.evaluate(batch, expected);
        std::vector<GnnPolicy::Candidate> found = policy.values(whole.words(1));
        CHECK(found.size() == 2 && found[0].action == 1 && found[1].action == 2);
        CHECK(found[0].value == expected[0] && found[1].value == expected[1]);
        CHECK(*found[0].name == "(left)" && *found[1].name == "(right)");
        const Word* state = whole.words(1);
        ActionId chosen = kNoAction;
        policy.choose({&state, 1}, &chosen);
        CHECK(chosen == (expected[1] < expected[0] ? 2U : 1U));
        right += chosen == 2;
    }
    CHECK(right > 0 && right < 40);
}

TEST(no_ops_compete_and_ranks_decide_between_equal_values) {
    Rng rng(132);
    Task task = row();
    task.actions.push_back({"(jump)", {{0, 0}}, {{0, 1}}, 1});  // as (right) from place 0
    StateSpace space(task);
    WholeSpace whole(space);
    const Word* state = whole.words(0);
    for (int i = 0; i < 20; ++i) {
        auto network = random_network(rng);
        GnnEncoding ranked = encoding();
        for (bool jump_first : {false, true}) {
            ranked.rank = {1, 5, 6, 7, jump_first ? 0U : 2U};
            GnnPolicy policy(space, network, ranked);
            ActionId chosen = kNoAction;
            policy.choose({&state, 1}, &chosen);
            CHECK(chosen == (jump_first ? 4U : 0U));
        }
        ranked.noops = {{"(stay)", {{0, 0}}, {}}, {"(never)", {{0, 0}}, {{0, 0}}}};
        ranked.rank.insert(ranked.rank.end(), {8, 9});
        GnnPolicy policy(space, network, ranked);
        std::vector<GnnPolicy::Candidate> found = policy.values(state);
        CHECK(found.size() == 3 && found[2].action == kUnknownAction && *found[2].name == "(stay)");
        ActionId chosen = kNoAction;
        policy.choose({&state, 1}, &chosen);
        CHECK((chosen == kUnknownAction) == (found[2].value < found[0].value));
    }
}

TEST(encodings_that_do_not_fit_are_refused) {
    Rng rng(133);
    Task task = row();
    StateSpace space(task);
    auto network = random_network(rng);
    auto refused = [&](auto change) {
        GnnEncoding wrong = encoding();
        change(wrong);
        CHECK_THROWS(InputError, GnnPolicy(space, network, wrong));
    };
    refused([](GnnEncoding& e) { e.fixed.pop_back(); });
    refused([](GnnEncoding& e) { e.fixed[1].push_back(0); });
    refused([](GnnEncoding& e) { e.facts[0].objects = {7}; });
    refused([](GnnEncoding& e) { e.facts[0].fact = {0, 9}; });
    refused([](GnnEncoding& e) { e.rank.pop_back(); });
    refused([](GnnEncoding& e) { e.noops.push_back({"(x)", {{5, 0}}, {}}); });
}

// Objects that look alike share a class; each round looks one atom further.
TEST(refinement_tells_objects_apart_round_by_round) {
    Refinement refinement({1, 2});
    // A path 0 - 1 - 2 - 3 - 4 with a mark on 0; one state.
    GnnBatch batch{1, 5, {{0}, {0, 1, 1, 2, 2, 3, 3, 4}}};
    refinement.start(batch);
    refinement.refine();
    CHECK(refinement.num_old_classes() == 1 && refinement.num_classes() == 3);  // the ends, the middle
    std::span<const Refinement::Class> classes = refinement.classes();
    CHECK(classes[1] == classes[2] && classes[2] == classes[3] && classes[0] != classes[4]);
    refinement.refine();
    CHECK(refinement.num_classes() == 5);
    refinement.refine();
    CHECK(refinement.num_classes() == 5 && refinement.num_old_classes() == 5);
}

// A network that scores actions sees each as an object; the batch is written out by hand.
TEST(gnn_policies_can_score_the_actions_of_a_state) {
    Rng rng(134);
    Task task = row();
    StateSpace space(task);
    WholeSpace whole(space);
    const std::size_t h = kHidden;
    int right = 0;
    for (int i = 0; i < 40; ++i) {
        auto network = std::make_shared<const GnnNetwork>(
            GnnWeights{h,
                       3,
                       {1, 2, 2},
                       {random_mlp(rng, h, h, h), random_mlp(rng, 2 * h, 2 * h, 2 * h),
                        random_mlp(rng, 2 * h, 2 * h, 2 * h)},
                       random_mlp(rng, 2 * h, 2 * h, h),
                       {random_mlp(rng, h, h, h), random_mlp(rng, h, h, 1)},
                       {},
                       GnnAggregation::kMax,
                       true});
        GnnEncoding scored = encoding();
        scored.fixed.emplace_back();
        // Each action goes with the place that it leads to.
        scored.actions = {{2, {1}}, {2, {0}}, {2, {2}}, {2, {1}}};
        GnnPolicy policy(space, network, scored);
        GnnEvaluator evaluator(*network);
        GnnBatch batch{1, kPlaces + 2, {{1}, {0, 1, 1, 2}, {3, 0, 4, 2}}, kPlaces};
        std::vector<float> expected;
        evaluator.evaluate(batch, expected);
        std::vector<GnnPolicy::Candidate> found = policy.values(whole.words(1));
        CHECK(found.size() == 2 && found[0].action == 1 && found[1].action == 2);
        CHECK(found[0].value == expected[0] && found[1].value == expected[1]);
        const Word* state = whole.words(1);
        ActionId chosen = kNoAction;
        policy.choose({&state, 1}, &chosen);
        CHECK(chosen == (expected[1] < expected[0] ? 2U : 1U));
        right += chosen == 2;
        scored.actions[0].objects = {1, 2};
        CHECK_THROWS(InputError, GnnPolicy(space, network, scored));
        scored.actions.clear();
        CHECK_THROWS(InputError, GnnPolicy(space, network, scored));
    }
    CHECK(right > 0 && right < 40);
}
