#include "fuzz/weighted_select.hpp"

#include <algorithm>
#include <limits>

namespace misstep {

std::optional<std::size_t> weighted_select(std::span<const double> weights, Rng& rng) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    double least = kInf, most = -kInf;
    for (double w : weights) {
        if (w == -kInf) continue;
        least = std::min(least, w);
        most = std::max(most, w);
    }
    if (most == -kInf) return std::nullopt;
    const bool infinite = most == kInf;
    const double shift = least < 0 ? -least : 0;
    auto share = [&](double w, bool uniform) {
        if (w == -kInf || (infinite && w != kInf)) return 0.0;
        return uniform ? 1.0 : w + shift;
    };
    const bool uniform = infinite || most + shift <= 0;
    double total = 0;
    for (double w : weights) total += share(w, uniform);
    double at = rng.uniform() * total;
    std::size_t last = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        double s = share(weights[i], uniform);
        if (s <= 0) continue;
        last = i;  // rounding may leave `at` just above the last share
        if (at < s) return i;
        at -= s;
    }
    return last;
}

}  // namespace misstep
