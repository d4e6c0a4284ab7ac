// Deciders on random games against the plain fixed point, with their evidence checked line by line.
#include <map>
#include <set>

#include "safety/decider.hpp"
#include "safety/fuzz.hpp"
#include "tests/check.hpp"
#include "tests/whole_space.hpp"
#include "util/error.hpp"

using namespace misstep;
using namespace misstep::safety;
using misstep::testing::only_expansions;
using misstep::testing::pick;
using misstep::testing::unlimited;
using Nodes = std::vector<ExplicitGame::Node>;

namespace {

constexpr const char* kDeciders[] = {"level", "tarjan", "value-iteration",
                                     "lao",   "lrtdp",  "policy-iteration"};
constexpr int kGames = 400;

// A few states with cycles, dead ends, unsafe goals, and policies that choose in vain.
Nodes random_game(Rng& rng) {
    Nodes nodes(1 + pick(rng, 9));
    const std::uint64_t one_in = 3 + rng.below(12);
    for (ExplicitGame::Node& node : nodes) {
        node.unsafe = rng.below(one_in) == 0;
        node.goal = rng.below(10) == 0;
        const std::uint64_t num_choices = rng.below(8) == 0 ? 0 : 1 + rng.below(3);
        for (std::uint32_t label = 0; label < num_choices; ++label) {
            ExplicitGame::Choice choice{label, {}};
            for (std::uint64_t k = 1 + rng.below(3); k > 0; --k)
                choice.outcomes.push_back(static_cast<StateId>(pick(rng, nodes.size())));
            node.choices.push_back(std::move(choice));
        }
        node.has_policy = rng.below(6) != 0;
        node.policy = static_cast<std::uint32_t>(rng.below(num_choices + 1));
    }
    return nodes;
}

// The least number of deviations that keep each state safe, at most `cap`: the least fixed point from 0.
std::vector<std::uint32_t> deviations(const Nodes& nodes, bool counted, std::uint32_t cap) {
    std::vector<std::uint32_t> value;
    for (const auto& node : nodes) value.push_back(node.unsafe ? cap : 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t s = 0; s < nodes.size(); ++s) {
            if (nodes[s].unsafe || nodes[s].goal || nodes[s].choices.empty()) continue;
            std::uint32_t best = cap;
            for (const auto& choice : nodes[s].choices) {
                const bool deviates = !nodes[s].has_policy || choice.label != nodes[s].policy;
                std::uint32_t worst = 0;
                for (StateId t : choice.outcomes) worst = std::max(worst, value[t]);
                best = std::min(best, worst + (counted && deviates ? 1 : 0));
            }
            changed |= best > value[s];
            value[s] = std::max(value[s], best);
        }
    }
    return value;
}

std::uint32_t price(const Move& move, std::uint32_t radius) {
    return radius != infinite && move.deviates ? 1 : 0;
}

// What the indices of evidence with this radius are about.
Moves moves_of(Game& game, StateId s, std::uint32_t radius) {
    return radius == infinite ? game.plain_moves(s) : game.moves(s);
}

bool is_strategy(Game& game, StateId start, std::uint32_t radius, const std::vector<StrategyStep>& steps) {
    std::map<StateId, std::uint32_t> value;
    for (const StrategyStep& step : steps) value[step.state] = step.value;
    if (!value.contains(start) || (radius != infinite && value[start] > radius)) return false;
    for (const StrategyStep& step : steps) {
        if (game.leaf(step.state) == Leaf::unsafe) return false;
        if (game.leaf(step.state) == Leaf::goal) continue;
        if (step.move == infinite) {
            if (moves_of(game, step.state, radius).size() > 0) return false;
            continue;
        }
        if (step.move >= moves_of(game, step.state, radius).size()) return false;
        const Move move = moves_of(game, step.state, radius)[step.move];
        for (StateId t : move.outcomes)
            if (!value.contains(t) || value[t] + price(move, radius) > step.value) return false;
    }
    return true;
}

