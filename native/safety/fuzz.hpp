// Fuzzing: policy runs biased towards unsafety (Algorithm 1 of the paper).
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "safety/game.hpp"
#include "safety/meter.hpp"

namespace misstep::safety {

// uniform: any outcome, the baseline; greedy: the least h_u of the last layer; sampling: with weight
// exp(-h_u/t).
enum class Strategy : std::uint8_t { uniform, greedy, sampling };

struct FuzzOptions {
    Strategy strategy = Strategy::greedy;
    std::optional<std::uint32_t> depth = 1;  // nothing: look ahead until the policy graph is exhausted
    std::uint32_t max_steps = 1000;          // of one run
    std::uint64_t max_lookahead = 100'000;   // states of one look-ahead
    double temperature = 1;
};

enum class RunEnd : std::uint8_t { unsafe, exhausted, steps, lookahead };

struct Run {
    RunEnd end;
    std::vector<StateId> states;
};

class Fuzzer {
  public:
    Fuzzer(Game& game, FuzzOptions options, std::uint64_t seed)
        : game_(game), options_(options), rng_(seed) {}
    Game& game() { return game_; }
    // One run from this state. Throws OutOfBudget where the meter says so.
    Run run(StateId start, Meter& meter);

  private:
    struct Seen {
        StateId state;
        std::uint32_t parent;  // index of its predecessor in seen_
    };
    std::span<const StateId> successors(StateId s);
    bool stops(StateId s);  // the policy makes no move where there are some
    // Extends the path by one look-ahead; the reason to stop where there is one.
    std::optional<RunEnd> extend(std::vector<StateId>& path, Meter& meter);
    std::optional<RunEnd> extend_uniform(std::vector<StateId>& path);
    std::size_t pick_least(std::size_t first);
    std::size_t pick_weighted();
    std::size_t draw(std::vector<double>& weights);
    void append(std::vector<StateId>& path, std::size_t index);

    Game& game_;
    FuzzOptions options_;
    std::mt19937_64 rng_;
    std::vector<Seen> seen_;  // the look-ahead of one step, layer by layer, without revisits
    std::vector<double> weights_;
    std::vector<std::uint32_t> marks_;
    std::uint32_t mark_ = 0;
};

}  // namespace misstep::safety
