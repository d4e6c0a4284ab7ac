#include "improve/neighbourhood.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace misstep {
namespace {

constexpr std::uint64_t kExpandedTogether =
    16;  // fills the lanes of the batched heuristic; fewer at a time find less in the same time

template <class Major, class Minor>
std::uint64_t key(Major major, Minor minor) {
    return (static_cast<std::uint64_t>(major) << 32) | static_cast<std::uint32_t>(minor);
}

}  // namespace

Neighbourhood::Neighbourhood(const StateSpace& space, const Word* start, ExpansionOrder order)
    : space_(space),
      order_(order),
      cheapest_action_(space.task.min_action_cost()),
      // Measured: a relaxed exploration takes as long as generating some states, the more the larger the
      // task.
      evaluation_work_(1 + space.task.actions.size() / 64),
      nodes_(space),
      successors_(space, {}),
      here_(space.num_words()),
      next_(space.num_words()) {
    if (order == ExpansionOrder::kPromising) heuristic_ = make_heuristic(space, "ff");
    StateId id = nodes_.registry().insert(start).first;
    nodes_.node(id) = {kNoState, kNoAction, 0, 0, 0, 1, 0};
}

void Neighbourhood::adopt(const KnownPlan& plan) {
    plan_ = &plan;
    best_ = plan.cost();
    found_.reset();
    fresh_.clear();
    StateId parent = kNoState;
    for (std::size_t i = 0; i <= plan.size(); ++i) {
        auto [id, is_new] = nodes_.registry().insert(plan.state(i));
        Node& node = nodes_.node(id);
        if (is_new) node = {kNoState, kNoAction, kEndless, 0, 0, 1, 0};
        const bool is_cheaper = plan.prefix_cost(i) < node.g, was_apart = node.distance > 0;
        if (is_cheaper) {
            node.parent = parent;
            node.action = plan.actions()[i - 1];
            node.g = plan.prefix_cost(i);
        }
        node.distance = 0;
        node.position = static_cast<std::uint32_t>(i);
        if (is_cheaper || was_apart) {
            node.closed = 0;
            fresh_.push_back(id);
        }
        parent = id;
    }
    open_fresh();
}

std::optional<std::vector<ActionId>> Neighbourhood::step(std::uint64_t max_expansions) {
    fresh_.clear();
    std::uint64_t left = order_ == ExpansionOrder::kPromising ? kExpandedTogether : 1;
    for (left = std::min(left, max_expansions); left > 0 && has_more();) {
        StateId id = pop();
        Node& node = nodes_.node(id);
        ++work_;
        if (node.closed) continue;
        node.closed = 1;
        if (node.g >= best_) continue;
        expand(id);
        --left;
    }
    open_fresh();
    registry_bytes_ = nodes_.registry().bytes();
    return std::exchange(found_, std::nullopt);
}

void Neighbourhood::expand(StateId id) {
    ++expanded_;
    successors_.generate(nodes_.state(id), nodes_.registry());
    work_ += successors_.size();
    for (std::size_t i = 0; i < successors_.size(); ++i)
        reach(id, successors_.action(i), successors_.state(i), successors_.hash(i));
}

void Neighbourhood::reach(StateId from, ActionId action, const Word* state, std::uint64_t hash) {
    const Node parent = nodes_.node(from);
    const Total g = parent.g + space_.task.actions[action].cost;
    if (g + cheapest_action_ >= best_ && !(g < best_ && space_.is_goal(state))) return;
    const std::uint32_t distance = parent.distance + 1;
    auto [id, is_new] = nodes_.registry().insert(state, hash);
    Node& node = nodes_.node(id);
    if (is_new) {
        node = {from, action, g, 0, parent.position, distance, 0};
        fresh_.push_back(id);
    } else if (g < node.g) {
        // A state of this step that is not yet evaluated is pushed twice; the second time it is closed.
        node.parent = from;
        node.action = action;
        node.g = g;
        node.distance = std::min<std::uint32_t>(node.distance, distance);
        node.closed = 0;
        push(id);
        rejoin(id);
    } else if (distance < node.distance && !node.closed) {
        node.distance = distance;
        push(id);
    }
}

void Neighbourhood::open_fresh() {
    if (heuristic_ != nullptr) {
        states_.clear();
        for (StateId id : fresh_) states_.push_back(nodes_.state(id));
        values_.resize(fresh_.size());
        heuristic_->evaluate(states_, values_.data());
        work_ += fresh_.size() * evaluation_work_;
    }
    for (std::size_t i = 0; i < fresh_.size(); ++i) {
        Node& node = nodes_.node(fresh_[i]);
        if (heuristic_ != nullptr) {
            node.h = std::min(values_[i], kMaxCost);
            if (values_[i] == kInfinity) {  // no plan goes on from here: never reopened in vain
                node.closed = 1;
                node.g = 0;
                continue;
            }
        }
        rejoin(fresh_[i]);
        if (node.distance == 1 && order_ == ExpansionOrder::kNearest) replay(fresh_[i]);
        push(fresh_[i]);
    }
}

// Among equally promising states those near the plan and those near the goal take turns: either order alone
// misses much on some task.
void Neighbourhood::push(StateId id) {
    const Node& node = nodes_.node(id);
    if (order_ == ExpansionOrder::kNearest) {
        open_.push(key(node.distance, at_most_max(node.g)), id);
    } else {
        const Cost f = at_most_max(node.g + node.h);
        open_.push(key(f, node.distance), id);
        open_to_goal_.push(key(f, node.h), id);
    }
}

StateId Neighbourhood::pop() {
    turn_ = !turn_;
    return turn_ || open_to_goal_.empty() ? open_.pop() : open_to_goal_.pop();
}

// Goes on with a suffix of the plan, where one is applicable.
void Neighbourhood::rejoin(StateId id) {
    work_ += plan_->size() / 32;
    std::size_t step = plan_->suffix_from(nodes_.state(id), best_ - nodes_.node(id).g);
    if (step != KnownPlan::kNone) found(id, std::span(plan_->actions()).subspan(step));
}

// Goes on with the plan from where the path left it, without what is not applicable now.
void Neighbourhood::replay(StateId id) {
    const Node& node = nodes_.node(id);
    Total cost = node.g;
    std::copy_n(nodes_.state(id), here_.size(), here_.begin());
    replayed_.clear();
    work_ += plan_->size() / 8;
    for (std::size_t i = node.position; i < plan_->size(); ++i) {
        ActionId action = plan_->actions()[i];
        if (!space_.generator.is_applicable(here_.data(), action)) continue;
        cost += space_.task.actions[action].cost;
        if (cost >= best_) return;
        space_.generator.apply(here_.data(), action, next_.data());
        std::swap(here_, next_);
        replayed_.push_back(action);
    }
    if (space_.is_goal(here_.data())) found(id, replayed_);
}

void Neighbourhood::found(StateId id, std::span<const ActionId> rest) {
    std::vector<ActionId> plan = nodes_.plan_to(id);
    plan.insert(plan.end(), rest.begin(), rest.end());
    best_ = plan_cost(space_.task, plan);
    found_ = std::move(plan);
}

}  // namespace misstep
