#include "improve/improve.hpp"

#include <memory>
#include <new>

#include "improve/neighbourhood.hpp"
#include "improve/postponement.hpp"

namespace misstep {
namespace {

class Improvement {
  public:
    Improvement(const StateSpace& space, const Word* start, std::span<const ActionId> plan,
                const ImproveOptions& options)
        : space_(space),
          start_(start),
          options_(options),
          watch_(options.budget),
          plan_(space, start, {plan.begin(), plan.end()}) {}

    ImproveResult run() {
        try {
            search();
        } catch (const std::bad_alloc&) {
            result_.limit = LimitHit::kMemory;
        }
        result_.plan = plan_.actions();
        result_.cost = plan_.cost();
        result_.expanded = expanded_;
        result_.seconds = watch_.seconds();
        return std::move(result_);
    }

  private:
    void search() {
        result_.limit = watch_.look();
        if (result_.limit != LimitHit::kNone) return;
        plan_ = KnownPlan(space_, start_, eliminate_actions(space_, start_, plan_.actions(), watch_));
        if (plan_.cost() <= options_.enough || !within_budget(1)) return;
        improvers_.push_back(std::make_unique<Postponement>(space_));
        improvers_.push_back(std::make_unique<Neighbourhood>(space_, start_, ExpansionOrder::kNearest));
        improvers_.push_back(std::make_unique<Neighbourhood>(space_, start_, ExpansionOrder::kPromising));
        for (const auto& improver : improvers_) improver->adopt(plan_);
        while (plan_.cost() > options_.enough) {
            Improver* next = whose_turn();
            if (next == nullptr) {
                result_.exhausted = true;
                return;
            }
            std::uint64_t before = next->work();
            std::optional<std::vector<ActionId>> found =
                next->step(options_.budget.max_expansions - expanded_);
            if (found) adopt(std::move(*found));
            if (!within_budget(next->work() - before)) return;
        }
    }

    // The one that worked least so far; nullptr where the plan is proven optimal.
    Improver* whose_turn() {
        Improver* next = nullptr;
        for (const auto& improver : improvers_) {
            if (!improver->has_more()) {
                if (improver->is_complete()) return nullptr;
            } else if (next == nullptr || improver->work() < next->work()) {
                next = improver.get();
            }
        }
        return next;
    }

    void adopt(std::vector<ActionId> plan) {
        KnownPlan found(space_, start_, eliminate_actions(space_, start_, std::move(plan), watch_));
        if (found.cost() >= plan_.cost()) return;
        plan_ = std::move(found);
        for (const auto& improver : improvers_) improver->adopt(plan_);
    }

    bool within_budget(std::uint64_t work) {
        expanded_ = 0;
        std::size_t bytes = 0;
        for (const auto& improver : improvers_) {
            expanded_ += improver->expanded();
            bytes += improver->bytes();
        }
        result_.limit = watch_.check(expanded_, bytes, work);
        return result_.limit == LimitHit::kNone;
    }

    const StateSpace& space_;
    const Word* start_;
    const ImproveOptions& options_;
    BudgetWatch watch_;
    KnownPlan plan_;
    std::vector<std::unique_ptr<Improver>> improvers_;
    std::uint64_t expanded_ = 0;
    ImproveResult result_;
};

}  // namespace

ImproveResult improve_plan(const StateSpace& space, const Word* start, std::span<const ActionId> plan,
                           const ImproveOptions& options) {
    return Improvement(space, start, plan, options).run();
}

}  // namespace misstep
