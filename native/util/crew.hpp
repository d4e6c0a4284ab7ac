// A few threads that help with the same work, again and again, with little time in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace misstep {

// Work is given in items that threads take one by one. Whoever comes takes part: a helper that the system
// does not let run in time is not waited for, so that a busy machine costs no more than the helper.
class Crew {
  public:
    // The caller is one of the threads.
    explicit Crew(int num_threads);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    int num_threads() const { return static_cast<int>(errors_.size()); }

    // Calls work(thread, item) for every item once, and waits until all are done. The first exception is
    // thrown here.
    void run(std::size_t num_items, const std::function<void(int, std::size_t)>& work);

  private:
    static constexpr std::uint64_t kOpen = 1ULL << 31;  // helpers may join; the round above, how many below
    static constexpr std::uint64_t kRound = 1ULL << 32;

    void serve(int number);
    void take_items(int number);
    std::uint64_t wait_for_round(std::uint64_t seen) const;

    const std::function<void(int, std::size_t)>* work_ = nullptr;
    std::size_t num_items_ = 0;
    std::atomic<std::size_t> next_{0};
    std::atomic<std::uint64_t> state_{0};
    std::atomic<bool> ends_{false};
    std::vector<std::exception_ptr> errors_;
    std::vector<std::thread> threads_;
    int process_;  // threads do not follow into a forked process
};

}  // namespace misstep
