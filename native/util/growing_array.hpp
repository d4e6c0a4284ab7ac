// A flat array of plain values that grows through realloc: large blocks move by remapping pages, not by
// copying, so that growing needs no second copy in memory and untouched capacity costs nothing.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace misstep {

template <class T>
class GrowingArray {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    GrowingArray() = default;
    GrowingArray(const GrowingArray&) = delete;
    GrowingArray& operator=(const GrowingArray&) = delete;
    ~GrowingArray() { std::free(data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t capacity_bytes() const { return capacity_ * sizeof(T); }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

    // Makes room for `count` more values and returns where they start; their content is not set.
    T* extend(std::size_t count) {
        if (size_ + count > capacity_) grow(size_ + count);
        T* start = data_ + size_;
        size_ += count;
        return start;
    }
    void push_back(T value) { *extend(1) = value; }
    void shrink(std::size_t size) { size_ = size; }

  private:
    void grow(std::size_t needed) {
        std::size_t capacity = capacity_ + capacity_ / 2 + 64;
        if (capacity < needed) capacity = needed;
        void* grown = std::realloc(data_, capacity * sizeof(T));
        if (grown == nullptr) throw std::bad_alloc();
        data_ = static_cast<T*>(grown);
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace misstep
