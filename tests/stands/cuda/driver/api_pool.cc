// Memory pools.

#include <cstring>

#include "stands/cuda/driver/current.h"
#include "stands/cuda/driver/pool.h"

using namespace rh::stand;

static CUresult find_pool(CUmemoryPool pool) {
  for (Device* d : devices())
    if (pool == default_pool(*d)) return CUDA_SUCCESS;
  return handles<CUmemPoolHandle_st>().has(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static CUresult give_pool(CUmemoryPool* pool, CUdevice number, CUmemoryPool (*choose)(Device&)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  Device* device = device_of(number);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  if (!pool) return CUDA_ERROR_INVALID_VALUE;
  *pool = choose(*device);
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device)) {
  return give_pool(pool, device, default_pool);
}
RH_STAND_DRIVER(cuDeviceGetMemPool, (CUmemoryPool * pool, CUdevice device), (pool, device)) {
  return give_pool(pool, device, current_pool);
}
RH_STAND_DRIVER(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool), (device, pool)) {
  RH_STAND_TRY(find_pool(pool));
  if (!device_of(device) || pool->device != device_of(device)) return CUDA_ERROR_INVALID_DEVICE;
  set_current_pool(*pool->device, pool);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuMemPoolCreate, (CUmemoryPool * pool, const CUmemPoolProps* properties), (pool, properties)) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!pool || !properties || properties->location_type != 1) return CUDA_ERROR_INVALID_VALUE;
  Device* device = device_of(properties->location_id);
  if (!device) return CUDA_ERROR_INVALID_DEVICE;
  auto made = std::make_unique<CUmemPoolHandle_st>();
  made->device = device;
  *pool = handles<CUmemPoolHandle_st>().add(made.release());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuMemPoolDestroy, (CUmemoryPool pool), (pool)) {
  if (!handles<CUmemPoolHandle_st>().has(pool)) return CUDA_ERROR_INVALID_VALUE;
  pool->device->wait();
  {
    std::lock_guard lock(pool->mutex);
    if (pool->used) return CUDA_ERROR_INVALID_VALUE;  // the driver would wait for the blocks to be freed; here it is a mistake
  }
  if (current_pool(*pool->device) == pool) set_current_pool(*pool->device, default_pool(*pool->device));
  handles<CUmemPoolHandle_st>().remove(pool);
  delete pool;
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void* value), (pool, attribute, value)) {
  RH_STAND_TRY(find_pool(pool));
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(pool->mutex);
  switch (attribute) {
    case 1:
    case 2:
    case 3: return CUDA_SUCCESS;  // how blocks are used again: none is here
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: std::memcpy(&pool->release_threshold, value, 8); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: pool->reserved_high = pool->used; return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: pool->used_high = pool->used; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}
RH_STAND_DRIVER(cuMemPoolGetAttribute, (CUmemoryPool pool, int attribute, void* value), (pool, attribute, value)) {
  RH_STAND_TRY(find_pool(pool));
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(pool->mutex);
  uint64_t result = 0;
  int reuse = 1;
  switch (attribute) {
    case 1:
    case 2:
    case 3: std::memcpy(value, &reuse, sizeof reuse); return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: result = pool->release_threshold; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: result = pool->used; break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: result = pool->reserved_high; break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: result = pool->used_high; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(value, &result, sizeof result);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), (pool, bytes)) { return find_pool(pool); }

RH_STAND_DRIVER(cuMemAllocFromPoolAsync, (CUdeviceptr * p, size_t bytes, CUmemoryPool pool, CUstream handle), (p, bytes, pool, handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  RH_STAND_TRY(find_pool(pool));
  if (!p || bytes == 0 || pool->device != stream->device) return CUDA_ERROR_INVALID_VALUE;
  return pool_allocate(pool, bytes, stream, p);
}
RH_STAND_DRIVER(cuMemAllocAsync, (CUdeviceptr * p, size_t bytes, CUstream handle), (p, bytes, handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!p || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return pool_allocate(current_pool(*stream->device), bytes, stream, p);
}
RH_STAND_DRIVER(cuMemFreeAsync, (CUdeviceptr p, CUstream handle), (p, handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!p) return CUDA_SUCCESS;
  return pool_free(p, stream);
}
