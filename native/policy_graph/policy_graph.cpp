#include "policy_graph/policy_graph.hpp"

#include <algorithm>
#include <chrono>

#include "util/error.hpp"

namespace misstep {
namespace {

// So many states are asked again at the end of the run that asked them first, ...
constexpr std::size_t kFirstStates = 32;
// ... and where they are few, again and again until so many answers were compared: a policy that draws lots
// between two actions in the only state of a run goes unnoticed once in 256 times.
constexpr std::size_t kLeastRechecks = 8;

}  // namespace

PolicyGraph::PolicyGraph(const StateSpace& space, Policy& policy, const PolicyGraphOptions& options)
    : space_(space),
      policy_(policy),
      options_(options),
      registry_(space.num_words(), sizeof(Node) / sizeof(Word)),
      hmax_(options.detect_dead_ends ? make_heuristic(space, "hmax") : nullptr),
      rng_(options.seed),
      successor_(space.num_words()) {}

void PolicyGraph::forget() {
    registry_.clear();
    asked_.clear();
    first_rechecked_ = 0;
}

StateId PolicyGraph::insert(const Word* state) {
    auto [id, is_new] = registry_.insert(state);
    if (is_new)
        node(id) = {kNoAction, kNoState,          0,     0,     0,
                    kNoState,  Kind::kUnexplored, false, false, Outcome::kCutOff};
    return id;
}

std::vector<RunInfo> PolicyGraph::run(std::span<const StateId> starts, std::uint32_t max_steps,
                                      const Budget& budget) {
    BudgetWatch watch(budget);
    std::vector<RunInfo> runs;
    limit_ = watch.look(bytes());
    most_asked_ = states_asked_ + std::min(budget.max_expansions, kUnlimited);
    if (limit_ == LimitHit::kNone) explore(starts, max_steps, watch);
    if (limit_ != LimitHit::kNone) return runs;
    for (StateId start : starts) runs.push_back(evaluate(start, max_steps));
    if (options_.recheck_every > 0) recheck_first_states(watch);
    return runs;
}

// Makes every state explored that the runs will pass: all runs advance as far as answers are known, then one
// call asks for all states that lack one. A run in a cycle is noticed by a marker that stays behind at
// growing distances (Brent 1980), so that runs need no memory of their own.
void PolicyGraph::explore(std::span<const StateId> starts, std::uint32_t max_steps, BudgetWatch& watch) {
    struct Runner {
        StateId at;
        StateId marker;
        std::uint32_t steps;
        std::uint32_t next_marker;
    };
    std::vector<Runner> runners;
    for (StateId start : starts) runners.push_back({start, kNoState, 0, 1});
    std::vector<StateId> to_classify, to_ask;
    auto unqueue = [&] {
        for (const auto* states : {&to_classify, &to_ask})
            for (StateId id : *states) node(id).queued = false;
    };
    // A policy that throws must not leave states behind that wait forever.
    struct AtExit {
        decltype(unqueue)& action;
        ~AtExit() { action(); }
    } at_exit{unqueue};
    auto queue = [this](std::vector<StateId>& states, StateId id) {
        if (node(id).queued) return;
        node(id).queued = true;
        states.push_back(id);
    };
    while (!runners.empty()) {
        to_classify.clear();
        to_ask.clear();
        std::erase_if(runners, [&](Runner& runner) {
            while (true) {
                const Node& here = node(runner.at);
                if (here.resolved || is_end(here.kind)) return true;
                if (here.kind == Kind::kUnexplored) {
                    queue(to_classify, runner.at);
                    return false;
                }
                if (runner.steps >= max_steps) return true;
                if (here.kind == Kind::kOpen) {
                    queue(to_ask, runner.at);
                    return false;
                }
                runner.at = here.successor;
                ++runner.steps;
                if (runner.at == runner.marker) return true;
                if (runner.steps == runner.next_marker) {
                    runner.marker = runner.at;
                    runner.next_marker *= 2;
                }
            }
        });
        bool done = in_pieces(to_classify, watch, &PolicyGraph::classify);
        // States that turn out to be open are asked in the next round, together with those that were so
        // before.
        if (done && to_classify.empty()) done = in_pieces(to_ask, watch, &PolicyGraph::ask);
        if (!done) return;
        unqueue();
    }
}

bool PolicyGraph::in_pieces(std::span<const StateId> states, BudgetWatch& watch,
                            void (PolicyGraph::*work)(std::span<const StateId>)) {
    std::size_t piece = std::max<std::size_t>(1, policy_.best_batch());
    for (std::size_t next = 0; next < states.size(); next += piece) {
        limit_ = states_asked_ >= most_asked_ ? LimitHit::kExpansions : watch.look(bytes());
        if (limit_ != LimitHit::kNone) return false;
        (this->*work)(states.subspan(next, std::min(piece, states.size() - next)));
    }
    return true;
}

void PolicyGraph::classify(std::span<const StateId> states) {
    const AnswerBook::Notes notes = read_book(states);
    pointers_.clear();
    for (std::size_t i = 0; i < states.size(); ++i)
        if (!notes[i]) pointers_.push_back(state(states[i]));
    values_.assign(pointers_.size(), 0);
    if (hmax_ && !pointers_.empty()) hmax_->evaluate(pointers_, values_.data());
    for (std::size_t i = 0, next = 0; i < states.size(); ++i) {
        const bool is_dead_end = notes[i] ? notes[i]->is_dead_end != 0 : values_[next++] == kInfinity;
        if (is_dead_end && book_ != nullptr && !notes[i]) book_->write_dead_end(state(states[i]));
        node(states[i]).kind = space_.is_goal(state(states[i])) ? Kind::kGoal
                               : is_dead_end                    ? Kind::kDeadEnd
                                                                : Kind::kOpen;
    }
}

void PolicyGraph::ask(std::span<const StateId> states) {
    const AnswerBook::Notes notes = read_book(states);
    std::vector<StateId> all;
    std::vector<ActionId> answers(states.size());
    std::uint64_t counted_before = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
        if (notes[i]) {
            answers[i] = notes[i]->action;
            counted_before += notes[i]->is_counted;
        } else
            all.push_back(states[i]);
    }
    const std::size_t num_new = all.size();
    if (options_.recheck_every > 0 && !asked_.empty()) {
        for (since_recheck_ += states.size(); since_recheck_ >= options_.recheck_every;
             since_recheck_ -= options_.recheck_every)
            all.push_back(asked_[rng_.below(asked_.size())]);
    }
    if (!all.empty()) choose(all);
    states_asked_ += states.size() - (options_.is_ahead ? counted_before : 0);
    for (std::size_t i = 0, next = 0; i < states.size(); ++i)
        if (!notes[i]) answers[i] = answers_[next++];
    if (book_ != nullptr) book_->write(words_of(states), answers, !options_.is_ahead);
    for (std::size_t i = 0; i < states.size(); ++i) {
        answer(states[i], answers[i]);
        if (answers[i] != kNoDecision) asked_.push_back(states[i]);
    }
    for (std::size_t i = num_new; i < all.size(); ++i) compare(all[i], answers_[i]);
}

