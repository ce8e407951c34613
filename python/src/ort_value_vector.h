#pragma once

#include "places.h"

namespace rh::python {

/// A list of OrtValue objects as training frameworks use it.
struct PyValueVector {
  std::vector<nb::object> values;

  PyValue& at(size_t index) const {
    if (index >= values.size()) throw nb::index_error("the OrtValueVector is shorter than that");
    return nb::cast<PyValue&>(values[index]);
  }
};

/// A value over memory that the caller keeps. Throws for strings.
PyValue value_over_pointer(const PyPlace& place, nb::handle type, const std::vector<int64_t>& shape, uintptr_t pointer);

}  // namespace rh::python
