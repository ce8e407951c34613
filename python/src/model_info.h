#pragma once

#include <roundhouse/onnxruntime_cxx_api.h>

#include "module.h"
#include "types.h"

namespace rh::python {

/// An input, output or overridable initializer: name, type text, and dimensions as numbers, names or None.
struct PyNodeArg {
  std::string name;
  std::string type;
  nb::list shape;
};

struct PyMetadata {
  std::string producer_name, graph_name, domain, description, graph_description;
  int64_t version = 0;
  std::map<std::string, std::string> custom_metadata_map;
};

PyNodeArg node_arg(std::string name, const Ort::TypeInfo& info);
PyMetadata metadata_of(const Ort::Session& session);

}  // namespace rh::python
