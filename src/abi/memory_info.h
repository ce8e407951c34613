#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "roundhouse/onnxruntime_ep_c_api.h"
#include "tensor/tensor.h"

/// A device's memory, without a name: what decides whether a copy is needed.
struct OrtMemoryDevice {
  OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_CPU;
  OrtDeviceMemoryType memory = OrtDeviceMemoryType_DEFAULT;
  uint32_t vendor_id = 0;
  int32_t device_id = 0;
  size_t alignment = 0;

  friend bool operator==(const OrtMemoryDevice&, const OrtMemoryDevice&) = default;
};

struct OrtMemoryInfo {
  std::string name;
  OrtAllocatorType allocator_type = OrtDeviceAllocator;
  int id = 0;
  OrtMemType mem_type = OrtMemTypeDefault;
  OrtMemoryDevice device;

  /// Whether the processor reads and writes it directly.
  bool is_host() const { return device.type == OrtMemoryInfoDeviceType_CPU || device.memory == OrtDeviceMemoryType_HOST_ACCESSIBLE; }

  friend bool operator==(const OrtMemoryInfo&, const OrtMemoryInfo&) = default;
};

namespace rh::abi {

/// "Cpu" memory as the default allocator gives it. Lives for ever.
const OrtMemoryInfo& host_memory_info(OrtAllocatorType type = OrtDeviceAllocator);

/// By one of the names that programs use ("Cpu", "Cuda", "DML", ...). Throws Error{invalid_argument} for another name.
OrtMemoryInfo named_memory_info(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type);

/// The runtime's notion of the same memory.
Device device_of(const OrtMemoryInfo& info);

}  // namespace rh::abi
