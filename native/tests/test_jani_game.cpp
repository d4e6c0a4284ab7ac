// The game of a JANI model: moves by label, leaves, horizons, weights of outcomes, policies over scores.
#include <cmath>
#include <set>

#include "nn/mlp.hpp"
#include "safety/decider.hpp"
#include "safety/jani_game.hpp"
#include "tests/check.hpp"
#include "tests/jani_models.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::testing;
using safety::JaniGame;
using safety::Leaf;

namespace {

// x goes up by `a`, by one or two; `b` leaves it or takes one away; both while it is at most 2.
PlainModel stairs() {
    auto x_plus = [](int n) {
        return within_bounds({R"({"op": "+", "left": "x", "right": )" + std::to_string(n) + "}",
                              [n](Point p) { return p[0] + n; }});
    };
    const Formula low{R"({"op": "≤", "left": "x", "right": 2})", [](Point p) { return p[0] <= 2; }};
    const Formula y{R"("y")", [](Point p) { return p[1]; }};
    return PlainModel(
        {{0, low, {{x_plus(1), y}, {x_plus(2), y}}}, {1, low, {{x_plus(0), y}, {x_plus(-1), y}}}});
}

std::string x_is(int value) {
    return R"({"op": "=", "left": "x", "right": )" + std::to_string(value) + "}";
}

JaniGame game_of(const std::shared_ptr<jani::Model>& model, std::shared_ptr<safety::Policy> policy,
                 std::optional<std::uint32_t> horizon = std::nullopt) {
    JaniGame::Setup setup;
    setup.unsafe = condition(*model, x_is(3));
    setup.goal = condition(*model, x_is(4));
    setup.policy = std::move(policy);
    setup.horizon = horizon;
    setup.by_edge = true;
    return JaniGame(model, std::move(setup));
}

// Scores of `a` and `b`: x and 1, so that `a`, the first of equals, is chosen from 1 on.
std::shared_ptr<safety::Policy> climbs_from_one(const jani::Model& model, bool filter) {
    auto network = std::make_shared<nn::Mlp>(std::vector<nn::Mlp::Layer>{{1, 2, {1, 0}, {0, 1}}},
                                             nn::Activation::kIdentity);
    std::vector<safety::Input> inputs{{model.find_variable("x")->slot, false}};
    return std::make_shared<safety::ScorePolicy>(network, inputs, std::vector<std::uint32_t>{0, 1}, filter);
}

}  // namespace

TEST(moves_of_a_model_are_grouped_by_label_with_the_policy_first) {
    auto model = load(stairs().json);
    JaniGame game = game_of(model, climbs_from_one(*model, true));
    auto& successors = game.successors();
    const std::uint32_t slot = model->find_variable("x")->slot;
    const safety::StateId start = game.state(jani::initial_states(successors, 10).at(0));
    std::set<std::int64_t> seen;
    std::vector<safety::StateId> open{start};
    for (std::size_t i = 0; i < open.size(); ++i) {
        const std::int64_t x = successors.load(game.model_state(open[i]))[slot].i;
        if (!seen.insert(x).second) continue;
        CHECK(game.leaf(open[i]) == (x == 3 ? Leaf::unsafe : x == 4 ? Leaf::goal : Leaf::none));
        CHECK(game.distance(open[i]) == static_cast<double>(std::abs(x - 3)));
        safety::Moves moves = game.moves(open[i]);
        CHECK(moves.size() == (x <= 2 ? 2 : 0));
        for (std::uint32_t m = 0; m < moves.size(); ++m) {
            CHECK((moves[m].label == (x >= 1 ? 0U : 1U)) == !moves[m].deviates);
            std::set<std::int64_t> outcomes, expected;
            for (safety::StateId t : moves[m].outcomes) {
                outcomes.insert(successors.load(game.model_state(t))[slot].i);
                open.push_back(t);
            }
            if (moves[m].label == 0) expected = {x + 1, x + 2};
            if (moves[m].label == 1) expected = {x, std::max(x - 1, kLowest)};
            CHECK(outcomes == expected);
            std::vector<double> weights;
            game.weights(open[i], moves[m], weights);
            for (double weight : weights) CHECK(weight == (outcomes.size() == 1 ? 1.0 : 0.5));
        }
    }
    CHECK(seen == std::set<std::int64_t>({-3, -2, -1, 0, 1, 2, 3, 4}));
}

