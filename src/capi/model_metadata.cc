#include <algorithm>

#include "abi/allocator.h"
#include "capi/guard.h"
#include "capi/session.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

OrtStatus* text(const OrtModelMetadata* metadata, OrtAllocator* allocator, char** out, const std::string ModelMetadata::* field) {
  return guard([&] {
    checked(out, "value");
    *out = abi::copy_string(checked(allocator, "allocator"), checked(metadata, "model_metadata").metadata.*field);
  });
}

}  // namespace

OrtStatus* ORT_API_CALL SessionGetModelMetadata(const OrtSession* session, OrtModelMetadata** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtModelMetadata{session_of(session).metadata()};
  });
}

void ORT_API_CALL ReleaseModelMetadata(OrtModelMetadata* metadata) { delete metadata; }

OrtStatus* ORT_API_CALL ModelMetadataGetProducerName(const OrtModelMetadata* metadata, OrtAllocator* allocator, char** out) {
  return text(metadata, allocator, out, &ModelMetadata::producer_name);
}

OrtStatus* ORT_API_CALL ModelMetadataGetGraphName(const OrtModelMetadata* metadata, OrtAllocator* allocator, char** out) {
  return text(metadata, allocator, out, &ModelMetadata::graph_name);
}

OrtStatus* ORT_API_CALL ModelMetadataGetDomain(const OrtModelMetadata* metadata, OrtAllocator* allocator, char** out) {
  return text(metadata, allocator, out, &ModelMetadata::domain);
}

OrtStatus* ORT_API_CALL ModelMetadataGetDescription(const OrtModelMetadata* metadata, OrtAllocator* allocator, char** out) {
  return text(metadata, allocator, out, &ModelMetadata::description);
}

OrtStatus* ORT_API_CALL ModelMetadataGetGraphDescription(const OrtModelMetadata* metadata, OrtAllocator* allocator, char** out) {
  return text(metadata, allocator, out, &ModelMetadata::graph_description);
}

OrtStatus* ORT_API_CALL ModelMetadataGetVersion(const OrtModelMetadata* metadata, int64_t* out) {
  return guard([&] { checked(out, "value") = checked(metadata, "model_metadata").metadata.version; });
}

OrtStatus* ORT_API_CALL ModelMetadataLookupCustomMetadataMap(const OrtModelMetadata* metadata, OrtAllocator* allocator, const char* key,
                                                             char** out) {
  return guard([&] {
    checked(out, "value") = nullptr;
    checked(key, "key");
    for (const auto& [name, value] : checked(metadata, "model_metadata").metadata.custom) {
      if (name == key) *out = abi::copy_string(checked(allocator, "allocator"), value);
      if (*out) return;
    }
  });
}

OrtStatus* ORT_API_CALL ModelMetadataGetCustomMetadataMapKeys(const OrtModelMetadata* metadata, OrtAllocator* allocator, char*** keys,
                                                              int64_t* count) {
  return guard([&] {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : checked(metadata, "model_metadata").metadata.custom) names.push_back(name);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    checked(keys, "keys") = nullptr;
    checked(count, "num_keys") = 0;
    if (names.empty()) return;
    OrtAllocator& source = checked(allocator, "allocator");
    auto** list = static_cast<char**>(abi::allocate(source, names.size() * sizeof(char*)));
    size_t filled = 0;
    try {
      for (; filled < names.size(); ++filled) list[filled] = abi::copy_string(source, names[filled]);
    } catch (...) {
      while (filled > 0) source.Free(&source, list[--filled]);
      source.Free(&source, list);
      throw;
    }
    *keys = list;
    *count = static_cast<int64_t>(names.size());
  });
}

}  // namespace rh::capi
