#include "dominance/dominance.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dominance/fixed_point.hpp"
#include "util/error.hpp"

namespace misstep {

namespace {

// All that grows with the square of a factor: distances, values, floors; label values.
double bytes_needed(const FactoredTask& task) {
    double bytes = 0;
    for (const Factor& factor : task.factors) {
        auto n = static_cast<double>(factor.num_states), groups = static_cast<double>(factor.groups.size());
        bytes += sizeof(DominanceValue) * (4 * n * n + 3 * groups * groups);
    }
    return bytes;
}

// What filling them once takes, at least.
constexpr double kBytesInASecond = 1e9;

bool has_limit(const Budget& budget) {
    return budget.has_deadline() || budget.max_bytes < Budget{}.max_bytes || budget.has_max_resident() ||
           budget.stop;
}

}  // namespace

Dominance make_dominance(const StateSpace& space, const DominanceOptions& options) {
    BudgetWatch watch(options.budget);
    if (!options.factors.merged || !options.fixed_point) return Dominance(space, options, watch, false);
    std::optional<Dominance> best;
    if (has_limit(options.budget)) {
        DominanceOptions atomic = options;
        atomic.factors.merged = false;
        best.emplace(Dominance(space, atomic, watch, false));
        if (best->is_fallback_) return std::move(*best);
    }
    for (MergeOrder order : {MergeOrder::kNewestFirst, MergeOrder::kSmallestFirst}) {
        DominanceOptions merged = options;
        if (!options.one_order) merged.factors.order = order;
        Dominance found(space, merged, watch, best.has_value());
        if (found.is_fallback_) {
            if (!best) return found;  // interrupted
            best->limit_ = found.limit_;
            break;
        }
        // Merged factors are kept before atomic ones even where these relate more pairs: what they say is
        // finer.
        bool is_better = !best || !best->is_merged_ || found.informedness() > best->informedness();
        if (is_better) best.emplace(std::move(found));
        if (options.one_order || best->informedness() == 0) break;
    }
    return std::move(*best);
}

double Dominance::informedness() const {
    double sum = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (sizes_[i] == 0) continue;
        auto pairs = static_cast<double>(sizes_[i]) * static_cast<double>(sizes_[i]);
        auto finite = values_[i].empty() ? static_cast<double>(sizes_[i])
                                         : static_cast<double>(std::ranges::count_if(
                                               values_[i], [](auto value) { return value != kNever; }));
        sum += std::log(finite / pairs);
    }
    return sum;
}

Dominance::Dominance(const StateSpace& space, const DominanceOptions& options, BudgetWatch& watch,
                     bool is_optional)
    : space_(space) {
    compute(options, watch, is_optional);
}

void Dominance::compute(const DominanceOptions& options, BudgetWatch& watch, bool is_optional) {
    is_merged_ = options.factors.merged;
    order_ = options.factors.order;
    task_ = make_factors(space_, options.factors, watch);
    label_of_.assign(space_.task.actions.size(), kNoLabel);
    for (LabelId label = 0; label < task_.labels.size(); ++label)
        for (ActionId action : task_.labels[label].actions) label_of_[action] = label;
    limit_ = task_.limit;
    const double bytes = bytes_needed(task_);
    const LimitHit foreseen = watch.foresee(bytes, is_optional ? bytes / kBytesInASecond : 0);
    if (foreseen == LimitHit::kMemory || (is_optional && foreseen != LimitHit::kNone)) limit_ = foreseen;
    auto is_given_up = [&] { return is_optional && limit_ != LimitHit::kNone; };
    if (foreseen == LimitHit::kMemory || is_given_up()) {
        forget_values();
        return;
    }
    tau_ = std::make_unique<TauMoves>(task_, watch);
    if (limit_ == LimitHit::kNone) limit_ = tau_->limit();
    std::vector<Relation> relations;
    for (std::size_t i = 0; i < task_.factors.size() && !is_given_up(); ++i) {
        relations.emplace_back(task_, *tau_, i);
        if (limit_ == LimitHit::kNone) limit_ = watch.look();
    }
    if (limit_ == LimitHit::kNone && options.fixed_point) limit_ = find_fixed_point(task_, relations, watch);
    is_fallback_ = limit_ != LimitHit::kNone || !options.fixed_point;
    if (is_given_up()) {
        relations.clear();
        forget_values();
        return;
    }
    if (is_fallback_)
        for (Relation& relation : relations) relation.fall_back();
    take_values(relations);
}

// Without memory for anything, D is 0 between states that no factor tells apart: then t can do what s does.
void Dominance::forget_values() {
    is_fallback_ = true;
    for (const Factor& factor : task_.factors) sizes_.push_back(static_cast<std::size_t>(factor.num_states));
    values_.resize(num_factors());
    label_values_.resize(num_factors());
    const Budget no_limit;
    BudgetWatch watch(no_limit);
    tau_ = std::make_unique<TauMoves>(FactoredTask{}, watch);
}

void Dominance::take_values(const std::vector<Relation>& relations) {
    sizes_.clear();
    values_.clear();
    label_values_.clear();
    for (std::size_t i = 0; i < relations.size(); ++i) {
        sizes_.push_back(static_cast<std::size_t>(relations[i].size()));
        values_.push_back(relations[i].values());
        label_values_.push_back(label_values(task_.factors[i], values_.back()));
    }
}

DominanceValue Dominance::label_value(std::size_t factor, LabelId label, LabelId other) const {
    if (label_values_[factor].empty()) return label == other ? 0 : kNever;
    const Factor& own = task_.factors[factor];
    auto group = [&own](LabelId l) { return l == kNoLabel ? kIdentity : own.group_of[l]; };
    return label_values_[factor][static_cast<std::size_t>(group(label)) * own.groups.size() +
                                 static_cast<std::size_t>(group(other))];
}

void Dominance::replace_values(std::vector<std::vector<DominanceValue>> values) {
    const char* refused = "the values are not those of a dominance function of this task; compute it again";
    if (values.size() != num_factors() || values_.size() != sizes_.size()) throw InputError(refused);
    std::vector<Relation> relations;
    bool is_below_fallback = true;
    for (std::size_t i = 0; i < num_factors(); ++i) {
        relations.emplace_back(task_, *tau_, i);
        if (values[i].size() != relations[i].values().size() || !relations[i].load(std::move(values[i])))
            throw InputError(refused);
        is_below_fallback &= relations[i].is_below_fallback();
    }
    // Anything below the distances by tau moves is sound without being a fixed point.
    if (!is_below_fallback && !is_fixed_point(task_, relations)) throw InputError(refused);
    is_fallback_ = is_below_fallback;
    take_values(relations);
}

Total Dominance::value(const Word* s, const Word* t) const {
    std::vector<std::int32_t> of_s(num_factors()), of_t(num_factors());
    project(s, of_s.data());
    project(t, of_t.data());
    return value(of_s.data(), of_t.data());
}

}  // namespace misstep
