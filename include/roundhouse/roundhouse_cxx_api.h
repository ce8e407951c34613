// What Roundhouse offers beyond ONNX Runtime's interface, for C++. Programs that use it link the library itself.
#ifndef ROUNDHOUSE_CXX_API_H
#define ROUNDHOUSE_CXX_API_H

#include <map>
#include <string>
#include <vector>

#include "onnxruntime_cxx_api.h"
#include "roundhouse_c_api.h"

namespace roundhouse {

/// What a run takes of memory, before it, as the JSON text of RhSessionGetMemoryPlan. `shapes`: of inputs, by name; those left out have the
/// declared shape, with `dimensions` for its names. Throws Ort::Exception.
inline std::string MemoryPlan(const OrtSession* session, const std::map<std::string, std::vector<int64_t>>& shapes = {},
                              const std::map<std::string, int64_t>& dimensions = {}) {
  std::vector<RhInputShape> given;
  for (const auto& [name, dims] : shapes) given.push_back({name.c_str(), dims.data(), dims.size()});
  std::vector<RhDimension> named;
  for (const auto& [name, value] : dimensions) named.push_back({name.c_str(), value});
  Ort::AllocatorWithDefaultOptions allocator;
  char* json = nullptr;
  Ort::ThrowOnError(RhSessionGetMemoryPlan(session, given.data(), given.size(), named.data(), named.size(), allocator, &json));
  const Ort::AllocatedStringPtr owned(json, Ort::detail::AllocatedFree(allocator));
  return owned.get();
}

/// Gives back what no run in flight uses; returns how many bytes. See RhSessionTrim.
inline size_t Trim(OrtSession* session) {
  size_t bytes = 0;
  Ort::ThrowOnError(RhSessionTrim(session, &bytes));
  return bytes;
}

}  // namespace roundhouse

#endif
