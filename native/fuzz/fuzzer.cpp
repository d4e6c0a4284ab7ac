#include "fuzz/fuzzer.hpp"

#include <algorithm>
#include <limits>

#include "fuzz/weighted_select.hpp"

namespace misstep {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
enum Known : std::uint8_t { kUnknown, kYes, kNo };

// Asks once per state and remembers.
template <class Test>
bool remembered(std::vector<std::uint8_t>& known, StateId id, Test&& test) {
    if (id >= known.size()) known.resize(id + id / 2 + 64, kUnknown);
    if (known[id] == kUnknown) known[id] = test() ? kYes : kNo;
    return known[id] == kYes;
}

}  // namespace

Fuzzer::Fuzzer(PolicyGraph& graph, const FuzzerOptions& options, std::unique_ptr<Bias> bias)
    : graph_(graph),
      space_(graph.space()),
      options_(options),
      rng_(options.seed),
      hmax_(make_heuristic(space_, "hmax")),
      relaxed_(space_),
      bias_(std::move(bias)),
      successor_(space_.num_words()) {
    if (options.novelty > 0) novelty_.emplace(relaxed_, options.novelty);
    add(graph.insert(space_.initial.data()), kNoParent, {});
}

bool Fuzzer::is_dead_end(StateId id) {
    return remembered(dead_end_, id, [&] { return hmax_->evaluate(graph_.state(id)) == kInfinity; });
}

// Walks go through states that can be tested: no goals, no dead ends, something to do (the last one as the
// published tool does it; the papers do not say).
bool Fuzzer::is_candidate(StateId id) {
    return remembered(candidate_, id, [&] {
        if (options_.kind == FuzzerKind::kRefined && space_.is_goal(graph_.state(id))) return false;
        if (is_dead_end(id)) return false;
        std::vector<ActionId> applicable;
        space_.generator.applicable(graph_.state(id), applicable);
        return !applicable.empty();
    });
}

bool Fuzzer::add(StateId state, std::uint32_t parent, const std::vector<ActionId>& walk) {
    if (state >= in_pool_.size()) in_pool_.resize(state + state / 2 + 64, false);
    if (in_pool_[state]) return false;
    if (novelty_) {
        if (!pool_.empty() && !novelty_->is_novel(graph_.state(state))) return false;
        novelty_->add(graph_.state(state));
    }
    in_pool_[state] = true;
    pool_.push_back({state, parent, walk, rng_.state()});
    return true;
}

bool Fuzzer::restore(std::uint32_t parent, const std::vector<ActionId>& walk, std::uint64_t rng_after) {
    if (parent >= pool_.size()) return false;
    StateId at = pool_[parent].state;
    for (ActionId action : walk) {
        if (!space_.generator.is_applicable(graph_.state(at), action)) return false;
        at = successor(at, action);
    }
    rng_.set_state(rng_after);
    return add(at, parent, walk);
}

FuzzStop Fuzzer::extend(std::size_t size, const Budget& budget) {
    BudgetWatch watch(budget);
    limit_ = watch.look(graph_.bytes());
    if (limit_ != LimitHit::kNone) return FuzzStop::kLimit;
    while (pool_.size() < size) {
        limit_ = watch.check(0, graph_.bytes(), 20);
        if (limit_ != LimitHit::kNone) return FuzzStop::kLimit;
        std::size_t before = pool_.size();
        // A walk that a limit interrupts is taken back, random numbers included: it is walked again when the
        // pool is continued, so that the budget does not change the pool.
        std::uint64_t rng_before = rng_.state();
        if (walk_once(budget) == StepResult::kLimit) {
            rng_.set_state(rng_before);
            return FuzzStop::kLimit;
        }
        ++walks_;
        // Counted across calls: how the work was cut into pieces must not change when the fuzzer gives up.
        idle_walks_ = pool_.size() == before ? idle_walks_ + 1 : 0;
        if (idle_walks_ >= options_.max_idle_walks) return FuzzStop::kExhausted;
    }
    return FuzzStop::kFull;
}

Fuzzer::StepResult Fuzzer::walk_once(const Budget& budget) {
    std::uint32_t length = 1 + static_cast<std::uint32_t>(rng_.below(options_.max_walk));
    std::uint32_t parent = static_cast<std::uint32_t>(rng_.below(pool_.size()));
    StateId at = pool_[parent].state;
    std::vector<ActionId> walk;
    failing_.clear();
    StepResult result = StepResult::kMoved;
    for (std::uint32_t i = 0; i < length && result == StepResult::kMoved; ++i)
        result = step(at, walk, budget);
    if (result == StepResult::kLimit) return result;
    // Nothing looks at the pool during a walk, so all its states can enter now, together.
    for (const auto& [state, there] : failing_) add(state, parent, there);
    if (result == StepResult::kMoved) add(at, parent, walk);
    return result;
}

