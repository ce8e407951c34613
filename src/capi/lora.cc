#include "capi/lora.h"

#include "abi/options.h"
#include "base/paths.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::capi {

OrtStatus* ORT_API_CALL CreateLoraAdapter(const ORTCHAR_T* path, OrtAllocator*, OrtLoraAdapter** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtLoraAdapter(read_adapter_file(rh::utf8(&checked(path, "adapter_file_path"))));
  });
}

OrtStatus* ORT_API_CALL CreateLoraAdapterFromArray(const void* bytes, size_t size, OrtAllocator*, OrtLoraAdapter** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtLoraAdapter(parse_adapter({static_cast<const std::byte*>(checked_array(bytes, size, "bytes")), size}, "LoRA adapter"));
  });
}

void ORT_API_CALL ReleaseLoraAdapter(OrtLoraAdapter* adapter) { delete adapter; }

OrtStatus* ORT_API_CALL RunOptionsAddActiveLoraAdapter(OrtRunOptions* options, const OrtLoraAdapter* adapter) {
  return guard([&] { checked(options, "options").lora_adapters.push_back(&checked(adapter, "adapter")); });
}

}  // namespace rh::capi

using namespace rh::capi;

OrtStatus* ORT_API_CALL RhCreateEmptyLoraAdapter(OrtLoraAdapter** adapter) {
  return guard([&] { checked(adapter, "adapter") = new OrtLoraAdapter(AdapterFile()); });
}

OrtStatus* ORT_API_CALL RhLoadLoraAdapter(OrtLoraAdapter* adapter, const ORTCHAR_T* path) {
  return guard([&] { checked(adapter, "adapter").replace(read_adapter_file(rh::utf8(&checked(path, "path")))); });
}

OrtStatus* ORT_API_CALL RhGetLoraAdapterInfo(const OrtLoraAdapter* adapter, RhLoraAdapterInfo* info) {
  return guard([&] {
    const auto content = checked(adapter, "adapter").content();
    checked(info, "info") = {AdapterFile::kFormatVersion, content->adapter_version, content->model_version, content->names.size()};
  });
}

OrtStatus* ORT_API_CALL RhGetLoraAdapterParameter(const OrtLoraAdapter* adapter, size_t index, const char** name, OrtValue** value) {
  return guard([&] {
    const auto content = checked(adapter, "adapter").content();
    checked(name, "name");
    checked(value, "value");
    if (index >= content->names.size()) {
      rh::fail(rh::ErrorCode::invalid_argument, "LoRA adapter: parameter {} is asked for, there are {}", index, content->names.size());
    }
    *value = new OrtValue(content->values[index]);
    *name = content->names[index].c_str();
  });
}

OrtStatus* ORT_API_CALL RhWriteLoraAdapter(const ORTCHAR_T* path, const RhLoraAdapterInfo* info, const char* const* names,
                                           const OrtValue* const* values) {
  return guard([&] {
    const RhLoraAdapterInfo& given = checked(info, "info");
    checked_array(names, given.parameter_count, "names");
    checked_array(values, given.parameter_count, "values");
    AdapterFile adapter{given.adapter_version, given.model_version, {}, {}};
    for (size_t i = 0; i < given.parameter_count; ++i) {
      adapter.names.emplace_back(&checked(names[i], "names[i]"));
      adapter.values.push_back(checked(values[i], "values[i]"));
    }
    write_adapter_file(rh::utf8(&checked(path, "path")), adapter);
  });
}
