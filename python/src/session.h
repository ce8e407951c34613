#pragma once

#include "values.h"

namespace rh::python {

/// Behind a Session object: the handle, and what an input is declared as, null for a name that is none.
Ort::Session& native_session(nb::handle session);
const DeclaredType* declared_input(nb::handle session, const std::string& name);

}  // namespace rh::python
