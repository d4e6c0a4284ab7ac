// The inner loops of the relaxed exploration of kLanes states at once. One source, compiled twice: for AVX2
// and for whatever the compiler targets by default; batch_exploration.cpp chooses when the program runs.
#pragma once

#include <cstdint>

namespace misstep {

inline constexpr int kLanes = 16;

// Costs of one fact or action in all lanes. 16 bits: what may not fit is left to the one-state exploration.
using Lane = std::int16_t;
using Lanes = Lane __attribute__((vector_size(kLanes * sizeof(Lane))));
inline constexpr Lane kUnreached = 0x3fff;  // the sum of two still fits

// Actions with their facts, flat; `number` is the action's own number, `cost` its cost.
struct BatchAction {
    std::int32_t first_precondition, first_effect;  // into `facts`; the next action's begin where these end
    std::int32_t number;
    Lane cost;
};
struct BatchTask {
    const BatchAction* actions;  // one more than num_actions, as an end marker
    std::int32_t num_actions;
    const std::int32_t* facts;
};

// Lowers `costs` (one entry a fact) to the fixed point of h^add or h^max.
using ExploreKernel = void (*)(const BatchTask& task, Lanes* costs);
// For every fact and lane: the smallest number of an action that makes the fact true at just its h^add cost;
// `supporters` must be filled with -1 (no action). `task` must list actions by descending number.
using SupportersKernel = void (*)(const BatchTask& task, const Lanes* costs, Lanes* supporters);

struct BatchKernels {
    ExploreKernel explore_sum, explore_max;
    SupportersKernel supporters;
};

extern const BatchKernels kGenericKernels;
#if defined(__x86_64__)
extern const BatchKernels kAvx2Kernels;
#endif

}  // namespace misstep
