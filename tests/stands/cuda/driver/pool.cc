#include "stands/cuda/driver/pool.h"

#include <algorithm>
#include <cstring>

#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/handles.h"
#include "stands/cuda/driver/operation.h"

namespace rh::stand {
namespace {

struct PoolBlock {
  CUmemoryPool pool;
  size_t bytes;
};
struct Pools {
  std::mutex mutex;
  std::map<Device*, CUmemoryPool> defaults, current;
  std::map<void*, PoolBlock> blocks;
};
Pools& pools() {
  static auto* all = new Pools;
  return *all;
}

void count_block(CUmemoryPool pool, int64_t bytes) {
  std::lock_guard lock(pool->mutex);
  pool->used += static_cast<uint64_t>(bytes);
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->used);
}

// A block whose frees are still to come in streams makes room when they have run.
char* allocate_or_wait(Device& device, size_t bytes) {
  if (char* p = device.memory.allocate(bytes)) return p;
  device.wait();
  return device.memory.allocate(bytes);
}

// The node of a graph that gives a block: at each launch its contents are unset again.
Operation allocation_node(Device& device, char* block, size_t bytes) {
  std::shared_ptr<void> kept(block, [&device](void* p) { device.memory.release(static_cast<char*>(p)); });
  return {NodeKind::kAllocate,
          [block, bytes](Device& owner, const WorkPlace&) {
            std::memset(block, 0xff, bytes);
            if (MemoryCheck* check = owner.check()) {
              auto held = check->hold();
              check->forget(block, bytes);
            }
          },
          kept};
}

}  // namespace

CUmemoryPool default_pool(Device& device) {
  std::lock_guard lock(pools().mutex);
  auto& pool = pools().defaults[&device];
  if (!pool) {
    pool = new CUmemPoolHandle_st;
    pool->device = &device;
  }
  return pool;
}

CUmemoryPool current_pool(Device& device) {
  CUmemoryPool usual = default_pool(device);
  std::lock_guard lock(pools().mutex);
  auto found = pools().current.find(&device);
  return found == pools().current.end() ? usual : found->second;
}

void set_current_pool(Device& device, CUmemoryPool pool) {
  std::lock_guard lock(pools().mutex);
  pools().current[&device] = pool;
}

CUresult pool_allocate(CUmemoryPool pool, size_t bytes, CUstream stream, CUdeviceptr* p) {
  Device& device = *pool->device;
  char* block = capture_status(stream) ? device.memory.allocate(bytes) : allocate_or_wait(device, bytes);
  if (!block) return CUDA_ERROR_OUT_OF_MEMORY;
  *p = reinterpret_cast<CUdeviceptr>(block);
  if (capture_status(stream)) return enqueue(stream, allocation_node(device, block, bytes));
  count_block(pool, static_cast<int64_t>(bytes));
  std::lock_guard lock(pools().mutex);
  pools().blocks[block] = {pool, bytes};
  return CUDA_SUCCESS;
}

CUresult pool_free(CUdeviceptr p, CUstream stream) {
  auto block = reinterpret_cast<char*>(p);
  if (capture_status(stream)) return enqueue(stream, {NodeKind::kFree, [](Device&, const WorkPlace&) {}, {}});
  if (stream->device->memory.block_of(block).start != block) return CUDA_ERROR_INVALID_VALUE;
  return enqueue(stream, {NodeKind::kFree,
                          [block](Device& device, const WorkPlace&) {
                            pool_forget(block);
                            device.memory.release(block);
                          },
                          {}});
}

void pool_forget(void* p) {
  std::unique_lock lock(pools().mutex);
  auto found = pools().blocks.find(p);
  if (found == pools().blocks.end()) return;
  PoolBlock block = found->second;
  pools().blocks.erase(found);
  lock.unlock();
  count_block(block.pool, -static_cast<int64_t>(block.bytes));
}

void drop_pools_of(Device& device) {
  std::lock_guard lock(pools().mutex);
  std::erase_if(pools().blocks, [&](const auto& block) { return block.second.pool->device == &device; });
  pools().current.erase(&device);
  for (auto* pool : handles<CUmemPoolHandle_st>().all())
    if (pool->device == &device && handles<CUmemPoolHandle_st>().remove(pool)) delete pool;
}

}  // namespace rh::stand
