// Every distinct state once, under a 32-bit id. A record may carry extra words beside the state, so that a
// search finds a state and what it knows of it in one cache line.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "state/packer.hpp"
#include "util/growing_array.hpp"

namespace misstep {

using StateId = std::uint32_t;
inline constexpr StateId kNoState = ~StateId{0};

// Mixes all words of a state; the high 32 bits choose the slot, the low ones are the tag.
inline std::uint64_t hash_state(const Word* state, std::uint32_t num_words) {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL;
    std::uint32_t i = 0;
    auto mix = [&h](std::uint64_t x) {
        unsigned __int128 product = static_cast<unsigned __int128>(h ^ x) * 0xd6e8feb86659fd93ULL;
        h = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    };
    for (; i + 2 <= num_words; i += 2) {
        std::uint64_t pair = 0;
        std::memcpy(&pair, state + i, sizeof(pair));
        mix(pair);
    }
    if (i < num_words) mix(state[i]);
    mix(num_words);
    return h;
}

class StateRegistry {
  public:
    explicit StateRegistry(std::uint32_t num_words, std::uint32_t extra_words = 0);
    StateRegistry(const StateRegistry&) = delete;
    StateRegistry& operator=(const StateRegistry&) = delete;
    ~StateRegistry();

    std::uint32_t size() const { return size_; }
    std::size_t bytes() const;
    const Word* state(StateId id) const { return records_.data() + std::size_t{id} * stride_; }
    Word* extra(StateId id) { return records_.data() + std::size_t{id} * stride_ + num_words_; }
    const Word* extra(StateId id) const { return records_.data() + std::size_t{id} * stride_ + num_words_; }

    std::uint64_t hash(const Word* state) const { return hash_state(state, num_words_); }
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[slot_of(hash)]); }

    // The id of the state and whether it is new. Extra words of a new record are not set.
    // Throws std::length_error when the ids are used up.
    std::pair<StateId, bool> insert(const Word* state) { return insert(state, hash(state)); }
    std::pair<StateId, bool> insert(const Word* state, std::uint64_t hash);
    StateId find(const Word* state) const;  // kNoState if absent
    void clear();                           // keeps the memory

  private:
    struct Slot {
        std::uint32_t tag;
        StateId id;
    };
    std::size_t slot_of(std::uint64_t hash) const {
        return static_cast<std::size_t>((static_cast<unsigned __int128>(hash) * num_slots_) >> 64);
    }
    bool same(StateId id, const Word* state) const {
        return std::memcmp(this->state(id), state, num_words_ * sizeof(Word)) == 0;
    }
    void grow();

    std::uint32_t num_words_;
    std::uint32_t stride_;
    std::uint32_t size_ = 0;
    GrowingArray<Word> records_;
    Slot* slots_ = nullptr;
    std::size_t num_slots_ = 0;
    std::size_t max_size_ = 0;  // grow when size_ reaches it
};

}  // namespace misstep