AnswerBook::Notes PolicyGraph::read_book(std::span<const StateId> states) {
    return book_ == nullptr ? AnswerBook::Notes(states.size()) : book_->read(words_of(states));
}

std::span<const Word* const> PolicyGraph::words_of(std::span<const StateId> states) {
    pointers_.clear();
    for (StateId id : states) pointers_.push_back(state(id));
    return pointers_;
}

// Asks again, in reverse order: a policy that counts its calls, or remembers where it was, now answers under
// other circumstances than before. Which states are asked depends on nothing but the order of first asking.
void PolicyGraph::recheck_first_states(BudgetWatch& watch) {
    std::size_t known = std::min(asked_.size(), kFirstStates);
    if (known == first_rechecked_) return;
    std::vector<StateId> states(asked_.begin() + static_cast<std::ptrdiff_t>(first_rechecked_),
                                asked_.begin() + static_cast<std::ptrdiff_t>(known));
    do {
        std::ranges::reverse(states);
        std::size_t piece = std::max<std::size_t>(1, policy_.best_batch());
        for (std::size_t next = 0; next < states.size(); next += piece) {
            // The runs are complete: a limit only ends the checking, and the next run may go on with it.
            if (watch.look() != LimitHit::kNone) return;
            std::span<const StateId> part(states.data() + next, std::min(piece, states.size() - next));
            choose(part);
            for (std::size_t i = 0; i < part.size(); ++i) compare(part[i], answers_[i]);
        }
        first_rechecks_ += states.size();
    } while (first_rechecks_ < kLeastRechecks);
    first_rechecked_ = known;
}

// Fills answers_ by one call of the policy. Whoever names another split of the same action has not answered
// differently.
void PolicyGraph::choose(std::span<const StateId> states) {
    const std::span<const Word* const> words = words_of(states);
    answers_.assign(states.size(), kNoAction);
    auto start = std::chrono::steady_clock::now();
    policy_.choose(words, answers_.data());
    policy_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ++policy_calls_;
    for (std::size_t i = 0; i < states.size(); ++i) answers_[i] = space_.meant(words[i], answers_[i]);
}

// A policy that fails when it is asked again (its server is gone meanwhile) has not answered differently.
void PolicyGraph::compare(StateId id, ActionId again) const {
    if (again != kNoDecision && again != node(id).action) throw FlakyPolicy(id, node(id).action, again);
}

