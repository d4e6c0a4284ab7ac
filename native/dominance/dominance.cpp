#include "dominance/dominance.hpp"

#include "dominance/fixed_point.hpp"

namespace misstep {

Dominance::Dominance(const StateSpace& space, const DominanceOptions& options) : space_(space) {
    LimitWatch watch(options.limits);
    compute(options, watch);
}

void Dominance::compute(const DominanceOptions& options, LimitWatch& watch) {
    is_merged_ = options.factors.merged;
    task_ = make_factors(space_, options.factors, watch);
    limit_ = task_.limit;
    tau_ = std::make_unique<TauMoves>(task_, watch);
    if (limit_ == LimitHit::kNone) limit_ = tau_->limit();
    std::vector<Relation> relations;
    for (std::size_t i = 0; i < task_.factors.size(); ++i) relations.emplace_back(task_, *tau_, i);
    if (limit_ == LimitHit::kNone) limit_ = find_fixed_point(task_, relations, watch);
    is_fallback_ = limit_ != LimitHit::kNone;
    for (Relation& relation : relations) {
        if (is_fallback_) relation.fall_back();
        sizes_.push_back(static_cast<std::size_t>(relation.size()));
        values_.push_back(relation.values());
    }
}

DominanceValue Dominance::value(const Word* s, const Word* t) const {
    std::vector<std::int32_t> of_s(num_factors()), of_t(num_factors());
    project(s, of_s.data());
    project(t, of_t.data());
    return value(of_s.data(), of_t.data());
}

}  // namespace misstep
