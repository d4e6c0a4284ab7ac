// The base class of native policies for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind/policy_object.hpp"
#include "util/error.hpp"

using namespace misstep;

void bind_policy(nb::module_& m) {
    nb::class_<PolicyObject>(m, "NativePolicy",
                             "A policy that is evaluated natively; a callable like any other policy.")
        .def_prop_ro("task", [](const PolicyObject& p) { return p.task; })
        .def(
            "__call__",
            [](PolicyObject& p, const BatchObject& batch) {
                require_same_task(*p.core, *batch.core, "batch");
                std::vector<Word> packed = batch.packed();
                auto states = pointers(packed, p.core->space.num_words());
                std::vector<ActionId> actions(states.size(), kNoAction);
                {
                    nb::gil_scoped_release no_gil;
                    std::scoped_lock lock(*p.busy);
                    p.policy->choose(states, actions.data());
                }
                nb::list result;
                for (ActionId id : actions) {
                    if (id == kNoAction || id == kUnknownAction)
                        result.append(nb::none());
                    else
                        result.append(ActionObject{p.task, p.core, id});
                }
                return result;
            },
            nb::arg("states"), nb::sig("def __call__(self, states: StateBatch, /) -> list[Action | None]"),
            "The chosen action of each state, None where the policy has none.");
}
