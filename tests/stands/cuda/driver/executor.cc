#include "stands/cuda/driver/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <thread>

#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/device.h"
#include "stands/cuda/driver/module.h"

namespace rh::stand {

struct Executor::Turn {
  const Launch* launch;
  LaunchCheck* check;
  std::vector<unsigned> order;  // of the blocks; empty: as they come
  std::atomic<unsigned> next{0};
};

Executor::Executor(Device& device, int workers) : device_(device), workers_(workers) {}

void Executor::start_helpers() {
  for (int i = 0; i < workers_; ++i) runners_.push_back(std::make_unique<BlockRunner>());
  for (int i = 1; i < workers_; ++i) std::thread([this, i] { help(i); }).detach();
}

void Executor::help(int index) {
  prepare_device_thread();
  for (unsigned seen = 0;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turns_ != seen; });
    seen = turns_;
    Turn& turn = *turn_;
    lock.unlock();
    {
      DeviceAccess access(device_.memory);
      run_blocks(index, turn);
    }
    lock.lock();
    if (--busy_ == 0) changed_.notify_all();
  }
}

// False: the kernel failed; the runner says why. (The frame that sigsetjmp keeps holds nothing that has a destructor.)
bool Executor::run_to_the_end(BlockRunner& runner, int index, Turn& turn) {
  const Launch& launch = *turn.launch;
  const ImageCopy& image = launch.function->module->copies[static_cast<size_t>(index)];
  const StandRange own = launch.function->kernels[static_cast<size_t>(index)]->shared, common = image.image->shared;
  const unsigned blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  if (sigsetjmp(runner.escape, 0)) return false;
  for (unsigned i; (i = turn.next++) < blocks && !device_.sticky;) {
    unsigned b = turn.order.empty() ? i : turn.order[i];
    // 0xff is NaN in every type of real numbers.
    if (own.first) std::memset(own.first, 0xff, static_cast<size_t>(own.last - own.first));
    if (common.first) std::memset(common.first, 0xff, static_cast<size_t>(common.last - common.first));
    if (launch.dynamic_shared) std::memset(runner.dynamic_shared(), 0xff, launch.dynamic_shared);
    runner.run({b % launch.grid.x, b / launch.grid.x % launch.grid.y, b / launch.grid.x / launch.grid.y});
  }
  return true;
}

void Executor::run_blocks(int index, Turn& turn) {
  const Launch& launch = *turn.launch;
  BlockRunner& runner = *runners_[static_cast<size_t>(index)];
  const ImageCopy& image = launch.function->module->copies[static_cast<size_t>(index)];
  std::vector<void*> parameters;
  for (size_t place : launch.places) parameters.push_back(const_cast<char*>(launch.bytes.data()) + place);
  runner.begin(image.image->state, launch.function->kernels[static_cast<size_t>(index)], parameters.data(), launch.grid, launch.block,
               launch.settings);
  runner.check = turn.check;
  BlockRunner::running = &runner;
  bool right = run_to_the_end(runner, index, turn);
  BlockRunner::running = nullptr;
  if (right) return;
  device_.memory.reopen_for_this_thread();  // the handler of a fault ran with the rights of a fresh thread
  device_.fail(runner.error, with_source_line(*launch.function->module, "kernel " + launch.function->name + ": " + runner.message));
  runner.drop_fibers();
}

void Executor::run(const Launch& launch, const WorkPlace& place) {
  std::lock_guard one(one_kernel_);
  if (device_.sticky) return;
  if (runners_.empty()) start_helpers();
  auto start = Clock::now();
  Turn turn{&launch, nullptr, {}};
  unsigned blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  if (launch.settings.order) {
    for (unsigned i = 0; i < blocks; ++i) turn.order.push_back(blocks - 1 - i);
    if (launch.settings.order != 1)
      std::shuffle(turn.order.begin(), turn.order.end(), std::mt19937(static_cast<unsigned>(launch.settings.order)));
  }
  std::optional<LaunchCheck> check;
  const ImageCopy& image = launch.function->module->copies[0];
  std::unique_lock<std::mutex> held;
  if (device_.check() && image.image->checked) {
    held = device_.check()->hold();
    check.emplace(*device_.check(), device_.check()->begin_work(place), image.range, launch.function->kernels[0]->shared,
                  image.image->shared, launch.dynamic_shared);
    turn.check = &*check;
  }
  ++counters().kernels;
  {
    std::lock_guard lock(mutex_);
    turn_ = &turn;
    busy_ = workers_ - 1;
    ++turns_;
  }
  changed_.notify_all();
  run_blocks(0, turn);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return busy_ == 0; });
  static const bool log = setting("RH_STAND_LOG", 0) != 0;
  if (log)
    std::fprintf(stderr, "stand: %s <<<%u,%u>>> %.3f ms\n", launch.function->name.c_str(), blocks,
                 launch.block.x * launch.block.y * launch.block.z, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
}

}  // namespace rh::stand
