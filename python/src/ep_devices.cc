#include "ep_devices.h"

#include <algorithm>

#include "options.h"

namespace rh::python {

namespace {

using Pairs = std::map<std::string, std::string>;

Pairs pairs_of(const OrtKeyValuePairs* pairs) {
  Pairs result;
  const char* const* keys = nullptr;
  const char* const* values = nullptr;
  size_t count = 0;
  if (pairs) Ort::GetApi().GetKeyValuePairs(pairs, &keys, &values, &count);
  for (size_t i = 0; i < count; ++i) result[keys[i]] = values[i];
  return result;
}

void bind_classes(nb::module_& module) {
  using Policy = OrtExecutionProviderDevicePolicy;
  nb::enum_<Policy>(module, "OrtExecutionProviderDevicePolicy", "Which of the devices a session takes.", nb::is_arithmetic())
      .value("DEFAULT", OrtExecutionProviderDevicePolicy_DEFAULT)
      .value("PREFER_CPU", OrtExecutionProviderDevicePolicy_PREFER_CPU)
      .value("PREFER_NPU", OrtExecutionProviderDevicePolicy_PREFER_NPU)
      .value("PREFER_GPU", OrtExecutionProviderDevicePolicy_PREFER_GPU)
      .value("MAX_PERFORMANCE", OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE)
      .value("MAX_EFFICIENCY", OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY)
      .value("MIN_OVERALL_POWER", OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER);
  nb::class_<PySyncStream>(module, "OrtSyncStream", "A queue of work of a device.").def("get_handle", [](const PySyncStream& s) {
    return reinterpret_cast<uintptr_t>(Ort::GetApi().SyncStream_GetHandle(s.raw));
  });
}

OrtStatus* ORT_API_CALL call_delegate(const OrtEpDevice** devices, size_t count, const OrtKeyValuePairs* model,
                                      const OrtKeyValuePairs* runtime, const OrtEpDevice** selected, size_t room, size_t* selected_count,
                                      void* state) {
  const nb::gil_scoped_acquire acquired;
  try {
    nb::list offered;
    for (size_t i = 0; i < count; ++i) offered.append(nb::cast(PyEpDevice{Ort::ConstEpDevice(devices[i])}));
    const nb::handle delegate(static_cast<PyObject*>(state));
    const nb::object chosen = delegate(offered, pairs_of(model), pairs_of(runtime), room);
    *selected_count = 0;
    for (nb::handle device : chosen) {
      if (*selected_count >= room) throw std::runtime_error("the delegate chose more than " + std::to_string(room) + " devices");
      selected[(*selected_count)++] = nb::cast<PyEpDevice&>(device).device;
    }
    return nullptr;
  } catch (const std::exception& error) {
    return Ort::GetApi().CreateStatus(ORT_FAIL, error.what());
  }
}

}  // namespace

PySyncStream create_sync_stream(const PyEpDevice& device) {
  OrtSyncStream* stream = nullptr;
  Ort::ThrowOnError(Ort::GetApi().CreateSyncStreamForEpDevice(device.device, nullptr, &stream));
  return PySyncStream(stream);
}

void append_devices(OrtSessionOptions* options, const std::vector<const OrtEpDevice*>& devices, const Pairs& provider_options) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : provider_options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  Ort::ThrowOnError(Ort::GetApi().SessionOptionsAppendExecutionProvider_V2(options, environment(), devices.data(), devices.size(),
                                                                           keys.data(), values.data(), keys.size()));
}

void apply_selection(OrtSessionOptions* options, const SessionSettings& settings) {
  if (settings.selection_delegate.is_valid()) {
    Ort::ThrowOnError(Ort::GetApi().SessionOptionsSetEpSelectionPolicyDelegate(options, call_delegate, settings.selection_delegate.ptr()));
  } else if (settings.selection_policy) {
    Ort::ThrowOnError(Ort::GetApi().SessionOptionsSetEpSelectionPolicy(options, *settings.selection_policy));
  }
}

void add_provider_for_devices(SessionSettings& settings, const std::vector<PyEpDevice>& devices, Pairs options) {
  if (devices.empty()) throw std::runtime_error("ep_devices is empty, expected at least one device");
  std::vector<const OrtEpDevice*> raw;
  for (const PyEpDevice& device : devices) raw.push_back(device.device);
  Ort::SessionOptions trial;
  append_devices(trial, raw, options);
  const std::string name = Ort::GetApi().EpDevice_EpName(raw[0]);
  settings.devices[name] = std::move(raw);
  settings.providers.emplace_back(name, std::move(options));
}

void bind_ep_devices(nb::module_& module) {
  bind_classes(module);
  module.def("provider_problem", [](const std::string& name) -> std::optional<std::string> {
    environment();
    Ort::SessionOptions trial;
    OrtStatus* status = Ort::GetApi().SessionOptionsAppendExecutionProvider(trial, name.c_str(), nullptr, nullptr, 0);
    if (!status) return std::nullopt;
    return Ort::Status(status).GetErrorMessage();
  });
  module.def("register_execution_provider_library", [](const std::string& name, const std::string& path) {
    Ort::ThrowOnError(Ort::GetApi().RegisterExecutionProviderLibrary(environment(), name.c_str(), as_path(path).c_str()));
  });
  module.def("unregister_execution_provider_library", [](const std::string& name) {
    Ort::ThrowOnError(Ort::GetApi().UnregisterExecutionProviderLibrary(environment(), name.c_str()));
  });
}

}  // namespace rh::python
