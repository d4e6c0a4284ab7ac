// Relaxed explorations of many states at once, in SIMD lanes: the same values and supporters as one by one.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <vector>

#include "heuristics/batch_kernel.hpp"
#include "heuristics/exploration.hpp"

namespace misstep {

// One entry a fact. Vectors of SIMD types lose their alignment as template arguments, so it is asked for
// here.
class LaneArray {
  public:
    explicit LaneArray(std::size_t size)
        : size_(size), data_(static_cast<Lanes*>(::operator new(size * sizeof(Lanes), kAlignment))) {}
    LaneArray(const LaneArray&) = delete;
    LaneArray& operator=(const LaneArray&) = delete;
    ~LaneArray() { ::operator delete(data_, kAlignment); }

    Lanes* begin() { return data_; }
    Lanes* end() { return data_ + size_; }
    Lane& at(FactId fact, std::size_t lane) { return reinterpret_cast<Lane*>(data_ + fact)[lane]; }
    Lane at(FactId fact, std::size_t lane) const { return reinterpret_cast<const Lane*>(data_ + fact)[lane]; }

  private:
    static constexpr std::align_val_t kAlignment{sizeof(Lanes)};
    std::size_t size_;
    Lanes* data_;
};

class BatchExploration {
  public:
    // Null where the task does not fit the lanes (too many actions, too large costs).
    static std::unique_ptr<BatchExploration> make(const RelaxedTask& task);

    // Explores at most kLanes states. Facts of lanes beyond are not defined.
    void explore(std::span<const Word* const> states, Combine combine);
    // Whether every value of this lane is right; others must be explored one by one. After explore().
    bool is_exact(std::size_t lane) const { return exact_[lane]; }
    Cost cost(FactId fact, std::size_t lane) const {
        Lane cost = costs_.at(fact, lane);
        return cost == kUnreached ? kInfinity : cost;
    }
    Cost estimate(std::span<const FactId> goal, std::size_t lane, Combine combine) const;

    // After explore() with Combine::kSum. As RelaxedExploration::supporter().
    void find_supporters();
    std::int32_t supporter(FactId fact, std::size_t lane) const { return supporters_.at(fact, lane); }

  private:
    explicit BatchExploration(const RelaxedTask& task);

    struct Actions {
        std::vector<BatchAction> actions;
        std::vector<std::int32_t> facts;
        BatchTask view() const {
            return {actions.data(), static_cast<std::int32_t>(actions.size()) - 1, facts.data()};
        }
    };
    Actions flattened(const std::vector<std::int32_t>& order) const;

    const RelaxedTask& task_;
    const BatchKernels& kernels_;
    Actions by_cost_;    // in the order of an exploration from the initial state: few sweeps
    Actions by_number_;  // descending
    Actions free_;       // those of by_cost_ that cost nothing
    Lane max_exact_;     // while all costs of a lane are at most this, no sum can have been cut off
    LaneArray costs_, depths_, supporters_;
    std::vector<FactId> state_facts_;  // of the last explore(): a row for each lane
    bool exact_[kLanes] = {};
};

}  // namespace misstep