void PolicyGraph::answer(StateId id, ActionId action) {
    node(id).action = action;
    if (action == kNoAction) {
        node(id).kind = Kind::kStuck;
    } else if (action == kNoDecision) {
        node(id).kind = Kind::kFailed;
    } else if (action >= space_.task.actions.size() || !space_.generator.is_applicable(state(id), action)) {
        node(id).kind = Kind::kIllegal;
    } else {
        space_.generator.apply(state(id), action, successor_.data());
        StateId successor = insert(successor_.data());
        node(id).successor = successor;
        node(id).kind = Kind::kStep;
    }
}

Outcome PolicyGraph::outcome_of(Kind end) {
    switch (end) {
        case Kind::kGoal:
            return Outcome::kSolved;
        case Kind::kDeadEnd:
            return Outcome::kDeadEnd;
        case Kind::kStuck:
            return Outcome::kStuck;
        case Kind::kFailed:
            return Outcome::kFailed;
        default:
            return Outcome::kIllegal;
    }
}

RunInfo PolicyGraph::evaluate(StateId start, std::uint32_t max_steps) {
    ++evaluation_;
    path_.clear();
    StateId at = start;
    Total cost = 0;
    // Without an action left the policy is not asked any more, even where its answer is known from another
    // run.
    auto fits = [max_steps](Outcome outcome, std::uint32_t steps) {
        bool asked_at_end =
            outcome == Outcome::kStuck || outcome == Outcome::kIllegal || outcome == Outcome::kFailed;
        return asked_at_end ? steps < max_steps : steps <= max_steps;
    };
    auto step = [&] {
        cost += space_.task.actions[node(at).action].cost;
        at = node(at).successor;
    };
    while (true) {
        Node& here = node(at);
        std::uint32_t steps = static_cast<std::uint32_t>(path_.size());
        if (here.resolved && fits(here.outcome, steps + here.steps_to_end)) {
            RunInfo info{start, here.end, here.outcome, steps + here.steps_to_end, cost + here.cost_to_end};
            // All before it end likewise; a run into a loop ends at the same repeated state.
            resolve(here.outcome, here.end, path_.size());
            return info;
        }
        if (is_end(here.kind) && fits(outcome_of(here.kind), steps)) {
            Outcome outcome = outcome_of(here.kind);
            here.resolved = true;
            here.outcome = outcome;
            here.end = at;
            here.steps_to_end = 0;
            here.cost_to_end = 0;
            resolve(outcome, at, path_.size());
            return {start, at, outcome, steps, cost};
        }
        if (here.mark == evaluation_) {
            std::size_t first = static_cast<std::size_t>(std::ranges::find(path_, at) - path_.begin());
            resolve(Outcome::kLoop, at, first);
            return {start, at, Outcome::kLoop, steps, cost};
        }
        if (steps >= max_steps) return {start, at, Outcome::kCutOff, steps, cost};
        here.mark = evaluation_;
        path_.push_back(at);
        step();
    }
}

// Writes what a followed run showed into the states of path_. States from `first_of_loop` on form a loop: a
// run from any of them goes round once and ends where it started. The others add their steps to their
// successor's.
void PolicyGraph::resolve(Outcome outcome, StateId end, std::size_t first_of_loop) {
    Total loop_cost = 0;
    for (std::size_t i = first_of_loop; i < path_.size(); ++i)
        loop_cost += space_.task.actions[node(path_[i]).action].cost;
    std::uint32_t loop_steps = static_cast<std::uint32_t>(path_.size() - first_of_loop);
    for (std::size_t i = path_.size(); i-- > 0;) {
        Node& here = node(path_[i]);
        here.resolved = true;
        here.outcome = outcome;
        if (i >= first_of_loop) {
            here.end = path_[i];
            here.steps_to_end = loop_steps;
            here.cost_to_end = loop_cost;
        } else {
            const Node& next = node(here.successor);
            here.end = end;
            here.steps_to_end = next.steps_to_end + 1;
            here.cost_to_end = next.cost_to_end + space_.task.actions[here.action].cost;
        }
    }
}

std::vector<StateId> PolicyGraph::trace(StateId start, std::uint32_t steps) const {
    std::vector<StateId> states{start};
    for (std::uint32_t i = 0; i < steps && node(states.back()).kind == Kind::kStep; ++i)
        states.push_back(node(states.back()).successor);
    return states;
}

std::vector<Cost> PolicyGraph::step_costs(std::span<const StateId> trace) const {
    std::vector<Cost> costs;
    for (std::size_t i = 0; i + 1 < trace.size(); ++i)
        costs.push_back(space_.task.actions[node(trace[i]).action].cost);
    return costs;
}

}  // namespace misstep
