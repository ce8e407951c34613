#include <optional>

#include "ep_devices.h"
#include "module.h"
#include "paths.h"
#include "session.h"

namespace rh::python {

namespace {

/// Lives as long as the environment, or the provider's library.
struct PyHardwareDevice {
  Ort::ConstHardwareDevice device;
};

using Texts = std::unordered_map<std::string, std::string>;

nb::dict dict_of(const Ort::ConstKeyValuePairs& pairs) {
  nb::dict result;
  for (const auto& [key, value] : pairs.GetKeyValuePairs()) result[key.c_str()] = value;
  return result;
}

/// A copy as the package's OrtMemoryInfo.
nb::object memory_object(const Ort::ConstMemoryInfo& info) {
  const OrtApi& api = Ort::GetApi();
  OrtMemoryInfoDeviceType type_of_device = OrtMemoryInfoDeviceType_CPU;
  api.MemoryInfoGetDeviceType(info, &type_of_device);
  Ort::MemoryInfo copy(info.GetAllocatorName().c_str(), type_of_device, api.MemoryInfoGetVendorId(info),
                       static_cast<uint32_t>(info.GetDeviceId()), api.MemoryInfoGetDeviceMemType(info), 0, OrtDeviceAllocator);
  return nb::module_::import_("roundhouse._memory").attr("OrtMemoryInfo").attr("_of")(nb::cast(std::move(copy)));
}

nb::object memory_info(const PyEpDevice& self, int type) {
  const Ort::ConstMemoryInfo info = self.device.GetMemoryInfo(static_cast<OrtDeviceMemoryType>(type));
  if (!info) throw nb::value_error("the provider declares no memory of this type on the device");
  return memory_object(info);
}

nb::list session_memory_infos(nb::handle session, bool outputs) {
  const Ort::Session& native = native_session(session);
  nb::list list;
  for (const auto& info : outputs ? native.GetMemoryInfoForOutputs() : native.GetMemoryInfoForInputs()) list.append(memory_object(info));
  return list;
}

/// None for inputs that no provider's device takes.
std::vector<std::optional<PyEpDevice>> session_input_ep_devices(nb::handle session) {
  const Ort::Session& native = native_session(session);
  std::vector<const OrtEpDevice*> raw(native.GetInputCount(), nullptr);
  Ort::ThrowOnError(Ort::GetApi().SessionGetEpDeviceForInputs(native, raw.data(), raw.size()));
  std::vector<std::optional<PyEpDevice>> devices;
  for (const OrtEpDevice* device : raw) {
    devices.push_back(device ? std::optional(PyEpDevice{Ort::ConstEpDevice(device)}) : std::nullopt);
  }
  return devices;
}

int model_compatibility(const std::vector<PyEpDevice>& devices, const std::string& info) {
  std::vector<const OrtEpDevice*> handles;
  for (const PyEpDevice& device : devices) handles.push_back(device.device);
  OrtCompiledModelCompatibility result = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  Ort::ThrowOnError(Ort::GetApi().GetModelCompatibilityForEpDevices(handles.data(), handles.size(), info.c_str(), &result));
  return result;
}

/// Text from the default allocator, which is freed; None for null.
nb::object take_text(char* text) {
  if (!text) return nb::none();
  const Ort::AllocatedStringPtr owned(text, Ort::detail::AllocatedFree(Ort::AllocatorWithDefaultOptions()));
  return nb::str(text);
}

nb::object info_of_file(const std::string& path, const std::string& provider) {
  char* text = nullptr;
  Ort::ThrowOnError(
      Ort::GetApi().GetCompatibilityInfoFromModel(as_path(path).c_str(), provider.c_str(), Ort::AllocatorWithDefaultOptions(), &text));
  return take_text(text);
}

nb::object info_of_bytes(const nb::bytes& model, const std::string& provider) {
  char* text = nullptr;
  Ort::ThrowOnError(Ort::GetApi().GetCompatibilityInfoFromModelBytes(model.data(), model.size(), provider.c_str(),
                                                                     Ort::AllocatorWithDefaultOptions(), &text));
  return take_text(text);
}

nb::dict incompatibility(const std::string& provider, const PyHardwareDevice& hardware) {
  const OrtApi& api = Ort::GetApi();
  OrtDeviceEpIncompatibilityDetails* raw = nullptr;
  Ort::ThrowOnError(api.GetHardwareDeviceEpIncompatibilityDetails(environment(), provider.c_str(), hardware.device, &raw));
  const std::unique_ptr<OrtDeviceEpIncompatibilityDetails, decltype(api.ReleaseDeviceEpIncompatibilityDetails)> details(
      raw, api.ReleaseDeviceEpIncompatibilityDetails);
  uint32_t reasons = 0;
  int32_t code = 0;
  const char* notes = nullptr;
  Ort::ThrowOnError(api.DeviceEpIncompatibilityDetails_GetReasonsBitmask(raw, &reasons));
  Ort::ThrowOnError(api.DeviceEpIncompatibilityDetails_GetErrorCode(raw, &code));
  Ort::ThrowOnError(api.DeviceEpIncompatibilityDetails_GetNotes(raw, &notes));
  nb::dict result;
  result["reasons_bitmask"] = reasons;
  result["notes"] = notes ? nb::object(nb::str(notes)) : nb::none();
  result["error_code"] = code;
  return result;
}

}  // namespace

void bind_devices(nb::module_& module) {
  nb::enum_<OrtHardwareDeviceType>(module, "OrtHardwareDeviceType", "Kinds of devices.", nb::is_arithmetic())
      .value("CPU", OrtHardwareDeviceType_CPU)
      .value("GPU", OrtHardwareDeviceType_GPU)
      .value("NPU", OrtHardwareDeviceType_NPU);
  nb::class_<PyHardwareDevice>(module, "OrtHardwareDevice", "A device of the machine, as its system lists it.")
      .def_prop_ro("type", [](const PyHardwareDevice& d) { return d.device.Type(); })
      .def_prop_ro("vendor_id", [](const PyHardwareDevice& d) { return d.device.VendorId(); })
      .def_prop_ro("vendor", [](const PyHardwareDevice& d) { return d.device.Vendor(); })
      .def_prop_ro("device_id", [](const PyHardwareDevice& d) { return d.device.DeviceId(); })
      .def_prop_ro("metadata", [](const PyHardwareDevice& d) { return dict_of(d.device.Metadata()); });
  nb::class_<PyEpDevice>(module, "OrtEpDevice", "A device with the provider that can run models on it.")
      .def_prop_ro("ep_name", [](const PyEpDevice& d) { return d.device.EpName(); })
      .def_prop_ro("ep_vendor", [](const PyEpDevice& d) { return d.device.EpVendor(); })
      .def_prop_ro("ep_metadata", [](const PyEpDevice& d) { return dict_of(d.device.EpMetadata()); })
      .def_prop_ro("ep_options", [](const PyEpDevice& d) { return dict_of(d.device.EpOptions()); })
      .def_prop_ro("device", [](const PyEpDevice& d) { return PyHardwareDevice{d.device.Device()}; })
      .def("memory_info", &memory_info, nb::arg("memory_type"))
      .def("create_sync_stream", &create_sync_stream);
  module.def("get_ep_devices", [] {
    std::vector<PyEpDevice> devices;
    for (const Ort::ConstEpDevice& device : environment().GetEpDevices()) devices.push_back({device});
    return devices;
  });
  module.def("session_memory_infos", &session_memory_infos, nb::arg("session"), nb::arg("outputs"));
  module.def("session_input_ep_devices", &session_input_ep_devices, nb::arg("session"));
  module.def("get_hardware_devices", [] {
    std::vector<PyHardwareDevice> devices;
    for (const Ort::ConstHardwareDevice& device : environment().GetHardwareDevices()) devices.push_back({device});
    return devices;
  });
  module.def("get_model_compatibility_for_ep_devices", &model_compatibility, nb::arg("ep_devices"), nb::arg("compatibility_info"));
  module.def("get_compatibility_info_from_model", &info_of_file, nb::arg("model_path"), nb::arg("ep_type"));
  module.def("get_compatibility_info_from_model_bytes", &info_of_bytes, nb::arg("model_data"), nb::arg("ep_type"));
  module.def("get_hardware_device_ep_incompatibility_details", &incompatibility, nb::arg("ep_name"), nb::arg("hw"));
}

}  // namespace rh::python
