#include "improve/postponement.hpp"

#include <utility>

namespace misstep {
namespace {

constexpr std::size_t kMaxPostponed = 8;

}  // namespace

Postponement::Postponement(const StateSpace& space)
    : space_(space), state_(space.num_words()), here_(space.num_words()), next_(space.num_words()) {}

void Postponement::adopt(const KnownPlan& plan) {
    plan_ = &plan;
    best_ = plan.cost();
    found_.reset();
    tried_ = 0;
    if (at_ >= plan.size()) at_ = 0;
}

std::optional<std::vector<ActionId>> Postponement::step(std::uint64_t) {
    postpone(at_);
    ++tried_;
    if (++at_ == plan_->size()) at_ = 0;
    return std::exchange(found_, std::nullopt);
}

void Postponement::postpone(std::size_t first) {
    const std::vector<ActionId>& plan = plan_->actions();
    std::vector<ActionId> before(plan.begin(), plan.begin() + static_cast<std::ptrdiff_t>(first));
    std::vector<ActionId> postponed{plan[first]}, order;
    std::vector<Word> state(plan_->state(first), plan_->state(first) + space_.num_words());
    work_ += plan.size() / 8;
    for (std::size_t i = first + 1; i < plan.size() && postponed.size() <= kMaxPostponed; ++i) {
        if (space_.generator.is_applicable(state.data(), plan[i])) {
            advance(state, plan[i]);
            before.push_back(plan[i]);
            continue;
        }
        if (before.size() > first) {
            order = before;
            order.insert(order.end(), postponed.begin(), postponed.end());
            order.insert(order.end(), plan.begin() + static_cast<std::ptrdiff_t>(i), plan.end());
            state_ = state;
            try_shortcuts(std::move(order), before.size(), before.size() + postponed.size());
        }
        postponed.push_back(plan[i]);
    }
}

// Shortcuts at the steps `begin` to `end` of an order of the plan; `state_` is the state before `begin`.
void Postponement::try_shortcuts(std::vector<ActionId> order, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at <= end; ++at) {
        if (!space_.generator.is_applicable(state_.data(), order[at])) return;
        work_ += (order.size() - at) / 16;
        for (std::size_t early = at + 1; early < order.size(); ++early)
            if (space_.generator.is_applicable(state_.data(), order[early])) try_first(order, at, early);
        advance(state_, order[at]);
    }
}

// Does the action at `early` first, then all from `at` on that is still applicable.
void Postponement::try_first(const std::vector<ActionId>& order, std::size_t at, std::size_t early) {
    here_ = state_;
    replayed_.clear();
    work_ += (order.size() - at) / 8;
    auto apply = [&](ActionId action) {
        if (!space_.generator.is_applicable(here_.data(), action)) return;
        advance(here_, action);
        replayed_.push_back(action);
    };
    apply(order[early]);
    for (std::size_t i = at; i < order.size(); ++i) apply(order[i]);
    if (!space_.is_goal(here_.data())) return;
    replayed_.insert(replayed_.begin(), order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at));
    const Total cost = plan_cost(space_.task, replayed_);
    if (cost >= best_) return;
    best_ = cost;
    found_ = replayed_;
}

void Postponement::advance(std::vector<Word>& state, ActionId action) {
    space_.generator.apply(state.data(), action, next_.data());
    std::swap(state, next_);
}

}  // namespace misstep
