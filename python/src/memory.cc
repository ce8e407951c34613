#include "ep_devices.h"
#include "values.h"

namespace rh::python {

namespace {

/// Bounds of an arena; -1 and, for the first, 0 leave the choice to the runtime.
struct ArenaSettings {
  int64_t max_mem = 0;
  int arena_extend_strategy = -1;
  int initial_chunk_size_bytes = -1;
  int max_dead_bytes_per_chunk = -1;
  int initial_growth_chunk_size_bytes = -1;
  int64_t max_power_of_two_extend_bytes = -1;

  void set(const std::string& key, int64_t value) {
    if (key == "max_mem") {
      max_mem = value;
    } else if (key == "arena_extend_strategy") {
      arena_extend_strategy = static_cast<int>(value);
    } else if (key == "initial_chunk_size_bytes") {
      initial_chunk_size_bytes = static_cast<int>(value);
    } else if (key == "max_dead_bytes_per_chunk") {
      max_dead_bytes_per_chunk = static_cast<int>(value);
    } else if (key == "initial_growth_chunk_size_bytes") {
      initial_growth_chunk_size_bytes = static_cast<int>(value);
    } else if (key == "max_power_of_two_extend_bytes") {
      max_power_of_two_extend_bytes = value;
    } else {
      throw std::runtime_error("OrtArenaCfg has no setting '" + key + "'");
    }
  }
};

Ort::MemoryInfo make_info(const std::string& name, int allocator_type, int device_id, int memory_type) {
  return Ort::MemoryInfo(name.c_str(), static_cast<OrtAllocatorType>(allocator_type), device_id, static_cast<OrtMemType>(memory_type));
}

using ArenaConfig = std::unique_ptr<OrtArenaCfg, decltype(OrtApi::ReleaseArenaCfg)>;

ArenaConfig config_of(const ArenaSettings* settings) {
  ArenaConfig config(nullptr, Ort::GetApi().ReleaseArenaCfg);
  if (!settings) return config;
  const std::pair<const char*, int64_t> all[] = {{"max_mem", settings->max_mem},
                                                 {"arena_extend_strategy", settings->arena_extend_strategy},
                                                 {"initial_chunk_size_bytes", settings->initial_chunk_size_bytes},
                                                 {"max_dead_bytes_per_chunk", settings->max_dead_bytes_per_chunk},
                                                 {"initial_growth_chunk_size_bytes", settings->initial_growth_chunk_size_bytes},
                                                 {"max_power_of_two_extend_bytes", settings->max_power_of_two_extend_bytes}};
  std::vector<const char*> keys;
  std::vector<size_t> values;
  for (const auto& [key, value] : all) {
    if (value < 0) continue;
    keys.push_back(key);
    values.push_back(static_cast<size_t>(value));
  }
  OrtArenaCfg* raw = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateArenaCfgV2(keys.data(), values.data(), keys.size(), &raw));
  config.reset(raw);
  return config;
}

void register_allocator(const Ort::MemoryInfo& info, const ArenaSettings* settings) {
  Ort::ThrowOnError(Ort::GetApi().CreateAndRegisterAllocator(environment(), info, config_of(settings).get()));
}

void register_allocator_v2(const std::string& provider, const Ort::MemoryInfo& info, const std::map<std::string, std::string>& options,
                           const ArenaSettings* settings) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Ort::ThrowOnError(Ort::GetApi().CreateAndRegisterAllocatorV2(environment(), provider.c_str(), info, config_of(settings).get(),
                                                               keys.data(), values.data(), keys.size()));
}

OrtValue* value_of(const nb::object& object) {
  if (!nb::isinstance<PyValue>(object)) throw nb::type_error("copy_tensors takes lists of OrtValue");
  return nb::cast<PyValue&>(object).value;
}

