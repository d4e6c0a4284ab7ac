// A few threads that do the same work together, again and again, with little time in between.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace misstep {

class Crew {
  public:
    // The caller is one of the threads.
    explicit Crew(int num_threads);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    int size() const { return static_cast<int>(threads_.size()) + 1; }
    // Calls work(0), ..., work(size() - 1), each on a thread of its own, and waits for all. The first
    // exception is thrown here.
    void run(const std::function<void(int)>& work);

  private:
    void serve(int number);
    void do_work(int number);

    const std::function<void(int)>* work_ = nullptr;
    std::atomic<std::uint32_t> round_{0};
    std::atomic<std::uint32_t> working_{0};
    std::atomic<bool> ends_{false};
    std::vector<std::exception_ptr> errors_;
    std::vector<std::thread> threads_;
};

}  // namespace misstep
