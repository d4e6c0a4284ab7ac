// A hash map from (state, budget) to a 32-bit number: the nodes of the product that finite radii need.
#pragma once

#include <cstdint>
#include <vector>

#include "safety/game.hpp"

namespace misstep::safety {

class PairMap {
  public:
    PairMap() : slots_(1024) {}

    // The number stored for the pair; a new pair is stored with `fresh`.
    std::uint32_t& at(StateId s, std::uint32_t b, std::uint32_t fresh) {
        if (2 * (used_ + 1) > slots_.size()) grow();
        Slot& slot = find(key(s, b));
        if (slot.key == empty) {
            slot = {key(s, b), fresh};
            ++used_;
        }
        return slot.value;
    }
    std::uint32_t get(StateId s, std::uint32_t b, std::uint32_t otherwise) {
        Slot& slot = find(key(s, b));
        return slot.key == empty ? otherwise : slot.value;
    }
    std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }
    void clear() {
        slots_.assign(1024, Slot{});
        used_ = 0;
    }

  private:
    static constexpr std::uint64_t empty = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key = empty;
        std::uint32_t value = 0;
    };
    static std::uint64_t key(StateId s, std::uint32_t b) { return static_cast<std::uint64_t>(b) << 32 | s; }
    Slot& find(std::uint64_t key) {
        std::size_t mask = slots_.size() - 1;
        std::size_t i = (key * 0x9e3779b97f4a7c15ull) >> 20 & mask;
        while (slots_[i].key != empty && slots_[i].key != key) i = (i + 1) & mask;
        return slots_[i];
    }
    void grow() {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.key != empty) find(slot.key) = slot;
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

}  // namespace misstep::safety
