#include "nn/asnet.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace misstep {
namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

const AsnetNetwork& checked(const AsnetNetwork& net, const StateSpace& space) {
    check_network(net, space);
    return net;  // NOLINT(bugprone-return-const-ref-from-parameter): the caller's own, used at once
}

int width_index(int hidden) {
    int index = 0;
    while ((kChannelLanes << index) < hidden) ++index;
    return index;
}

const AsnetKernels& best_kernels(int hidden) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return kAvx2AsnetKernels[width_index(hidden)];
#endif
    return kGenericAsnetKernels[width_index(hidden)];
}

// Rows [first, first + hidden) of a module's weights as a padded matrix, with room for `more` rows.
ChannelRows matrix(const AsnetModule& module, std::size_t first, std::size_t hidden, int width,
                   std::size_t more = 0) {
    ChannelRows result(width, at(width) + more);
    for (std::size_t i = 0; i < hidden; ++i)
        std::copy_n(module.weights.data() + (first + i) * hidden, hidden, result.row(i));
    return result;
}

// target -= sum of the matrix's rows: what a vector of minus ones adds.
void subtract_rows(const ChannelRows& rows, std::size_t width, float* target) {
    for (std::size_t i = 0; i < width; ++i)
        for (std::size_t c = 0; c < width; ++c) target[c] -= rows.row(i)[c];
}

}  // namespace

AsnetPolicy::AsnetPolicy(const StateSpace& space, const AsnetNetwork& net)
    : space_(space),
      kernels_(best_kernels(checked(net, space).hidden)),
      width_(kChannelLanes << width_index(net.hidden)),
      shared_graph_(std::make_shared<const AsnetGraph>(net)),
      graph_(*shared_graph_),
      first_(net, graph_, width_, kernels_),
      demand_(graph_, net.num_layers()),
      fact_variables_(net.fact_variables),
      fact_values_(net.fact_values),
      operator_of_action_(space.task.actions.size(), -1),
      identity_(at(std::max(graph_.num_operators, graph_.num_facts))),
      values_(static_cast<std::size_t>(space.task.num_variables())),
      truth_(at(graph_.num_facts), 1),
      marks_(at(graph_.num_operators), 0),
      facts_(width_, at(graph_.num_facts) + 1),
      operators_(width_, at(graph_.num_operators)),
      parts_(width_, at(graph_.num_pairs) + graph_.slots.size()) {
    if (net.reads_landmarks()) landmarks_.emplace(space, net);
    std::iota(identity_.begin(), identity_.end(), 0);
    for (std::size_t op = 0; op < net.operators.size(); ++op) {
        action_of_operator_.push_back(static_cast<ActionId>(net.operators[op]));
        operator_of_action_[at(net.operators[op])] = static_cast<Index>(op);
    }
    for (std::size_t layer = 0; layer < net.predicate_modules.size(); ++layer)
        layers_.push_back(make_layer(net, layer));
    make_last(net);
    std::fill_n(facts_.row(at(graph_.num_facts)), width_, -1.0F);  // the fact that does not exist
}

AsnetPolicy::Layer AsnetPolicy::make_layer(const AsnetNetwork& net, std::size_t layer) const {
    const std::size_t hidden = at(net.hidden), width = at(width_);
    const bool is_last = layer + 1 == net.predicate_modules.size();
    Layer result;
    result.fact_base = ChannelRows(width_, at(graph_.num_facts));
    for (std::size_t predicate = 0; predicate < net.predicate_slots.size(); ++predicate) {
        const AsnetModule& module = net.predicate_modules[layer][predicate];
        for (Index f = graph_.predicate_start[predicate]; f < graph_.predicate_start[predicate + 1]; ++f)
            std::copy_n(module.bias.data(), hidden, result.fact_base.row(at(f)));
        if (layer > 0)
            result.keep.push_back(
                matrix(module, net.predicate_slots[predicate].size() * hidden, hidden, width_));
    }
    result.missing = ChannelRows(width_, graph_.slots.size());
    for (std::size_t slot = 0; slot < graph_.slots.size(); ++slot) {
        const AsnetGraph::Slot& s = graph_.slots[slot];
        const std::size_t predicate = at(s.predicate);
        result.pool.push_back(
            matrix(net.predicate_modules[layer][predicate], at(s.place) * hidden, hidden, width_));
        Index pair = graph_.slot_start[slot];
        for (Index f = graph_.predicate_start[predicate]; f < graph_.predicate_start[predicate + 1]; ++f) {
            if (pair < graph_.slot_start[slot + 1] && graph_.pair_fact[at(pair)] == f)
                ++pair;
            else
                subtract_rows(result.pool.back(), width, result.fact_base.row(at(f)));
        }
        if (is_last) continue;
        const AsnetModule& next = net.action_modules[layer + 1][at(s.schema)];
        result.read.push_back(matrix(next, at(s.position) * hidden, hidden, width_));
        subtract_rows(result.read.back(), width, result.missing.row(slot));
    }
    if (is_last) return result;
    for (Index schema = 0; schema < net.num_schemas(); ++schema) {
        const AsnetModule& next = net.action_modules[layer + 1][at(schema)];
        result.own.push_back(matrix(next, at(net.num_slots(schema)) * hidden, hidden, width_, 1));
        std::copy_n(next.bias.data(), hidden, result.own.back().row(width));
    }
    return result;
}

void AsnetPolicy::make_last(const AsnetNetwork& net) {
    const std::size_t hidden = at(net.hidden);
    for (const AsnetModule& module : net.action_modules.back()) {
        LastModule& last =
            last_.emplace_back(ChannelRows(width_, module.weights.size() / hidden), module.bias[0]);
        for (std::size_t row = 0; row < module.weights.size() / hidden; ++row)
            std::copy_n(module.weights.data() + row * hidden, hidden, last.weights.row(row));
    }
}