void copy_tensors(const std::vector<nb::object>& sources, const std::vector<nb::object>& targets, nb::object stream) {
  if (sources.size() != targets.size()) {
    throw std::runtime_error(std::to_string(sources.size()) + " tensors are to be copied to " + std::to_string(targets.size()));
  }
  std::vector<const OrtValue*> from;
  std::vector<OrtValue*> to;
  for (const nb::object& value : sources) from.push_back(value_of(value));
  for (const nb::object& value : targets) to.push_back(value_of(value));
  OrtSyncStream* raw = stream.is_none() ? nullptr : nb::cast<PySyncStream&>(stream).raw;
  Ort::ThrowOnError(Ort::GetApi().CopyTensors(environment(), from.data(), to.data(), raw, from.size()));
}

}  // namespace

void bind_memory(nb::module_& module) {
  nb::class_<Ort::MemoryInfo>(module, "MemoryInfo", "The native part of OrtMemoryInfo.")
      .def("__init__", [](Ort::MemoryInfo* self, const std::string& name, int allocator_type, int device_id,
                          int memory_type) { new (self) Ort::MemoryInfo(make_info(name, allocator_type, device_id, memory_type)); })
      .def("__init__",
           [](Ort::MemoryInfo* self, const std::string& name, int device_type, uint32_t vendor_id, uint32_t device_id, int memory_type,
              size_t alignment, int allocator_type) {
             new (self)
                 Ort::MemoryInfo(name.c_str(), static_cast<OrtMemoryInfoDeviceType>(device_type), vendor_id, device_id,
                                 static_cast<OrtDeviceMemoryType>(memory_type), alignment, static_cast<OrtAllocatorType>(allocator_type));
           })
      .def_prop_ro("vendor_id", [](const Ort::MemoryInfo& m) { return m.GetVendorId(); })
      .def_prop_ro("device_memory_type", [](const Ort::MemoryInfo& m) { return static_cast<int>(m.GetDeviceMemoryType()); })
      .def_prop_ro("name", [](const Ort::MemoryInfo& m) { return m.GetAllocatorName(); })
      .def_prop_ro("device_id", [](const Ort::MemoryInfo& m) { return m.GetDeviceId(); })
      .def_prop_ro("memory_type", [](const Ort::MemoryInfo& m) { return static_cast<int>(m.GetMemoryType()); })
      .def_prop_ro("allocator_type", [](const Ort::MemoryInfo& m) { return static_cast<int>(m.GetAllocatorType()); });
  nb::class_<ArenaSettings>(module, "OrtArenaCfg", "How an arena grows.")
      .def("__init__", [](ArenaSettings* self, int64_t max_mem, int strategy, int initial_chunk,
                          int max_dead) { new (self) ArenaSettings{max_mem, strategy, initial_chunk, max_dead}; })
      .def("__init__",
           [](ArenaSettings* self, const std::map<std::string, int64_t>& settings) {
             ArenaSettings made;
             for (const auto& [key, value] : settings) made.set(key, value);
             new (self) ArenaSettings(made);
           })
      .def_rw("max_mem", &ArenaSettings::max_mem)
      .def_rw("arena_extend_strategy", &ArenaSettings::arena_extend_strategy)
      .def_rw("initial_chunk_size_bytes", &ArenaSettings::initial_chunk_size_bytes)
      .def_rw("max_dead_bytes_per_chunk", &ArenaSettings::max_dead_bytes_per_chunk)
      .def_rw("initial_growth_chunk_size_bytes", &ArenaSettings::initial_growth_chunk_size_bytes)
      .def_rw("max_power_of_two_extend_bytes", &ArenaSettings::max_power_of_two_extend_bytes);
  module.def("register_allocator", &register_allocator, nb::arg("info"), nb::arg("settings").none());
  module.def("register_allocator_v2", &register_allocator_v2, nb::arg("provider"), nb::arg("info"), nb::arg("options"),
             nb::arg("settings").none());
  module.def("copy_tensors", &copy_tensors, nb::arg("src"), nb::arg("dst"), nb::arg("stream").none());
}

}  // namespace rh::python
