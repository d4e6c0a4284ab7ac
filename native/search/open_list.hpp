// An open list over integer keys: one bucket a key, found through a small hash table, ordered by a heap of
// keys.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "state/registry.hpp"

namespace misstep {

enum class TieBreak { kLastIn, kFirstIn };

// Keys may lie far apart (costs in the millions): only keys that occur take memory.
template <TieBreak kTieBreak>
class OpenList {
  public:
    void push(std::uint64_t key, StateId state) {
        if (key != last_key_ || buckets_.empty()) {
            last_ = bucket_of(key);
            last_key_ = key;
        }
        Bucket& bucket = buckets_[last_];
        if (!bucket.in_heap) {
            bucket.in_heap = true;
            heap_.push_back({key, static_cast<std::uint32_t>(last_)});
            std::ranges::push_heap(heap_, std::greater<>{}, &HeapEntry::key);
        }
        bucket.states.push_back(state);
        ++size_;
    }
    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    // The smallest key with a state; the list must not be empty.
    std::uint64_t min_key() {
        settle();
        return heap_.front().key;
    }
    StateId pop() {
        settle();
        Bucket& bucket = buckets_[heap_.front().bucket];
        --size_;
        if constexpr (kTieBreak == TieBreak::kLastIn) {
            StateId state = bucket.states.back();
            bucket.states.pop_back();
            return state;
        } else {
            StateId state = bucket.states[bucket.head++];
            if (bucket.head * 2 > bucket.states.size() && bucket.head > 1024) {
                bucket.states.erase(bucket.states.begin(),
                                    bucket.states.begin() + static_cast<std::ptrdiff_t>(bucket.head));
                bucket.head = 0;
            }
            return state;
        }
    }

  private:
    struct Bucket {
        std::vector<StateId> states;
        std::size_t head = 0;  // of a first-in bucket
        bool in_heap = false;
    };
    struct HeapEntry {
        std::uint64_t key;
        std::uint32_t bucket;
    };

    // Drops keys whose bucket ran empty.
    void settle() {
        while (true) {
            Bucket& bucket = buckets_[heap_.front().bucket];
            if (bucket.head < bucket.states.size()) return;
            bucket.states.clear();
            bucket.head = 0;
            bucket.in_heap = false;
            std::ranges::pop_heap(heap_, std::greater<>{}, &HeapEntry::key);
            heap_.pop_back();
        }
    }
    std::size_t bucket_of(std::uint64_t key) {
        if ((buckets_.size() + 1) * 2 > table_.size()) grow_table();
        std::size_t slot = slot_of(key);
        while (table_[slot].bucket != kEmpty) {
            if (table_[slot].key == key) return table_[slot].bucket;
            slot = (slot + 1) & (table_.size() - 1);
        }
        table_[slot] = {key, static_cast<std::uint32_t>(buckets_.size())};
        buckets_.emplace_back();
        return buckets_.size() - 1;
    }
    std::size_t slot_of(std::uint64_t key) const {
        return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 32) & (table_.size() - 1);
    }
    void grow_table() {
        std::vector<HeapEntry> old = std::move(table_);
        table_.assign(old.empty() ? 64 : old.size() * 2, {0, kEmpty});
        for (const HeapEntry& entry : old) {
            if (entry.bucket == kEmpty) continue;
            std::size_t slot = slot_of(entry.key);
            while (table_[slot].bucket != kEmpty) slot = (slot + 1) & (table_.size() - 1);
            table_[slot] = entry;
        }
    }

    static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};
    std::vector<Bucket> buckets_;
    std::vector<HeapEntry> heap_;
    std::vector<HeapEntry> table_;
    std::uint64_t last_key_ = 0;
    std::size_t last_ = 0;
    std::size_t size_ = 0;
};

}  // namespace misstep