bool is_refutation(Game& game, StateId start, std::uint32_t radius,
                   const std::vector<RefutationStep>& steps) {
    if (game.leaf(start) == Leaf::unsafe) return true;
    std::set<std::pair<StateId, std::uint32_t>> refuted;  // with this budget
    for (const RefutationStep& step : steps) {
        Moves moves = moves_of(game, step.state, radius);
        if (moves.size() == 0 || game.leaf(step.state) != Leaf::none) return false;
        std::map<std::uint32_t, StateId> answers(step.answers.begin(), step.answers.end());
        for (std::uint32_t i = 0; i < moves.size(); ++i) {
            const Move move = moves[i];
            if (price(move, radius) > step.budget) continue;
            if (!answers.contains(i) || std::ranges::find(move.outcomes, answers[i]) == move.outcomes.end())
                return false;
            const std::uint32_t left = step.budget - price(move, radius);
            if (game.leaf(answers[i]) != Leaf::unsafe && !refuted.contains({answers[i], left})) return false;
        }
        refuted.insert({step.state, step.budget});
    }
    return refuted.contains({start, radius == infinite ? 0 : radius});
}

}  // namespace

TEST(deciders_agree_with_the_fixed_point_and_prove_it) {
    Rng rng(111);
    int safe = 0, unsafe = 0;
    for (int i = 0; i < kGames; ++i) {
        Nodes nodes = random_game(rng);
        ExplicitGame game(nodes);
        const auto counted = deviations(nodes, true, 1000), plain = deviations(nodes, false, 1);
        for (const char* name : kDeciders) {
            auto decider = make_decider(name, game, static_cast<OutcomeOrder>(i % 3));
            for (StateId s = 0; s < nodes.size(); ++s)
                for (std::uint32_t radius : {2U, 0U, infinite, 1U, 9U}) {
                    const bool expected = radius == infinite ? plain[s] == 0 : counted[s] <= radius;
                    const Answer answer = decider->decide(s, radius, unlimited());
                    CHECK(answer.verdict == (expected ? Verdict::safe : Verdict::unsafe));
                    CHECK(decider->refuted(s, radius) == !expected);
                    if (expected) CHECK(is_strategy(game, s, radius, decider->strategy(s, radius)));
                    if (!expected) CHECK(is_refutation(game, s, radius, decider->refutation(s, radius)));
                    CHECK((expected ? decider->refutation(s, radius).size()
                                    : decider->strategy(s, radius).size()) == 0);
                    ++(expected ? safe : unsafe);
                }
        }
    }
    CHECK(safe > 10'000 && unsafe > 10'000);
}

TEST(the_minimal_radius_is_the_number_of_deviations) {
    Rng rng(112);
    std::set<std::uint32_t> seen;
    for (int i = 0; i < kGames; ++i) {
        Nodes nodes = random_game(rng);
        ExplicitGame game(nodes);
        const auto counted = deviations(nodes, true, 1000), plain = deviations(nodes, false, 1);
        for (const char* name : {"level", "tarjan"}) {
            auto decider = make_decider(name, game, OutcomeOrder::shared);
            for (StateId s = 0; s < nodes.size(); ++s) {
                auto radius = decider->minimal_radius(s, 5, unlimited());
                CHECK(radius.has_value() == (plain[s] == 0 && counted[s] <= 5));
                if (radius) CHECK(*radius == counted[s]);
                if (radius) seen.insert(*radius);
            }
        }
    }
    CHECK(seen.size() >= 3);
}

