#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <roundhouse/onnxruntime_cxx_api.h>

namespace nb = nanobind;

namespace rh::python {

/// The environment that all sessions of the process share; made on first use and kept until the process ends.
Ort::Env& environment();

void bind_options(nb::module_& module);
void bind_ort_value(nb::module_& module);
void bind_sparse_tensor(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_session(nb::module_& module);
void bind_model_info(nb::module_& module);
void bind_ort_value_vector(nb::module_& module);
void bind_io_binding(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_compile(nb::module_& module);
void bind_context_data(nb::module_& module);
void bind_adapters(nb::module_& module);

}  // namespace rh::python
