#include "jani/layout.hpp"

#include "util/error.hpp"

namespace misstep::jani {

std::uint32_t Registry::insert(const std::uint64_t* state, bool& added) {
    if (2 * (static_cast<std::size_t>(count_) + 1) > slots_.size()) grow();
    const std::uint64_t h = hash(state);
    const std::uint64_t tag = h & 0xffffffff00000000ull;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = h & mask;; i = (i + 1) & mask) {
        const std::uint64_t slot = slots_[i];
        if (slot == empty) {
            if (count_ == 0xfffffffeu) throw InputError("more than 2^32 states");
            slots_[i] = tag | count_;
            data_.insert(data_.end(), state, state + words_);
            added = true;
            return count_++;
        }
        if ((slot & 0xffffffff00000000ull) == tag) {
            const auto id = static_cast<std::uint32_t>(slot);
            if (std::memcmp((*this)[id], state, words_ * sizeof(std::uint64_t)) == 0) {
                added = false;
                return id;
            }
        }
    }
}

void Registry::grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2, empty);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (std::uint32_t id = 0; id < count_; ++id) {
        const std::uint64_t h = hash((*this)[id]);
        std::size_t i = h & mask;
        while (slots_[i] != empty) i = (i + 1) & mask;
        slots_[i] = (h & 0xffffffff00000000ull) | id;
    }
}

}  // namespace misstep::jani
