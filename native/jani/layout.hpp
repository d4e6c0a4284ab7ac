// How a state is packed: integers in as few bits as their bounds need, reals as they are.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "jani/expr.hpp"

namespace misstep::jani {

// One scalar of the state.
struct Field {
    std::uint32_t slot;  // in the frame
    std::uint32_t word;  // in the packed state
    std::uint32_t shift;
    std::uint64_t mask;   // before shifting
    std::int64_t offset;  // subtracted before packing
    bool real;

    void put(std::uint64_t* words, Value value) const {
        std::uint64_t bits = real ? std::bit_cast<std::uint64_t>(value.d)
                                  : static_cast<std::uint64_t>(value.i) - static_cast<std::uint64_t>(offset);
        words[word] = (words[word] & ~(mask << shift)) | (bits & mask) << shift;
    }
    Value get(const std::uint64_t* words) const {
        std::uint64_t bits = words[word] >> shift & mask;
        if (real) return make(std::bit_cast<double>(bits));
        return make(static_cast<std::int64_t>(bits + static_cast<std::uint64_t>(offset)));
    }
};

class Layout {
  public:
    // Adds an integer (or boolean, or location) field; without bounds it takes a whole word.
    void add_integer(std::uint32_t slot, std::int64_t lower, std::int64_t upper) {
        std::uint64_t range = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
        place(slot, range == 0 ? 1 : static_cast<std::uint32_t>(std::bit_width(range)), lower, false);
    }
    void add_whole_integer(std::uint32_t slot) { place(slot, 64, 0, false); }
    void add_real(std::uint32_t slot) { place(slot, 64, 0, true); }

    std::uint32_t words() const { return words_; }
    const std::vector<Field>& fields() const { return fields_; }
    void pack(const Value* frame, std::uint64_t* words) const {
        std::memset(words, 0, words_ * sizeof(std::uint64_t));
        for (const Field& field : fields_) field.put(words, frame[field.slot]);
    }
    void unpack(const std::uint64_t* words, Value* frame) const {
        for (const Field& field : fields_) frame[field.slot] = field.get(words);
    }

  private:
    void place(std::uint32_t slot, std::uint32_t bits, std::int64_t offset, bool real) {
        // First word with room: fields never cross words, which keeps access to one load.
        std::uint32_t word = 0;
        while (word < words_ && used_[word] + bits > 64) ++word;
        if (word == words_) {
            ++words_;
            used_.push_back(0);
        }
        std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
        fields_.push_back({slot, word, used_[word], mask, offset, real});
        used_[word] += bits;
    }

    std::uint32_t words_ = 0;
    std::vector<std::uint32_t> used_;
    std::vector<Field> fields_;
};

// Packed states, each stored once and numbered in the order of discovery.
class Registry {
  public:
    explicit Registry(std::uint32_t words) : words_(words), slots_(1024, empty) {}

    // The number of the state; `added` says whether it is new.
    std::uint32_t insert(const std::uint64_t* state, bool& added);
    const std::uint64_t* operator[](std::uint32_t id) const {
        return data_.data() + static_cast<std::size_t>(id) * words_;
    }
    std::uint32_t size() const { return count_; }
    std::size_t bytes() const { return data_.capacity() * 8 + slots_.capacity() * 8; }

  private:
    static constexpr std::uint64_t empty =
        ~std::uint64_t{0};  // otherwise: upper half of the hash, then the number
    std::uint64_t hash(const std::uint64_t* state) const {
        std::uint64_t h = 0x9e3779b97f4a7c15ull;
        for (std::uint32_t i = 0; i < words_; ++i) {
            __uint128_t product = static_cast<__uint128_t>(h ^ state[i]) * 0xda942042e4dd58b5ull;
            h = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
            h ^= h >> 29;
        }
        return h * 0xff51afd7ed558ccdull;
    }
    void grow();

    std::uint32_t words_;
    std::uint32_t count_ = 0;
    std::vector<std::uint64_t> data_;
    std::vector<std::uint64_t> slots_;
};

}  // namespace misstep::jani
