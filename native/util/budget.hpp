// What work may spend: time, expansions, memory, effort, and whether somebody asked to stop. Every long loop
// counts its work here and ends when told to.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "util/resident.hpp"

namespace misstep {

// Set from another thread or a signal handler; native loops look at it every few thousand steps.
struct StopFlag {
    std::atomic<bool> stop{false};
};

enum class LimitHit { kNone, kExpansions, kSeconds, kMemory, kStopped, kIncomplete, kBound };

// Copies share the deadline and the stop flag: a copy with smaller limits is a part of the budget.
struct Budget {
    using Clock = std::chrono::steady_clock;

    std::uint64_t max_expansions = std::numeric_limits<std::uint64_t>::max();
    Clock::time_point deadline = Clock::time_point::max();
    std::size_t max_bytes = std::numeric_limits<std::size_t>::max();
    // For the whole process, whoever uses it: what is stored here and there adds up.
    std::size_t max_resident = std::numeric_limits<std::size_t>::max();
    double effort = std::numeric_limits<double>::infinity();  // in units that whoever spends it defines
    std::shared_ptr<StopFlag> stop;
    // Called about twenty times a second; false stops the loop. The bindings look for Ctrl-C here.
    std::function<bool()> poll;

    // No later than so many seconds from now.
    void end_within(double seconds) {
        // Beyond this the clock would overflow; nobody waits for a hundred years.
        constexpr double kForever = 3e9;
        if (!(seconds < kForever)) return;
        auto ticks = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        deadline = std::min(deadline, Clock::now() + ticks);
    }
    bool has_deadline() const { return deadline != Clock::time_point::max(); }
    // Never negative; infinite without a deadline.
    double seconds_left() const {
        if (!has_deadline()) return std::numeric_limits<double>::infinity();
        return std::max(0.0, std::chrono::duration<double>(deadline - Clock::now()).count());
    }
    bool is_stopped() const { return stop && stop->stop.load(std::memory_order_relaxed); }
    bool has_max_resident() const { return max_resident != std::numeric_limits<std::size_t>::max(); }
    // Whether the process is too large just now; work that ends may make it smaller again.
    bool is_too_large() const {
        if (!has_max_resident() || resident_bytes() <= max_resident) return false;
        give_back_memory();
        return resident_bytes() > max_resident;
    }
    // kStopped, kSeconds, kMemory or kNone.
    LimitHit over() const {
        if (is_stopped()) return LimitHit::kStopped;
        if (has_deadline() && Clock::now() >= deadline) return LimitHit::kSeconds;
        return is_too_large() ? LimitHit::kMemory : LimitHit::kNone;
    }
};

// Watches the budget of one loop. check() is cheap: clocks and flags are looked at now and then only, the
// first time included.
class BudgetWatch {
  public:
    explicit BudgetWatch(const Budget& budget)
        : budget_(budget), start_(Clock::now()), next_poll_(start_ + kPollInterval) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // `work` grows with the loop; expensive steps should count for more than one.
    LimitHit check(std::uint64_t expansions, std::size_t bytes, std::uint64_t work) {
        if (expansions >= budget_.max_expansions) return LimitHit::kExpansions;
        if (bytes > budget_.max_bytes) return LimitHit::kMemory;
        work_ += work;
        if (work_ < kWorkBetweenLooks) return LimitHit::kNone;
        work_ = 0;
        return look(bytes);
    }
    LimitHit look(std::size_t bytes = 0) {
        // Without any memory nothing starts, whether it counts bytes or not.
        if (bytes > budget_.max_bytes || budget_.max_bytes == 0) return LimitHit::kMemory;
        if (budget_.is_stopped()) return LimitHit::kStopped;
        Clock::time_point now = Clock::now();
        if (now >= budget_.deadline) return LimitHit::kSeconds;
        if (budget_.has_max_resident() && now >= next_size_) {
            next_size_ = now + kSizeInterval;
            if (budget_.is_too_large()) return LimitHit::kMemory;
        }
        if (now >= next_poll_) {
            next_poll_ = now + kPollInterval;
            if (budget_.poll && !budget_.poll()) return LimitHit::kStopped;
        }
        return LimitHit::kNone;
    }

    // The limit that work of about so many bytes and seconds would hit. For steps that are long and cannot be
    // stopped on the way.
    LimitHit foresee(double bytes, double seconds) const {
        if (bytes > static_cast<double>(std::min(budget_.max_bytes, machine_bytes())))
            return LimitHit::kMemory;
        if (budget_.has_max_resident() &&
            bytes + static_cast<double>(resident_bytes()) > static_cast<double>(budget_.max_resident))
            return LimitHit::kMemory;
        return seconds > budget_.seconds_left() ? LimitHit::kSeconds : LimitHit::kNone;
    }

  private:
    using Clock = Budget::Clock;
    static constexpr std::uint64_t kWorkBetweenLooks = 2000;
    static constexpr std::chrono::milliseconds kPollInterval{50};
    static constexpr std::chrono::milliseconds kSizeInterval{10};

    const Budget& budget_;
    Clock::time_point start_, next_poll_;
    Clock::time_point next_size_{};           // the first look looks
    std::uint64_t work_ = kWorkBetweenLooks;  // the first check looks
};

}  // namespace misstep
