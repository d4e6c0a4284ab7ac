// Random numbers that are the same on every machine for a seed (splitmix64; the standard distributions are
// not).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace misstep {

class Rng {
  public:
    explicit Rng(std::uint64_t seed) : state_(seed) {}

    // All there is to know: numbers go on from here.
    std::uint64_t state() const { return state_; }
    void set_state(std::uint64_t state) { state_ = state; }

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    // Uniform in 0 .. bound - 1, without bias.
    std::uint64_t below(std::uint64_t bound) {
        std::uint64_t threshold = -bound % bound;
        while (true) {
            unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
            if (static_cast<std::uint64_t>(product) >= threshold)
                return static_cast<std::uint64_t>(product >> 64);
        }
    }
    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

  private:
    std::uint64_t state_;
};

}  // namespace misstep
