// How long a native loop may go on. Every long loop counts its work here and stops when told to.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace misstep {

// Set from another thread or a signal handler; native loops look at it every few thousand steps.
struct StopFlag {
    std::atomic<bool> stop{false};
};

enum class LimitHit { kNone, kExpansions, kSeconds, kMemory, kStopped, kIncomplete, kBound };

struct Limits {
    std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
    double max_seconds = std::numeric_limits<double>::infinity();
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    const StopFlag* stop = nullptr;
    // Called about ten times a second; false stops the loop. The bindings look for Ctrl-C here.
    std::function<bool()> poll;
};

// Watches the limits of one loop. check() is cheap: clocks and flags are looked at now and then only.
class LimitWatch {
  public:
    explicit LimitWatch(const Limits& limits)
        : limits_(limits), start_(Clock::now()), next_poll_(start_ + kPollInterval) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // `work` grows with the loop; expensive steps should count for more than one.
    LimitHit check(std::uint64_t expansions, std::size_t bytes, std::uint64_t work) {
        if (expansions >= limits_.max_expansions) return LimitHit::kExpansions;
        if (bytes > limits_.max_bytes) return LimitHit::kMemory;
        work_ += work;
        if (work_ < kWorkBetweenLooks) return LimitHit::kNone;
        work_ = 0;
        return look();
    }
    LimitHit look() {
        if (limits_.stop != nullptr && limits_.stop->stop.load(std::memory_order_relaxed))
            return LimitHit::kStopped;
        Clock::time_point now = Clock::now();
        if (std::chrono::duration<double>(now - start_).count() >= limits_.max_seconds)
            return LimitHit::kSeconds;
        if (now >= next_poll_) {
            next_poll_ = now + kPollInterval;
            if (limits_.poll && !limits_.poll()) return LimitHit::kStopped;
        }
        return LimitHit::kNone;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kWorkBetweenLooks = 2000;
    static constexpr std::chrono::milliseconds kPollInterval{50};

    const Limits& limits_;
    Clock::time_point start_, next_poll_;
    std::uint64_t work_ = 0;
};

}  // namespace misstep
