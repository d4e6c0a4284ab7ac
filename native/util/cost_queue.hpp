// A priority queue for Dijkstra's algorithm on integer costs: buckets while costs are small, a heap once they
// are not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

namespace misstep {

// Pops values in ascending order of cost, and among equal costs in the order in which they came.
class CostQueue {
  public:
    // Nothing may be pushed below the last popped cost until the queue is cleared.
    void push(std::int32_t cost, std::int32_t value) {
        if (cost < kMaxBuckets) {
            if (static_cast<std::size_t>(cost) >= buckets_.size())
                buckets_.resize(static_cast<std::size_t>(cost) + 1);
            buckets_[static_cast<std::size_t>(cost)].push_back(value);
            ++in_buckets_;
        } else {
            heap_.emplace_back(cost, pushes_++, value);
            std::ranges::push_heap(heap_, std::greater<>{});
        }
    }
    bool empty() const { return in_buckets_ == 0 && heap_.empty(); }
    // The cost and the value.
    std::pair<std::int32_t, std::int32_t> pop() {
        if (in_buckets_ > 0) {
            while (head_ == buckets_[current_].size()) {
                buckets_[current_++].clear();
                head_ = 0;
            }
            --in_buckets_;
            return {static_cast<std::int32_t>(current_), buckets_[current_][head_++]};
        }
        std::ranges::pop_heap(heap_, std::greater<>{});
        auto [cost, _, value] = heap_.back();
        heap_.pop_back();
        return {cost, value};
    }
    void clear() {
        if (current_ < buckets_.size()) in_buckets_ += head_;
        for (; in_buckets_ > 0; ++current_) {
            in_buckets_ -= buckets_[current_].size();
            buckets_[current_].clear();
        }
        heap_.clear();
        current_ = 0;
        head_ = 0;
    }

  private:
    static constexpr std::int32_t kMaxBuckets = 1 << 16;
    std::vector<std::vector<std::int32_t>> buckets_;
    std::size_t current_ = 0;  // no bucket before it holds anything
    std::size_t head_ = 0;     // of the current bucket
    std::size_t in_buckets_ = 0;
    std::vector<std::tuple<std::int32_t, std::uint64_t, std::int32_t>> heap_;
    std::uint64_t pushes_ = 0;  // keeps the heap in order among equal costs
};

}  // namespace misstep
