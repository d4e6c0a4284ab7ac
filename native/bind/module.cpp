// The Python module misstep._core: the native classes are the public classes.
#include "bind/bind.hpp"

NB_MODULE(_core, m) {
    // Objects that live until the interpreter ends (caches, globals) are no leaks worth telling users about.
    nb::set_leak_warnings(false);
    m.doc() = "The native core of misstep.";
    m.attr("build_info") = "C++ " __VERSION__;
    bind_errors(m);
    bind_budget(m);
    bind_state(m);
    bind_fdr(m);
    bind_heuristics(m);
    bind_search(m);
    bind_improve(m);
    bind_undo(m);
    bind_policy(m);
    bind_asnet(m);
    bind_gnn(m);
    bind_fuzz(m);
    bind_safety(m);
    bind_jani(m);
    bind_mlp(m);
    bind_dominance(m);
    bind_bounds(m);
    bind_proofs(m);
    bind_abstraction(m);
    bind_training(m);
}
