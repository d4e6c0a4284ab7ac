#include "util/crew.hpp"

#include <unistd.h>

#include <utility>

namespace misstep {
namespace {

// Rounds take a fraction of a millisecond, less than the system takes to wake a thread: look for a while
// before going to sleep.
constexpr int kLooks = 4000;

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

Crew::Crew(int num_threads) : errors_(static_cast<std::size_t>(num_threads)), process_(getpid()) {
    for (int number = 1; number < num_threads; ++number)
        threads_.emplace_back([this, number] { serve(number); });
}

Crew::~Crew() {
    if (process_ != getpid()) {
        for (std::thread& thread : threads_) thread.detach();
        return;
    }
    ends_.store(true);
    state_.fetch_add(kRound);
    state_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::run(std::size_t num_items, const std::function<void(int, std::size_t)>& work) {
    work_ = &work;
    num_items_ = num_items;
    next_.store(0, std::memory_order_relaxed);
    if (!threads_.empty()) {
        state_.store((state_.load(std::memory_order_relaxed) + kRound) | kOpen, std::memory_order_release);
        state_.notify_all();
    }
    take_items(0);
    std::uint64_t state = state_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    for (int looks = 0; (state & (kOpen - 1)) != 0; state = state_.load(std::memory_order_acquire)) {
        if (++looks < kLooks)
            pause();
        else
            state_.wait(state, std::memory_order_acquire);
    }
    for (std::exception_ptr& error : errors_)
        if (error) std::rethrow_exception(std::exchange(error, nullptr));
}

// The state of a round that is open or was, after the one that was seen.
std::uint64_t Crew::wait_for_round(std::uint64_t seen) const {
    std::uint64_t state = state_.load(std::memory_order_acquire);
    for (int looks = 0; state / kRound == seen; state = state_.load(std::memory_order_acquire)) {
        if (++looks < kLooks)
            pause();
        else
            state_.wait(state, std::memory_order_acquire);
    }
    return state;
}

void Crew::serve(int number) {
    std::uint64_t seen = 0;
    while (true) {
        std::uint64_t state = wait_for_round(seen);
        seen = state / kRound;
        if (ends_.load()) return;
        // Joins where the round is still open; the caller cannot go on while anybody is in it.
        while ((state & kOpen) != 0 && state / kRound == seen) {
            if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) continue;
            take_items(number);
            state_.fetch_sub(1, std::memory_order_acq_rel);
            state_.notify_all();
            break;
        }
    }
}

void Crew::take_items(int number) {
    try {
        for (std::size_t item; (item = next_.fetch_add(1, std::memory_order_relaxed)) < num_items_;)
            (*work_)(number, item);
    } catch (...) {
        errors_[static_cast<std::size_t>(number)] = std::current_exception();
    }
}

}  // namespace misstep
