#include "nn/gnn.hpp"

#include <algorithm>
#include <cmath>

#include "util/error.hpp"

namespace misstep {
namespace {

void require(bool fits, const char* what) {
    if (!fits) throw InputError(std::string("the encoding for the network is wrong: ") + what);
}

}  // namespace

GnnPolicy::GnnPolicy(const StateSpace& space, std::shared_ptr<const GnnNetwork> network, GnnEncoding encoding,
                     int num_threads)
    : space_(space),
      network_(std::move(network)),
      encoding_(std::move(encoding)),
      evaluator_(*network_, num_threads) {
    const Task& task = space.task;
    const std::vector<std::size_t>& arities = network_->arities();
    auto known = [&](Fact f) {
        return f.var >= 0 && f.var < task.num_variables() && f.value >= 0 &&
               f.value < task.variables[f.var].domain_size();
    };
    auto objects_known = [&](const std::vector<std::uint32_t>& objects) {
        return std::ranges::all_of(objects, [&](std::uint32_t o) { return o < encoding_.num_objects; });
    };
    require(encoding_.fixed.size() == arities.size(), "relations");
    for (std::size_t r = 0; r < arities.size(); ++r)
        require(encoding_.fixed[r].size() % arities[r] == 0 && objects_known(encoding_.fixed[r]), "rows");
    for (const Variable& variable : task.variables) row_of_fact_.emplace_back(variable.values.size(), -1);
    for (std::size_t i = 0; i < encoding_.facts.size(); ++i) {
        const GnnEncoding::FactRow& row = encoding_.facts[i];
        require(known(row.fact) && row.relation < arities.size() &&
                    row.objects.size() % arities[row.relation] == 0 && objects_known(row.objects),
                "facts");
        row_of_fact_[row.fact.var][row.fact.value] = static_cast<std::int32_t>(i);
    }
    for (const NoopAction& noop : encoding_.noops)
        require(std::ranges::all_of(noop.required, known) && std::ranges::all_of(noop.forbidden, known),
                "no-ops");
    require(encoding_.actions.size() == (network_->scores_actions() ? task.actions.size() : 0), "actions");
    for (const GnnEncoding::ActionRow& row : encoding_.actions)
        require(row.relation < arities.size() && row.objects.size() + 1 == arities[row.relation] &&
                    objects_known(row.objects),
                "actions");
    require(encoding_.noops.empty() || !network_->scores_actions(), "no-ops");
    require(encoding_.rank.size() == task.actions.size() + encoding_.noops.size(), "ranks");
}

bool GnnPolicy::applies(const NoopAction& noop, const Word* state) const {
    auto true_in_state = [&](Fact f) { return space_.packer.get(state, f.var) == f.value; };
    return std::ranges::all_of(noop.required, true_in_state) &&
           std::ranges::none_of(noop.forbidden, true_in_state);
}

void GnnPolicy::collect_actions(const Word* state) {
    const std::uint32_t num_actions = static_cast<std::uint32_t>(space_.task.num_actions());
    order_.clear();
    space_.generator.applicable(state, order_);
    for (std::uint32_t i = 0; i < encoding_.noops.size(); ++i)
        if (applies(encoding_.noops[i], state)) order_.push_back(num_actions + i);
    std::ranges::sort(order_, {}, [&](std::uint32_t i) { return encoding_.rank[i]; });
}

void GnnPolicy::apply_actions(const Word* state) {
    const std::uint32_t num_actions = static_cast<std::uint32_t>(space_.task.num_actions());
    successors_.resize(order_.size() * space_.num_words());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        Word* successor = successors_.data() + i * space_.num_words();
        if (order_[i] < num_actions)
            space_.generator.apply(state, order_[i], successor);
        else
            std::copy_n(state, space_.num_words(), successor);
    }
}

void GnnPolicy::evaluate(const Word* state) {
    collect_actions(state);
    if (network_->scores_actions()) {
        add_rows(state, 1);
        add_actions();
    } else {
        apply_actions(state);
        add_rows(successors_.data(), static_cast<std::uint32_t>(order_.size()));
    }
    evaluator_.evaluate(batch_, values_);
}

void GnnPolicy::add_actions() {
    batch_.first_action = encoding_.num_objects;
    for (std::uint32_t action : order_) {
        const GnnEncoding::ActionRow& row = encoding_.actions[action];
        std::vector<std::uint32_t>& rows = batch_.rows[row.relation];
        rows.push_back(static_cast<std::uint32_t>(batch_.num_objects++));
        rows.insert(rows.end(), row.objects.begin(), row.objects.end());
    }
}

void GnnPolicy::add_rows(const Word* states, std::uint32_t num_states) {
    batch_.num_states = num_states;
    batch_.num_objects = encoding_.num_objects;
    batch_.rows.assign(encoding_.fixed.size(), {});
    // Row by row, not state by state: see GnnBatch.
    for (std::size_t r = 0; r < encoding_.fixed.size(); ++r) {
        const std::vector<std::uint32_t>& fixed = encoding_.fixed[r];
        const std::size_t arity = network_->arities()[r];
        for (std::size_t row = 0; row < fixed.size(); row += arity)
            for (std::uint32_t s = 0; s < num_states; ++s)
                for (std::size_t j = 0; j < arity; ++j)
                    batch_.rows[r].push_back(fixed[row + j] * num_states + s);
    }
    true_rows_.clear();
    for (std::uint32_t s = 0; s < num_states; ++s)
        for (int var = 0; var < space_.task.num_variables(); ++var) {
            std::int32_t value = space_.packer.get(states + std::size_t{s} * space_.num_words(), var);
            if (std::int32_t row = row_of_fact_[var][value]; row >= 0)
                true_rows_.emplace_back(static_cast<std::uint32_t>(row), s);
        }
    std::ranges::sort(true_rows_);
    for (auto [row, s] : true_rows_)
        for (std::uint32_t object : encoding_.facts[row].objects)
            batch_.rows[encoding_.facts[row].relation].push_back(object * num_states + s);
}

void GnnPolicy::choose(std::span<const Word* const> states, ActionId* actions) {
    for (std::size_t i = 0; i < states.size(); ++i) {
        evaluate(states[i]);
        if (order_.empty()) {
            actions[i] = kNoAction;
            continue;
        }
        std::size_t best = static_cast<std::size_t>(std::ranges::min_element(values_) - values_.begin());
        bool is_action = order_[best] < static_cast<std::uint32_t>(space_.task.num_actions());
        bool is_number = std::ranges::none_of(values_, [](float v) { return std::isnan(v); });
        actions[i] = !is_number ? kNoDecision : is_action ? order_[best] : kUnknownAction;
    }
}

std::vector<GnnPolicy::Candidate> GnnPolicy::values(const Word* state) {
    evaluate(state);
    std::vector<Candidate> result;
    const std::size_t num_actions = space_.task.actions.size();
    for (std::size_t i = 0; i < order_.size(); ++i) {
        if (order_[i] < num_actions)
            result.push_back({order_[i], &space_.task.actions[order_[i]].name, values_[i]});
        else
            result.push_back({kUnknownAction, &encoding_.noops[order_[i] - num_actions].name, values_[i]});
    }
    return result;
}

}  // namespace misstep
