// Runs kernels on a device: one at a time, its blocks over the workers.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "stands/cuda/driver/block_runner.h"
#include "stands/cuda/driver/launch_check.h"

struct CUfunc_st;

namespace rh::stand {

struct Device;

// A launch, with its parameters as they were at the call.
struct Launch {
  const CUfunc_st* function = nullptr;
  StandDim grid{}, block{};
  unsigned dynamic_shared = 0;
  std::vector<char> bytes;     // of all parameters
  std::vector<size_t> places;  // of each parameter in it
  RunSettings settings;
};

class Executor {
 public:
  Executor(Device& device, int workers);
  // Returns when the kernel has ended. A failure is the device's from then on.
  void run(const Launch& launch, const WorkPlace& place);
  int workers() const { return workers_; }

 private:
  struct Turn;
  void start_helpers();
  void help(int index);
  void run_blocks(int index, Turn& turn);
  bool run_to_the_end(BlockRunner& runner, int index, Turn& turn);

  Device& device_;
  const int workers_;
  std::mutex one_kernel_;  // runs at a time
  std::vector<std::unique_ptr<BlockRunner>> runners_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Turn* turn_ = nullptr;
  unsigned turns_ = 0;
  int busy_ = 0;
};

}  // namespace rh::stand
