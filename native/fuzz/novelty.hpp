// The novelty filter of Steinmetz et al. (2022): does a state hold a fact, or a pair of facts, that no pool
// state has?
#pragma once

#include <cstdint>
#include <vector>

#include "heuristics/relaxed_task.hpp"

namespace misstep {

class NoveltyTable {
  public:
    // `level` is D: 1 (facts) or 2 (pairs as well).
    NoveltyTable(const RelaxedTask& task, int level) : task_(task), level_(level) {
        std::size_t n = static_cast<std::size_t>(task.num_facts);
        seen_.resize(level == 1 ? n : n * n);
        facts_.resize(static_cast<std::size_t>(task.num_variables));
    }
    // Whether novelty(state, pool) <= D.
    bool is_novel(const Word* state) {
        bool novel = false;
        visit(state, [&](std::size_t tuple) { novel = novel || !seen_[tuple]; });
        return novel;
    }
    void add(const Word* state) {
        visit(state, [&](std::size_t tuple) { seen_[tuple] = true; });
    }

  private:
    template <class Tuple>
    void visit(const Word* state, Tuple&& tuple) {
        task_.facts_of(state, facts_.data());
        std::size_t n = static_cast<std::size_t>(task_.num_facts);
        for (FactId p : facts_) {
            std::size_t fact = static_cast<std::size_t>(p);
            if (level_ == 1) {
                tuple(fact);
                continue;
            }
            // A new fact is a new pair with itself.
            for (FactId q : facts_)
                if (q >= p) tuple(fact * n + static_cast<std::size_t>(q));
        }
    }

    const RelaxedTask& task_;
    int level_;
    std::vector<bool> seen_;
    std::vector<FactId> facts_;
};

}  // namespace misstep