TEST(safety_of_a_model_is_what_one_works_out_by_hand) {
    // From 1 and 2 the policy climbs and may come to 3; below it stays or goes down, for ever safe.
    auto model = load(stairs().json);
    JaniGame game = game_of(model, climbs_from_one(*model, true));
    auto decider = safety::make_decider("level", game, safety::OutcomeOrder::shared);
    auto radius = [&](std::int64_t x) {
        jani::Value* frame = game.successors().load(jani::initial_states(game.successors(), 10).at(0));
        frame[model->find_variable("x")->slot] = jani::make(x);
        return decider->minimal_radius(game.state(game.successors().store()), 3, unlimited());
    };
    CHECK(radius(0) == 0U && radius(-3) == 0U && radius(4) == 0U);
    CHECK(!radius(3));
    // In 1 and 2 not to climb is a deviation, and the adversary may let it stay there as often as it likes.
    CHECK(!radius(1) && !radius(2));
    auto always = safety::make_decider("tarjan", game, safety::OutcomeOrder::shared);
    jani::Value* frame = game.successors().load(jani::initial_states(game.successors(), 10).at(0));
    frame[model->find_variable("x")->slot] = jani::make(std::int64_t{2});
    const safety::StateId two = game.state(game.successors().store());
    CHECK(always->decide(two, safety::infinite, unlimited()).verdict == safety::Verdict::safe);
}

TEST(after_the_horizon_every_state_is_a_leaf) {
    auto model = load(stairs().json);
    for (std::uint32_t horizon : {0U, 1U, 2U, 3U}) {
        JaniGame game = game_of(model, nullptr, horizon);
        const safety::StateId start = game.state(jani::initial_states(game.successors(), 10).at(0));
        auto decider = safety::make_decider("level", game, safety::OutcomeOrder::shared);
        // Without a policy every move deviates: one deviation a step.
        CHECK(decider->minimal_radius(start, 9, unlimited()) == horizon);
        for (safety::StateId s = 0; s < game.size(); ++s)
            CHECK(game.step(s) <= horizon && (game.step(s) < horizon || game.leaf(s) != Leaf::none));
    }
}

TEST(score_policies_choose_the_best_output_and_may_look_at_applicable_ones_only) {
    auto model = load(stairs().json);
    std::vector<jani::Value> frame = model->program.frame();
    std::vector<double> scores;
    auto choose = [&](bool filter, std::int64_t x, std::vector<std::uint32_t> applicable) {
        frame[model->find_variable("x")->slot] = jani::make(x);
        return climbs_from_one(*model, filter)->choose(frame.data(), applicable, scores);
    };
    CHECK(choose(true, 3, {0, 1}) == 0 && scores == std::vector<double>({3, 1}));
    CHECK(choose(true, 1, {0, 1}) == 0);  // the first of equals
    CHECK(choose(true, 0, {0, 1}) == 1);
    CHECK(choose(true, 3, {1}) == 1 && choose(false, 3, {1}) == 0);
    CHECK(choose(true, 3, {2}) == 0 && std::isinf(scores[0]));
    auto network = std::make_shared<nn::Mlp>(std::vector<nn::Mlp::Layer>{{1, 2, {1, 0}, {0, 1}}},
                                             nn::Activation::kIdentity);
    CHECK_THROWS(InputError, safety::ScorePolicy(network, {}, {0, 1}, true));
}