TEST(a_limit_leaves_the_answer_open_and_nothing_wrong_behind) {
    Rng rng(113);
    int unknown = 0;
    for (int i = 0; i < kGames; ++i) {
        Nodes nodes = random_game(rng);
        ExplicitGame game(nodes);
        const auto counted = deviations(nodes, true, 1000);
        for (const char* name : kDeciders) {
            auto decider = make_decider(name, game, OutcomeOrder::shared);
            for (StateId s = 0; s < nodes.size(); ++s) {
                const Answer first = decider->decide(s, 1, only_expansions(1));
                unknown += first.verdict == Verdict::unknown;
                CHECK((first.verdict == Verdict::unknown) == (first.limit != LimitHit::kNone));
                CHECK(first.expanded <= 1);
                const Answer second = decider->decide(s, 1, unlimited());
                CHECK(second.verdict == (counted[s] <= 1 ? Verdict::safe : Verdict::unsafe));
                if (first.verdict != Verdict::unknown) CHECK(first.verdict == second.verdict);
            }
        }
    }
    CHECK(unknown > 500);
}

TEST(unknown_deciders_and_impossible_games_are_refused) {
    auto one_move = [](std::vector<StateId> outcomes) {
        Nodes nodes(1);
        nodes[0].choices.push_back({0, std::move(outcomes)});
        return nodes;
    };
    ExplicitGame game(one_move({0}));
    CHECK_THROWS_SAYING(InputError, "tarjan", make_decider("guess", game, OutcomeOrder::shared));
    CHECK_THROWS(InputError, ExplicitGame(one_move({})));
    CHECK_THROWS(InputError, ExplicitGame(one_move({7})));
}

TEST(fuzzing_follows_the_policy_and_finds_what_it_can_reach) {
    Rng rng(114);
    int found = 0, exhausted = 0;
    for (int i = 0; i < kGames; ++i) {
        Nodes nodes = random_game(rng);
        ExplicitGame game(nodes);
        // By the policy alone, from each state.
        auto next = [&](StateId s) -> std::vector<StateId> {
            if (nodes[s].unsafe || nodes[s].goal || !nodes[s].has_policy) return {};
            for (const auto& choice : nodes[s].choices)
                if (choice.label == nodes[s].policy) return choice.outcomes;
            return {};
        };
        auto from = [&](StateId start) {
            std::set<StateId> reached{start};
            for (std::vector<StateId> open{start}; !open.empty();) {
                StateId s = open.back();
                open.pop_back();
                for (StateId t : next(s))
                    if (reached.insert(t).second) open.push_back(t);
            }
            return reached;
        };
        for (Strategy strategy : {Strategy::uniform, Strategy::greedy, Strategy::sampling}) {
            FuzzOptions options{.strategy = strategy, .depth = std::nullopt, .max_steps = 50};
            safety::Fuzzer fuzzer(game, options, rng.next());
            for (StateId start = 0; start < nodes.size(); ++start) {
                const std::set<StateId> reached = from(start);
                const bool can = std::ranges::any_of(reached, [&](StateId s) { return nodes[s].unsafe; });
                const Budget budget = unlimited();
                Meter meter;
                meter.start(budget);
                Run run = fuzzer.run(start, meter);
                CHECK(run.states.front() == start);
                for (std::size_t k = 0; k + 1 < run.states.size(); ++k)
                    CHECK(std::ranges::count(next(run.states[k]), run.states[k + 1]) > 0);
                CHECK((run.end == RunEnd::unsafe) == nodes[run.states.back()].unsafe);
                if (strategy == Strategy::greedy) CHECK((run.end == RunEnd::unsafe) == can);
                // Where it ends because all was seen, no state without a decision is left out.
                auto stops = [&](StateId s) {
                    return !nodes[s].unsafe && !nodes[s].goal && !nodes[s].choices.empty() && next(s).empty();
                };
                if (run.end == RunEnd::exhausted && !stops(run.states.back()))
                    CHECK(std::ranges::none_of(from(run.states.back()), stops));
                found += run.end == RunEnd::unsafe;
                exhausted += run.end == RunEnd::exhausted;
            }
        }
    }
    CHECK(found > 500 && exhausted > 500);
}
