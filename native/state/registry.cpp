#include "state/registry.hpp"

#include <stdexcept>

namespace misstep {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr double kMaxLoad = 0.8;

}  // namespace

StateRegistry::StateRegistry(std::uint32_t num_words, std::uint32_t extra_words)
    : num_words_(num_words), stride_(num_words + extra_words) {
    grow();
}

StateRegistry::~StateRegistry() {
    std::free(slots_);
}

std::size_t StateRegistry::bytes() const {
    return records_.size() * sizeof(Word) + num_slots_ * sizeof(Slot);
}

std::pair<StateId, bool> StateRegistry::insert(const Word* state, std::uint64_t hash) {
    if (size_ >= max_size_) grow();
    std::size_t slot = slot_of(hash);
    std::uint32_t tag = static_cast<std::uint32_t>(hash);
    while (slots_[slot].id != kNoState) {
        if (slots_[slot].tag == tag && same(slots_[slot].id, state)) return {slots_[slot].id, false};
        if (++slot == num_slots_) slot = 0;
    }
    StateId id = size_;
    if (id == kNoState) throw std::length_error("more than 2^32 - 1 states");
    Word* record = records_.extend(stride_);
    std::memcpy(record, state, num_words_ * sizeof(Word));
    slots_[slot] = {tag, id};
    ++size_;
    return {id, true};
}

StateId StateRegistry::find(const Word* state) const {
    std::uint64_t hash = hash_state(state, num_words_);
    std::size_t slot = slot_of(hash);
    std::uint32_t tag = static_cast<std::uint32_t>(hash);
    while (slots_[slot].id != kNoState) {
        if (slots_[slot].tag == tag && same(slots_[slot].id, state)) return slots_[slot].id;
        if (++slot == num_slots_) slot = 0;
    }
    return kNoState;
}

void StateRegistry::clear() {
    size_ = 0;
    records_.shrink(0);
    std::memset(slots_, 0xff, num_slots_ * sizeof(Slot));
}

void StateRegistry::grow() {
    // The table holds nothing that the records do not: throw it away before making the larger one.
    std::size_t num_slots = num_slots_ == 0 ? kFirstSlots : num_slots_ + num_slots_ / 2;
    void* slots = std::realloc(slots_, num_slots * sizeof(Slot));
    if (slots == nullptr) throw std::bad_alloc();
    slots_ = static_cast<Slot*>(slots);
    num_slots_ = num_slots;
    max_size_ = static_cast<std::size_t>(static_cast<double>(num_slots) * kMaxLoad);
    std::memset(slots_, 0xff, num_slots * sizeof(Slot));
    constexpr std::uint32_t kAhead = 16;
    std::uint64_t hashes[kAhead];
    for (StateId first = 0; first < size_; first += kAhead) {
        std::uint32_t n = std::min(kAhead, size_ - first);
        for (std::uint32_t i = 0; i < n; ++i) {
            hashes[i] = hash(state(first + i));
            __builtin_prefetch(&slots_[slot_of(hashes[i])], 1);
        }
        for (std::uint32_t i = 0; i < n; ++i) {
            std::size_t slot = slot_of(hashes[i]);
            while (slots_[slot].id != kNoState)
                if (++slot == num_slots_) slot = 0;
            slots_[slot] = {static_cast<std::uint32_t>(hashes[i]), first + i};
        }
    }
}

}  // namespace misstep
