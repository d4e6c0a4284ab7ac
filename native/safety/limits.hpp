// How long a decider may work, and how it says that it may not go on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace misstep::safety {

enum class Reason : std::uint8_t { none, expansions, seconds, memory, stopped };

struct Limits {
    std::optional<std::uint64_t> max_expansions;
    std::optional<double> max_seconds;
    std::optional<std::uint64_t> max_bytes;
    const std::atomic<bool>* stop = nullptr;
};

// Thrown where a limit is hit, between two steps that each leave the caches sound; caught by Decider::decide.
struct LimitHit {
    Reason reason;
};

class Meter {
  public:
    using Clock = std::chrono::steady_clock;
    void start(const Limits& limits) {
        limits_ = limits;
        expansions_ = ticks_ = 0;
        started_ = Clock::now();
    }
    // One expansion more, of a game that now takes this many bytes.
    void expand(std::size_t bytes) {
        if (limits_.max_expansions && expansions_ >= *limits_.max_expansions)
            throw LimitHit{Reason::expansions};
        if (limits_.max_bytes && bytes > *limits_.max_bytes) throw LimitHit{Reason::memory};
        ++expansions_;
        look(64);
    }
    // A unit of work that is no expansion; cheap enough for inner loops.
    void tick() { look(1); }
    std::uint64_t expansions() const { return expansions_; }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  private:
    void look(std::uint32_t weight) {
        ticks_ += weight;
        if (ticks_ < 4096) return;
        ticks_ = 0;
        if (limits_.stop && limits_.stop->load(std::memory_order_relaxed)) throw LimitHit{Reason::stopped};
        if (limits_.max_seconds && seconds() > *limits_.max_seconds) throw LimitHit{Reason::seconds};
    }

    Limits limits_;
    std::uint64_t expansions_ = 0;
    std::uint32_t ticks_ = 0;
    Clock::time_point started_;
};

}  // namespace misstep::safety
