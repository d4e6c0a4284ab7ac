#include "training/crew.hpp"

#include <exception>
#include <utility>

namespace misstep {
namespace {

// Rounds take a fraction of a millisecond, less than the system takes to wake a thread: look for a while
// before going to sleep.
constexpr int kLooks = 20000;

void wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int i = 0; i < kLooks; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
}

}  // namespace

Crew::Crew(int num_threads) : errors_(static_cast<std::size_t>(num_threads)) {
    for (int number = 1; number < num_threads; ++number)
        threads_.emplace_back([this, number] { serve(number); });
}

Crew::~Crew() {
    ends_.store(true);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::run(const std::function<void(int)>& work) {
    work_ = &work;
    working_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    if (!threads_.empty()) round_.notify_all();
    do_work(0);
    for (std::uint32_t left; (left = working_.load(std::memory_order_acquire)) > 0;)
        wait_while(working_, left);
    for (std::exception_ptr& error : errors_)
        if (error) std::rethrow_exception(std::exchange(error, nullptr));
}

void Crew::serve(int number) {
    std::uint32_t seen = 0;
    while (true) {
        wait_while(round_, seen);
        ++seen;
        if (ends_.load()) return;
        do_work(number);
        working_.fetch_sub(1, std::memory_order_release);
        working_.notify_one();
    }
}

void Crew::do_work(int number) {
    try {
        (*work_)(number);
    } catch (...) {
        errors_[static_cast<std::size_t>(number)] = std::current_exception();
    }
}

}  // namespace misstep
