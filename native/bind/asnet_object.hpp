// The native object behind AsnetPolicy, and networks from the arrays of Python.
#pragma once

#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "bind/policy_object.hpp"
#include "nn/asnet.hpp"

namespace misstep {

template <class T>
using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
using ModuleArrays = std::pair<Array<float>, Array<float>>;

struct AsnetObject : PolicyObject {
    using PolicyObject::PolicyObject;
    AsnetPolicy& asnet() { return static_cast<AsnetPolicy&>(*policy); }
};

template <class T>
std::vector<T> copied(const Array<T>& array) {
    return {array.data(), array.data() + array.size()};
}

inline std::vector<std::vector<AsnetModule>> copied(const std::vector<std::vector<ModuleArrays>>& layers) {
    std::vector<std::vector<AsnetModule>> result;
    for (const auto& layer : layers) {
        auto& modules = result.emplace_back();
        for (const auto& [weights, bias] : layer) modules.push_back({copied(weights), copied(bias)});
    }
    return result;
}

inline AsnetNetwork make_network(int hidden, const Array<std::int32_t>& operators,
                                 const Array<std::int32_t>& schema_start,
                                 const std::vector<Array<std::int32_t>>& slot_facts,
                                 const Array<std::int32_t>& predicate_start,
                                 const Array<std::int32_t>& fact_variables,
                                 const Array<std::int32_t>& fact_values, const Array<std::uint8_t>& goal,
                                 const std::vector<std::vector<std::pair<int, int>>>& predicate_slots,
                                 const std::vector<std::vector<ModuleArrays>>& action_modules,
                                 const std::vector<std::vector<ModuleArrays>>& predicate_modules) {
    AsnetNetwork net;
    net.hidden = hidden;
    net.operators = copied(operators);
    net.schema_start = copied(schema_start);
    for (const auto& facts : slot_facts) net.slot_facts.push_back(copied(facts));
    net.predicate_start = copied(predicate_start);
    net.fact_variables = copied(fact_variables);
    net.fact_values = copied(fact_values);
    net.goal = copied(goal);
    net.predicate_slots = predicate_slots;
    net.action_modules = copied(action_modules);
    net.predicate_modules = copied(predicate_modules);
    return net;
}

}  // namespace misstep
