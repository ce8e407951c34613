// Devices, contexts, errors, and how a program finds the functions.

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "stands/cuda/common/kind.h"
#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/current.h"

using namespace rh::stand;

RH_STAND_DRIVER(cuInit, (unsigned flags), (flags)) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (devices().empty()) return CUDA_ERROR_NO_DEVICE;
  install_fault_handler();
  set_initialized();
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuDriverGetVersion, (int* version), (version)) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = static_cast<int>(setting("RH_STAND_DRIVER_VERSION", 13050));
  return CUDA_SUCCESS;
}

static CUresult find_device(CUdevice number, const void* result, Device** device) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!result) return CUDA_ERROR_INVALID_VALUE;
  *device = device_of(number);
  return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

RH_STAND_DRIVER(cuDeviceGetCount, (int* count), (count)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = static_cast<int>(devices().size());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(ordinal, device, &found));
  *device = ordinal;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDeviceGetName, (char* name, int length, CUdevice device), (name, length, device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, name, &found));
  std::snprintf(name, static_cast<size_t>(length), "%s", found->name().c_str());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device), (uuid, device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, uuid, &found));
  *uuid = found->uuid();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device), (uuid, device)) { return cuDeviceGetUuid_body(uuid, device); }

static std::string bus_id(const Device& device) {
  char text[24];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", 0x65 + device.physical);
  return text;
}
RH_STAND_DRIVER(cuDeviceGetPCIBusId, (char* text, int length, CUdevice device), (text, length, device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, text, &found));
  std::snprintf(text, static_cast<size_t>(length), "%s", bus_id(*found).c_str());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDeviceGetByPCIBusId, (CUdevice * device, const char* text), (device, text)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!device || !text) return CUDA_ERROR_INVALID_VALUE;
  for (Device* d : devices())
    if (bus_id(*d) == text) {
      *device = d->ordinal;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_DEVICE;
}
RH_STAND_DRIVER(cuDeviceTotalMem_v2, (size_t* bytes, CUdevice device), (bytes, device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, bytes, &found));
  *bytes = found->memory.limit();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDeviceCanAccessPeer, (int* can, CUdevice device, CUdevice peer), (can, device, peer)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, can, &found));
  RH_STAND_TRY(find_device(peer, can, &found));
  *can = 0;
  return CUDA_SUCCESS;
}

static int attribute_of(const Device& device, int attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 64 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return static_cast<int>(warp_size());
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1000000;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return device.executor.workers();
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID: return 0x65 + device.physical;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 4 << 20;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return device.compute_capability == 75 ? 1024 : 1536;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 2;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return device.compute_capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return device.compute_capability % 10;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return device.shared_memory_at_most() + 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return device.shared_memory_at_most();
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return 16;
    default: return 0;
  }
}
RH_STAND_DRIVER(cuDeviceGetAttribute, (int* value, int attribute, CUdevice device), (value, attribute, device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, value, &found));
  if (attribute <= 0) return CUDA_ERROR_INVALID_VALUE;
  *value = attribute_of(*found, attribute);
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, context, &found));
  if (found->sticky) return found->sticky;
  std::lock_guard lock(found->mutex);
  ++found->context.retained;
  *context = &found->context;
  return CUDA_SUCCESS;
}
// The last release ends the context and all that it has.
RH_STAND_DRIVER(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, &device, &found));
  {
    std::lock_guard lock(found->mutex);
    if (found->context.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--found->context.retained > 0) return CUDA_SUCCESS;
  }
  found->reset();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, &device, &found));
  found->reset();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned* flags, int* active), (device, flags, active)) {
  Device* found = nullptr;
  RH_STAND_TRY(find_device(device, active, &found));
  if (flags) *flags = 0;
  *active = found->context.retained > 0;
  return CUDA_SUCCESS;
}

static bool is_context(CUcontext context) {
  for (Device* d : devices())
    if (context == &d->context) return true;
  return false;
}
RH_STAND_DRIVER(cuCtxSetCurrent, (CUcontext context), (context)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context && !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  set_current_context(context);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuCtxGetCurrent, (CUcontext * context), (context)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuCtxPushCurrent_v2, (CUcontext context), (context)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context || !is_context(context)) return CUDA_ERROR_INVALID_CONTEXT;
  push_context(context);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuCtxPopCurrent_v2, (CUcontext * context), (context)) {
  CUcontext popped = pop_context();
  if (context) *context = popped;
  return popped ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
RH_STAND_DRIVER(cuCtxGetDevice, (CUdevice * device), (device)) {
  Device* found = nullptr;
  RH_STAND_TRY(current_device(&found));
  *device = found->ordinal;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuCtxSynchronize, (), ()) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  RH_STAND_TRY(refuse_if_any_captures(*device));
  device->wait();
  return device->sticky;
}
RH_STAND_DRIVER(cuCtxGetStreamPriorityRange, (int* least, int* greatest), (least, greatest)) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}
