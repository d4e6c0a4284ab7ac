// The Python module misstep._core: the native classes are the public classes.
#include "bind/bind.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The native core of misstep.";
    bind_errors(m);
    bind_safety(m);
    bind_jani(m);
    bind_mlp(m);
}