void AsnetPolicy::evaluate(const Word* state) {
    space_.packer.unpack(state, values_.data());
    for (std::size_t f = 0; f < fact_variables_.size(); ++f)
        if (fact_variables_[f] >= 0) truth_[f] = values_[at(fact_variables_[f])] == fact_values_[f];
    applicable_actions_.clear();
    space_.generator.applicable(state, applicable_actions_);
    std::ranges::fill(marks_, std::uint8_t{0});
    competing_.clear();
    for (ActionId action : applicable_actions_)
        if (const Index op = operator_of_action_[action]; op >= 0) {
            competing_.push_back(op);
            marks_[at(op)] = AsnetLandmarks::kApplicable;
        }
    scores_.resize(competing_.size());
    if (competing_.empty()) return;

    if (landmarks_)
        for (const auto& [op, mark] : landmarks_->find(state)) marks_[at(op)] |= mark;
    first_.evaluate(truth_.data(), marks_.data());
    demand_.trace(competing_);
    const float* vectors = first_.rows();
    const Index* row = first_.row_of_operator();
    for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
        predicate_layer(layer, vectors, row);
        if (layer + 1 == layers_.size()) break;
        action_layer(layer);
        vectors = operators_.data();
        row = identity_.data();
    }
    for (std::size_t i = 0; i < competing_.size(); ++i) {
        const Index op = competing_[i];
        const LastModule& last = last_[at(graph_.schema_of(op))];
        auto facts = graph_.facts_of(op);
        scores_[i] = kernels_.score(last.bias, last.weights.data(), vectors + at(row[op]) * at(width_),
                                    facts_.data(), facts.data(), static_cast<int>(facts.size()));
    }
}

void AsnetPolicy::predicate_layer(std::size_t layer, const float* vectors, const Index* row) {
    const AsnetWork& work = demand_.work(layer);
    const Layer& weights = layers_[layer];
    if (layer == 0) {
        for (Index f : work.facts) std::copy_n(weights.fact_base.row(at(f)), width_, facts_.row(at(f)));
    } else {
        for (std::size_t predicate = 0; predicate < weights.keep.size(); ++predicate) {
            const Index begin = work.fact_start[predicate], n = work.fact_start[predicate + 1] - begin;
            const Index* facts = work.facts.data() + begin;
            kernels_.linear(facts_.data(), facts, weights.fact_base.data(), width_,
                            weights.keep[predicate].data(), facts_.data(), facts, n);
        }
    }
    for (std::size_t slot = 0; slot < weights.pool.size(); ++slot) {
        const Index begin = work.pool_start[slot], n = work.pool_start[slot + 1] - begin;
        kernels_.pool(vectors, row, graph_.member_start.data(), graph_.members.data(),
                      work.pool_pairs.data() + begin, weights.pool[slot].data(), facts_.data(),
                      work.pool_facts.data() + begin, n);
    }
    kernels_.activate(facts_.data(), work.facts.data(), static_cast<Index>(work.facts.size()));
}

void AsnetPolicy::action_layer(std::size_t layer) {
    static constexpr float kZero alignas(64)[kMaxAsnetHidden] = {};
    const AsnetWork& reads = demand_.work(layer);
    const AsnetWork& writes = demand_.work(layer + 1);
    const Layer& weights = layers_[layer];
    for (std::size_t slot = 0; slot < weights.read.size(); ++slot) {
        const Index begin = reads.used_start[slot], n = reads.used_start[slot + 1] - begin;
        kernels_.linear(facts_.data(), reads.used_facts.data() + begin, kZero, 0, weights.read[slot].data(),
                        parts_.data(), reads.used_pairs.data() + begin, n);
        std::copy_n(weights.missing.row(slot), width_, parts_.row(at(graph_.num_pairs) + slot));
    }
    for (std::size_t schema = 0; schema < weights.own.size(); ++schema) {
        const Index begin = writes.operator_start[schema], n = writes.operator_start[schema + 1] - begin;
        if (n == 0) continue;
        const Index* ops = writes.operators.data() + begin;
        if (layer > 0)
            kernels_.linear(operators_.data(), ops, weights.own[schema].row(at(width_)), 0,
                            weights.own[schema].data(), operators_.data(), ops, n);
        const Index op = ops[0];
        kernels_.combine(layer > 0 ? operators_.data() : first_.own_parts(),
                         layer > 0 ? identity_.data() : first_.row_of_operator(), parts_.data(),
                         graph_.parts.data(), graph_.row_start.data(),
                         static_cast<int>(graph_.facts_of(op).size()), operators_.data(), ops, n);
    }
}

void AsnetPolicy::choose(std::span<const Word* const> states, ActionId* actions) {
    for (std::size_t i = 0; i < states.size(); ++i) {
        evaluate(states[i]);
        ActionId best = kNoAction;
        float best_score = 0;
        for (std::size_t j = 0; j < competing_.size(); ++j) {
            const ActionId action = action_of_operator_[at(competing_[j])];
            if (std::isnan(scores_[j])) {
                best = kNoDecision;
                break;
            }
            if (best == kNoAction || scores_[j] > best_score || (scores_[j] == best_score && action < best)) {
                best = action;
                best_score = scores_[j];
            }
        }
        actions[i] = best;
    }
}

std::vector<ActionScore> AsnetPolicy::scores(const Word* state) {
    evaluate(state);
    std::vector<ActionScore> result;
    for (std::size_t i = 0; i < competing_.size(); ++i)
        result.push_back({action_of_operator_[at(competing_[i])], scores_[i]});
    std::ranges::sort(result, {}, &ActionScore::action);
    return result;
}

}  // namespace misstep
