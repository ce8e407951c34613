#include "places.h"

#include <cstdio>
#include <cstring>

namespace rh::python {

namespace {

constexpr uint32_t kNvidia = 0x10de, kAmd = 0x1002, kIntel = 0x8086;

// DLDeviceType
constexpr int kDLCPU = 1, kDLCUDA = 2, kDLROCM = 10, kDLExtDev = 12, kDLOneAPI = 14, kDLWebGPU = 15;

PyPlace place_of_memory(const Ort::ConstMemoryInfo& info) {
  return {info.GetDeviceType(), info.GetDeviceId(), info.GetVendorId(), info.GetDeviceMemoryType()};
}

/// Every memory that a registered provider has.
std::vector<Ort::ConstMemoryInfo> device_memories() {
  std::vector<Ort::ConstMemoryInfo> found;
  for (const Ort::ConstEpDevice& device : environment().GetEpDevices()) {
    for (const OrtDeviceMemoryType kind : {OrtDeviceMemoryType_DEFAULT, OrtDeviceMemoryType_HOST_ACCESSIBLE}) {
      if (const OrtMemoryInfo* info = Ort::GetApi().EpDevice_MemoryInfo(device, kind)) found.emplace_back(info);
    }
  }
  return found;
}

bool matches(const PyPlace& wanted, const PyPlace& there) {
  return wanted.type == there.type && wanted.id == there.id && wanted.memory == there.memory &&
         (wanted.vendor < 0 || wanted.vendor == there.vendor);
}

std::string list_of(const std::vector<Ort::ConstMemoryInfo>& memories) {
  std::string text;
  for (const Ort::ConstMemoryInfo& info : memories) {
    text += (text.empty() ? "" : ", ") + ("'" + info.GetAllocatorName()) + "' on " + place_of_memory(info).text();
  }
  return text.empty() ? "none; register a provider's library first" : text;
}

const OrtMemoryInfo* host_memory() {
  static const auto* host = new Ort::MemoryInfo(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault));
  return *host;
}

}  // namespace

std::string PyPlace::text() const {
  static constexpr const char* kTypes[] = {"cpu", "gpu", "fpga", "npu"};
  std::string result = type >= 0 && type < 4 ? kTypes[type] : "device";
  result += ":" + std::to_string(id);
  char number[32];
  std::snprintf(number, sizeof number, " (vendor 0x%llx)", static_cast<unsigned long long>(vendor));
  if (vendor >= 0 && !is_host()) result += number;
  return memory == OrtDeviceMemoryType_HOST_ACCESSIBLE ? result + ", host-accessible" : result;
}

PyPlace place_of(nb::handle device, int id, int64_t vendor) {
  if (nb::isinstance<nb::str>(device) && vendor < 0 && std::strcmp(nb::borrow<nb::str>(device).c_str(), "cpu") == 0) return {.id = id};
  const nb::tuple values = nb::cast<nb::tuple>(nb::module_::import_("roundhouse._device").attr("place")(device, id, vendor));
  return {nb::cast<int>(values[0]), nb::cast<int>(values[1]), nb::cast<int64_t>(values[2]), nb::cast<int>(values[3])};
}

PyPlace place_of(const Ort::Value& value) {
  if (!value || !value.HasValue() || !value.IsTensor()) return {};
  return place_of_memory(value.GetTensorMemoryInfo());
}

const OrtMemoryInfo* memory_at(const PyPlace& place) {
  if (place.is_host()) return host_memory();
  const std::vector<Ort::ConstMemoryInfo> memories = device_memories();
  const OrtMemoryInfo* found = nullptr;
  for (const Ort::ConstMemoryInfo& info : memories) {
    if (!matches(place, place_of_memory(info))) continue;
    if (found && !(Ort::ConstMemoryInfo(found) == info)) {
      throw std::runtime_error("device " + place.text() + " names several memories, name the vendor: " + list_of(memories));
    }
    found = info;
  }
  if (!found) throw std::runtime_error("no registered provider has memory on " + place.text() + "; there is: " + list_of(memories));
  return found;
}

const char* device_name(const PyPlace& place) {
  switch (place.type) {
    case OrtMemoryInfoDeviceType_CPU: return "cpu";
    case OrtMemoryInfoDeviceType_GPU: return "cuda";
    case OrtMemoryInfoDeviceType_NPU: return "npu";
    default: return "fpga";
  }
}

int dlpack_kind(const PyPlace& place) {
  if (place.is_host() || place.memory == OrtDeviceMemoryType_HOST_ACCESSIBLE) return kDLCPU;
  if (place.type != OrtMemoryInfoDeviceType_GPU) return kDLExtDev;
  switch (place.vendor) {
    case kNvidia: return kDLCUDA;
    case kAmd: return kDLROCM;
    case kIntel: return kDLOneAPI;
    case 0: return kDLWebGPU;
    default: return kDLExtDev;
  }
}

PyPlace place_of_dlpack(int kind, int id) {
  if (kind == kDLCPU) return {};
  std::vector<PyPlace> fitting;
  const std::vector<Ort::ConstMemoryInfo> memories = device_memories();
  for (const Ort::ConstMemoryInfo& info : memories) {
    const PyPlace place = place_of_memory(info);
    if (dlpack_kind(place) == kind && place.id == id) fitting.push_back(place);
  }
  if (fitting.size() != 1) {
    throw std::runtime_error("DLPack device (" + std::to_string(kind) + ", " + std::to_string(id) + ") is that of " +
                             (fitting.empty() ? "no" : "more than one") + " registered memory; there is: " + list_of(memories));
  }
  return fitting[0];
}

Ort::Value new_tensor_at(const OrtMemoryInfo* memory, const std::vector<int64_t>& shape, ONNXTensorElementDataType type) {
  if (Ort::ConstMemoryInfo(memory).GetDeviceType() == OrtMemoryInfoDeviceType_CPU) {
    return Ort::Value::CreateTensor(Ort::AllocatorWithDefaultOptions(), shape.data(), shape.size(), type);
  }
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    throw std::runtime_error("OrtValues on devices are made from non-string numpy arrays: strings live in host memory alone, not on " +
                             place_of_memory(Ort::ConstMemoryInfo(memory)).text());
  }
  OrtAllocator* allocator = nullptr;
  Ort::ThrowOnError(Ort::GetApi().GetSharedAllocator(environment(), memory, &allocator));
  if (!allocator)
    throw std::runtime_error("No shared allocator found: no registered provider allocates memory '" +
                             Ort::ConstMemoryInfo(memory).GetAllocatorName() + "'");
  return Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), type);
}

void copy_value(const Ort::Value& from, Ort::Value& to, OrtSyncStream* stream) {
  const OrtValue* sources[] = {from};
  OrtValue* targets[] = {to};
  Ort::ThrowOnError(Ort::GetApi().CopyTensors(environment(), sources, targets, stream, 1));
}

Ort::Value copy_on_host(const Ort::Value& value) {
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  Ort::Value copy = new_tensor_at(host_memory(), info.GetShape(), info.GetElementType());
  copy_value(value, copy);
  return copy;
}

}  // namespace rh::python
