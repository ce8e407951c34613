// Memory pools: blocks that are allocated and freed in the order of a stream.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "stands/cuda/driver/device.h"

struct CUmemPoolHandle_st {
  rh::stand::Device* device = nullptr;
  std::mutex mutex;
  uint64_t release_threshold = 0, used = 0, used_high = 0, reserved_high = 0;
};

namespace rh::stand {

CUmemoryPool default_pool(Device& device);
CUmemoryPool current_pool(Device& device);
void set_current_pool(Device& device, CUmemoryPool pool);

// In a stream that captures the block is the graph's, as long as it or what was made of it lives.
CUresult pool_allocate(CUmemoryPool pool, size_t bytes, CUstream stream, CUdeviceptr* p);
CUresult pool_free(CUdeviceptr p, CUstream stream);
// A block that cuMemFree frees may be a pool's.
void pool_forget(void* p);
void drop_pools_of(Device& device);

}  // namespace rh::stand
