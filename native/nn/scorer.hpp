// What a policy over scores needs of a network or tree ensemble.
#pragma once

#include <cstddef>
#include <cstdint>

namespace misstep::nn {

class Scorer {
  public:
    virtual ~Scorer() = default;
    virtual std::uint32_t inputs() const = 0;
    virtual std::uint32_t outputs() const = 0;
    // `in` holds n rows of inputs, `out` gets n rows of outputs; a row's numbers do not depend on the others.
    virtual void evaluate(const double* in, double* out, std::size_t n) const = 0;
};

}  // namespace misstep::nn
