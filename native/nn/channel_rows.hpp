// Rows of channels, one a fact or an operator, aligned for vector instructions and padded to a fixed width.
#pragma once

#include <cstddef>
#include <vector>

namespace misstep {

class ChannelRows {
  public:
    ChannelRows() = default;
    // All zero.
    ChannelRows(int width, std::size_t rows)
        : width_(static_cast<std::size_t>(width)), lines_((rows * width_ + kLine - 1) / kLine) {}

    float* data() { return lines_.empty() ? nullptr : lines_.front().channels; }
    const float* data() const { return lines_.empty() ? nullptr : lines_.front().channels; }
    float* row(std::size_t i) { return data() + i * width_; }
    const float* row(std::size_t i) const { return data() + i * width_; }

  private:
    static constexpr std::size_t kLine = 16;
    struct alignas(kLine * sizeof(float)) Line {
        float channels[kLine];
    };
    std::size_t width_ = 0;
    std::vector<Line> lines_;
};

}  // namespace misstep
