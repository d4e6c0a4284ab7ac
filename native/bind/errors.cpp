// Native errors become the classes of misstep.errors, so that one `except` serves both languages.
#include "bind/bind.hpp"
#include "util/error.hpp"

namespace {

void raise_as(const char* class_name, const std::exception& error) {
    nb::object type = nb::module_::import_("misstep.errors").attr(class_name);
    PyErr_SetString(type.ptr(), error.what());
}

}  // namespace

void bind_errors(nb::module_&) {
    nb::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (const misstep::UnsupportedFeature& e) {
            raise_as("UnsupportedFeature", e);
        } catch (const misstep::InputError& e) {
            raise_as("InputError", e);
        } catch (const misstep::PolicyError& e) {
            raise_as("PolicyError", e);
        } catch (const misstep::DominanceDefect& e) {
            raise_as("DominanceDefect", e);
        }
    });
}
