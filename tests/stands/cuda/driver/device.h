// The devices that the stand plays, and the primary context of each.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/driver/device_memory.h"
#include "stands/cuda/driver/executor.h"
#include "stands/cuda/driver/launch_check.h"
#include "stands/cuda/driver/stream.h"

// The primary context: its handle stays the same all the time.
struct CUctx_st {
  rh::stand::Device* device = nullptr;
  int retained = 0;
};

namespace rh::stand {

struct Counters {
  std::atomic<long> kernels{0}, bytes_to_device{0}, bytes_to_host{0}, bytes_on_device{0}, copies_to_device{0}, copies_to_host{0},
      copies_on_device{0}, graph_launches{0};
};

struct Device {
  Device(int ordinal, int physical);

  const int ordinal;   // as programs see it, after CUDA_VISIBLE_DEVICES
  const int physical;  // of the machine
  const int compute_capability;
  DeviceMemory memory;
  Executor executor;
  CUctx_st context;
  std::mutex mutex;  // of the context and of `streams`
  std::vector<CUstream> streams;
  std::atomic<int> sticky{0};  // a kernel that failed fails every later call, as on a GPU

  MemoryCheck* check() { return check_.get(); }
  // The stream that CUstream 0 stands for. Others that are not non-blocking wait for it, and it for them.
  CUstream null_stream();
  bool null_stream_is_used();
  // Waits for all work.
  void wait();
  // Ends what the context has: streams, memory, pools, the error that stuck.
  void reset();
  // Keeps the sentence, which goes to stderr too, and the error that sticks.
  void fail(int error, const std::string& what);
  std::string name() const;
  int shared_memory_at_most() const;  // of a block, as on GPUs of that compute capability
  CUuuid uuid() const;

 private:
  std::unique_ptr<MemoryCheck> check_;
  CUstream null_stream_ = nullptr;
};

// The devices that CUDA_VISIBLE_DEVICES leaves, made at the first call. Null: there is none of that number.
std::vector<Device*>& devices();
Device* device_of(int ordinal);
Device* device_with_memory(const void* p);

Counters& counters();
std::string last_message();

// A thread that runs kernels has a stack for the handler of faults.
void prepare_device_thread();
// Faults of kernels become errors of their device; others go where they went before.
void install_fault_handler();

}  // namespace rh::stand
