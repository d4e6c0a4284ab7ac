// A priority queue for Dijkstra's algorithm on integer costs: buckets while costs are small, a heap once they
// are not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace misstep {

// Pops values in ascending order of cost; equal costs in a fixed, but unspecified order.
class CostQueue {
  public:
    using Entry = std::pair<std::int32_t, std::int32_t>;  // cost, value

    // Keys up to `max_bucket_cost` go to buckets. Nothing may be pushed below the last popped cost.
    void push(std::int32_t cost, std::int32_t value) {
        if (cost < kMaxBuckets) {
            if (static_cast<std::size_t>(cost) >= buckets_.size()) buckets_.resize(cost + 1);
            buckets_[cost].push_back(value);
            ++in_buckets_;
        } else {
            heap_.emplace_back(cost, value);
            std::ranges::push_heap(heap_, std::greater<>{});
        }
    }
    bool empty() const { return in_buckets_ == 0 && heap_.empty(); }
    Entry pop() {
        if (in_buckets_ > 0) {
            while (buckets_[current_].empty()) ++current_;
            std::int32_t value = buckets_[current_].back();
            buckets_[current_].pop_back();
            --in_buckets_;
            return {static_cast<std::int32_t>(current_), value};
        }
        std::ranges::pop_heap(heap_, std::greater<>{});
        Entry entry = heap_.back();
        heap_.pop_back();
        return entry;
    }
    void clear() {
        for (; in_buckets_ > 0; ++current_) {
            in_buckets_ -= buckets_[current_].size();
            buckets_[current_].clear();
        }
        heap_.clear();
        current_ = 0;
    }
    // Start again from cost 0 with an empty queue.
    void restart() { current_ = 0; }

  private:
    static constexpr std::int32_t kMaxBuckets = 1 << 16;
    std::vector<std::vector<std::int32_t>> buckets_;
    std::size_t current_ = 0;
    std::size_t in_buckets_ = 0;
    std::vector<Entry> heap_;
};

}  // namespace misstep
