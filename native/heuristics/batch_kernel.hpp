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
// For every fact and lane: the supporter as RelaxedExploration defines it. `supporters` must hold kOfState
// for facts of the state and another negative number for others. `task` must list actions by descending
// number. The first kernel is for tasks without zero costs; the second one wants depths of 0 for facts of the
// state and kUnreached for others, and the actions that cost nothing once more.
inline constexpr Lane kOfState = -1;
using SupportersKernel = void (*)(const BatchTask& task, const Lanes* costs, Lanes* supporters);
using DepthSupportersKernel = void (*)(const BatchTask& task, const BatchTask& free_actions,
                                       const Lanes* costs, Lanes* depths, Lanes* supporters);

struct BatchKernels {
    ExploreKernel explore_sum, explore_max;
    SupportersKernel supporters;
    DepthSupportersKernel supporters_by_depth;
};

extern const BatchKernels kGenericKernels;
#if defined(__x86_64__)
extern const BatchKernels kAvx2Kernels;
#endif

}  // namespace misstep