Fuzzer::StepResult Fuzzer::step(StateId& at, std::vector<ActionId>& walk, const Budget& budget) {
    shuffled_actions(at);
    if (!bias_) return step_unbiased(at, walk);
    candidates_.clear();
    for (ActionId action : actions_) {
        StateId next = successor(at, action);
        if (is_candidate(next)) candidates_.push_back({action, next});
    }
    StepResult result =
        options_.kind == FuzzerKind::kRefined ? weigh_refined(budget) : weigh_classic(walk, budget);
    if (result == StepResult::kLimit) return result;
    std::optional<std::size_t> chosen = weighted_select(weights_, rng_);
    if (!chosen) return StepResult::kNowhere;
    walk.push_back(candidates_[*chosen].action);
    at = candidates_[*chosen].state;
    return StepResult::kMoved;
}

// The first candidate in a random order is a uniform choice among all, and the others need not be looked at.
Fuzzer::StepResult Fuzzer::step_unbiased(StateId& at, std::vector<ActionId>& walk) {
    for (ActionId action : actions_) {
        StateId next = successor(at, action);
        if (!is_candidate(next)) continue;
        walk.push_back(action);
        at = next;
        return StepResult::kMoved;
    }
    return StepResult::kNowhere;
}

// Partial runs share the expansion budget. While j steps are left, the next ceil(j / B_state) candidates get
// a run in any case, so these run together; the outcome is that of one run after another. What the budget
// allows does not depend on weights, so the bias is asked once, for all runs of the expansion.
Fuzzer::StepResult Fuzzer::weigh_refined(const Budget& budget) {
    weights_.clear();
    runs_.clear();
    places_.clear();
    std::uint32_t left = options_.expansion_budget;
    std::size_t next = 0;
    std::vector<StateId> starts;
    while (next < candidates_.size() && left > 0) {
        std::size_t together = std::min<std::size_t>(
            candidates_.size() - next, (left + options_.state_budget - 1) / options_.state_budget);
        starts.clear();
        for (std::size_t i = 0; i < together; ++i) starts.push_back(candidates_[next + i].state);
        if (graph_.run(starts, options_.state_budget, budget).size() != together) {
            limit_ = graph_.limit();
            return StepResult::kLimit;
        }
        for (std::size_t i = 0; i < together; ++i, ++next) {
            // The answers are known by now: this only cuts the run off where the budget ends.
            RunInfo run = graph_.run({&starts[i], 1}, std::min(left, options_.state_budget), {})[0];
            left -= std::min(left, run.steps);
            if (never_solves(run.outcome) || run.steps == 0) {
                // Without a step the policy failed to decide: nothing is known that could be weighed.
                weights_.push_back(never_solves(run.outcome) ? kInf : 0.0);
                continue;
            }
            runs_.push_back(run);
            places_.push_back(weights_.size());
            weights_.push_back(0);
        }
    }
    candidates_.resize(next);
    return ask_bias(budget);
}

Fuzzer::StepResult Fuzzer::ask_bias(const Budget& budget) {
    if (runs_.empty()) return StepResult::kMoved;
    values_.resize(runs_.size());
    try {
        bias_->weigh(runs_, budget, values_.data());
    } catch (const OutOfBudget& over) {
        limit_ = over.limit;
        return StepResult::kLimit;
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) weights_[places_[i]] = values_[i];
    return StepResult::kMoved;
}

// The weight is the length of the policy's run. States that it does not solve go to the pool and are not
// walked to, unless there are no others. Where it gave no decision or was cut off, the length so far is all
// that is known.
Fuzzer::StepResult Fuzzer::weigh_classic(const std::vector<ActionId>& walk, const Budget& budget) {
    weights_.clear();
    std::vector<StateId> starts;
    for (const Candidate& candidate : candidates_) starts.push_back(candidate.state);
    std::vector<RunInfo> runs = graph_.run(starts, options_.max_steps, budget);
    if (runs.size() != starts.size()) {
        limit_ = graph_.limit();
        return StepResult::kLimit;
    }
    for (std::size_t i = 0; i < runs.size(); ++i) {
        bool unsolved = never_solves(runs[i].outcome);
        weights_.push_back(unsolved ? 0.0 : static_cast<double>(runs[i].steps));
        if (!unsolved) continue;
        std::vector<ActionId> there = walk;
        there.push_back(candidates_[i].action);
        failing_.emplace_back(candidates_[i].state, std::move(there));
    }
    return StepResult::kMoved;
}

void Fuzzer::shuffled_actions(StateId at) {
    actions_.clear();
    space_.generator.applicable(graph_.state(at), actions_);
    std::ranges::sort(actions_);  // pools must not depend on how the generator finds actions
    rng_.shuffle(actions_);
}

StateId Fuzzer::successor(StateId at, ActionId action) {
    space_.generator.apply(graph_.state(at), action, successor_.data());
    return graph_.insert(successor_.data());
}

}  // namespace misstep
