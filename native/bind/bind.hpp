// What the binding files share. One function a folder of the engine; each adds its classes to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_errors(nb::module_& m);
void bind_budget(nb::module_& m);
void bind_fdr(nb::module_& m);
void bind_state(nb::module_& m);
void bind_heuristics(nb::module_& m);
void bind_search(nb::module_& m);
void bind_improve(nb::module_& m);
void bind_undo(nb::module_& m);
void bind_policy(nb::module_& m);
void bind_asnet(nb::module_& m);
void bind_gnn(nb::module_& m);
void bind_fuzz(nb::module_& m);
void bind_safety(nb::module_& m);
void bind_jani(nb::module_& m);
void bind_mlp(nb::module_& m);
void bind_dominance(nb::module_& m);
void bind_bounds(nb::module_& m);
void bind_abstraction(nb::module_& m);
void bind_proofs(nb::module_& m);
void bind_training(nb::module_& m);
