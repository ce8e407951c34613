#include "abi/memory_info.h"

#include "base/error.h"
#include "base/fork_mutex.h"

namespace rh::abi {

namespace {

constexpr uint32_t kNvidia = 0x10de, kAmd = 0x1002, kIntel = 0x8086, kMicrosoft = 0x1414, kQualcomm = 0x5143;

struct KnownMemory {
  const char* name;
  OrtMemoryInfoDeviceType type;
  OrtDeviceMemoryType memory;
  uint32_t vendor_id;
};

constexpr KnownMemory kKnown[] = {
    {"Cpu", OrtMemoryInfoDeviceType_CPU, OrtDeviceMemoryType_DEFAULT, 0},
    {"Cuda", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kNvidia},
    {"CudaPinned", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_HOST_ACCESSIBLE, kNvidia},
    {"Hip", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kAmd},
    {"HipPinned", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_HOST_ACCESSIBLE, kAmd},
    {"DML", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kMicrosoft},
    {"OpenVINO_GPU", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, kIntel},
    {"OpenVINO_RT_NPU", OrtMemoryInfoDeviceType_NPU, OrtDeviceMemoryType_DEFAULT, kIntel},
    {"QnnHtpShared", OrtMemoryInfoDeviceType_CPU, OrtDeviceMemoryType_HOST_ACCESSIBLE, kQualcomm},
    {"WebGPU_Buf", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, 0},
    {"WebGPU_Buffer", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT, 0},
};

}  // namespace

const OrtMemoryInfo& host_memory_info(OrtAllocatorType type) {
  static constinit ForkOnce<const OrtMemoryInfo> device, arena;
  if (type == OrtArenaAllocator) return arena.get([] { return OrtMemoryInfo{"Cpu", OrtArenaAllocator, 0, OrtMemTypeDefault, {}}; });
  return device.get([] { return OrtMemoryInfo{"Cpu", OrtDeviceAllocator, 0, OrtMemTypeDefault, {}}; });
}

OrtMemoryInfo named_memory_info(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type) {
  for (const KnownMemory& known : kKnown) {
    if (std::string_view(known.name) != name) continue;
    if (std::string_view(name) == "Cpu") id = 0;
    const std::string_view stored = std::string_view(name) == "WebGPU_Buffer" ? "WebGPU_Buf" : name;
    return {std::string(stored), type, id, mem_type, {known.type, known.memory, known.vendor_id, id, 0}};
  }
  fail(ErrorCode::invalid_argument, "memory info: no device is called '{}'; CreateMemoryInfo_V2 takes any name", name);
}

Device device_of(const OrtMemoryInfo& info) {
  Device device;
  switch (info.device.type) {
    case OrtMemoryInfoDeviceType_CPU: device.type = Device::Type::cpu; break;
    case OrtMemoryInfoDeviceType_GPU: device.type = Device::Type::gpu; break;
    case OrtMemoryInfoDeviceType_NPU: device.type = Device::Type::npu; break;
    default: device.type = Device::Type::other;
  }
  if (info.device.memory == OrtDeviceMemoryType_HOST_ACCESSIBLE) device.type = Device::Type::cpu;
  if (device.is_host()) return device;
  device.id = static_cast<int16_t>(info.device.device_id);
  device.vendor = info.device.vendor_id;
  return device;
}

}  // namespace rh::abi
