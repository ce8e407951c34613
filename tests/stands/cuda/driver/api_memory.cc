// Memory of the device and of the host, and what an address is.

#include <cstring>

#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/current.h"
#include "stands/cuda/driver/host_memory.h"
#include "stands/cuda/driver/pool.h"

using namespace rh::stand;

RH_STAND_DRIVER(cuMemAlloc_v2, (CUdeviceptr * p, size_t bytes), (p, bytes)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!p || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  RH_STAND_TRY(refuse_in_capture());
  char* block = device->memory.allocate(bytes);
  *p = reinterpret_cast<CUdeviceptr>(block);
  return block ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

// Waits for all work of the device first, as the driver does.
RH_STAND_DRIVER(cuMemFree_v2, (CUdeviceptr p), (p)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!p) return CUDA_SUCCESS;
  RH_STAND_TRY(refuse_in_capture());
  auto block = reinterpret_cast<char*>(p);
  Device* owner = device_with_memory(block);
  if (!owner) return CUDA_ERROR_INVALID_VALUE;
  owner->wait();
  pool_forget(block);
  if (!owner->memory.release(block)) return CUDA_ERROR_INVALID_VALUE;
  return device->sticky;
}

RH_STAND_DRIVER(cuMemGetInfo_v2, (size_t* free, size_t* total), (free, total)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  *total = device->memory.limit();
  *free = *total - device->memory.used();
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuMemGetAddressRange_v2, (CUdeviceptr * start, size_t* bytes, CUdeviceptr p), (start, bytes, p)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  auto address = reinterpret_cast<const void*>(p);
  Device* owner = device_with_memory(address);
  DeviceMemory::Block block = owner ? owner->memory.block_of(address) : DeviceMemory::Block{};
  if (!block.start) return CUDA_ERROR_NOT_FOUND;
  if (start) *start = reinterpret_cast<CUdeviceptr>(block.start);
  if (bytes) *bytes = block.bytes;
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuMemHostAlloc, (void** p, size_t bytes, unsigned flags), (p, bytes, flags)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!p || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  RH_STAND_TRY(refuse_in_capture());
  *p = allocate_pinned(bytes);
  return *p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
RH_STAND_DRIVER(cuMemAllocHost_v2, (void** p, size_t bytes), (p, bytes)) { return cuMemHostAlloc_body(p, bytes, 0); }

RH_STAND_DRIVER(cuMemFreeHost, (void* p), (p)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  RH_STAND_TRY(refuse_in_capture());
  for (Device* d : devices()) d->wait();
  return free_pinned(p) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

RH_STAND_DRIVER(cuMemHostRegister_v2, (void* p, size_t bytes, unsigned flags), (p, bytes, flags)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!p || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  RH_STAND_TRY(refuse_in_capture());
  return register_pinned(p, bytes) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}
RH_STAND_DRIVER(cuMemHostUnregister, (void* p), (p)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  RH_STAND_TRY(refuse_in_capture());
  for (Device* d : devices()) d->wait();
  return unregister_pinned(p) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}
RH_STAND_DRIVER(cuMemHostGetDevicePointer_v2, (CUdeviceptr * device_address, void* p, unsigned flags), (device_address, p, flags)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!device_address || !pinned_block_of(p).start) return CUDA_ERROR_INVALID_VALUE;
  *device_address = reinterpret_cast<CUdeviceptr>(p);
  return CUDA_SUCCESS;
}

namespace {

// What is known of an address: of a device's memory, or pinned.
struct AddressFacts {
  Device* device = nullptr;
  char* start = nullptr;
  size_t bytes = 0;
  bool pinned = false;
};
bool facts_of(const void* p, AddressFacts* facts) {
  if ((facts->device = device_with_memory(p))) {
    DeviceMemory::Block block = facts->device->memory.block_of(p);
    facts->start = block.start;
    facts->bytes = block.bytes;
    return block.start != nullptr;
  }
  PinnedBlock block = pinned_block_of(p);
  facts->start = block.start;
  facts->bytes = block.bytes;
  facts->pinned = true;
  return block.start != nullptr;
}

template <class T>
CUresult give(void* data, T value) {
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

}  // namespace

RH_STAND_DRIVER(cuPointerGetAttribute, (void* data, int attribute, CUdeviceptr address), (data, attribute, address)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  auto p = reinterpret_cast<void*>(address);
  AddressFacts facts;
  if (!data || !facts_of(p, &facts)) return CUDA_ERROR_INVALID_VALUE;
  if (!facts.device) facts.device = device;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return give<CUcontext>(data, &facts.device->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return give<unsigned>(data, facts.pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return give<CUdeviceptr>(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return facts.pinned ? give<void*>(data, p) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return give<unsigned>(data, 0);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return give<int>(data, facts.device->ordinal);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return give<char*>(data, facts.start);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return give<size_t>(data, facts.bytes);
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}
