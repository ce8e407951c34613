// Runs the threads of a block of a kernel on one host thread. A fiber takes one thread of the block after the other as long as none waits,
// so a kernel without barriers is a plain loop.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stands/cuda/device/stand_abi.h"
#include "stands/cuda/driver/fiber.h"

namespace rh::stand {

class LaunchCheck;

constexpr unsigned kMaxThreads = 1024;
constexpr size_t kMaxSharedMemory = 228 << 10;

// Lanes of a warp that meet to exchange values; one for each mask.
struct Meeting {
  unsigned long long mask = 0, arrived = 0;
  unsigned long long present[2] = {};
  unsigned generation = 0;
  const void* site = nullptr;
  std::vector<Fiber*> waiting;
  alignas(16) char values[2][64][16];
};

struct WarpState {
  unsigned long long living = 0;
  uint32_t epoch = 0;  // a new one at each exchange
  std::vector<std::unique_ptr<Meeting>> meetings;
};

// cp.async: begun, and done at the wait for its group.
struct PendingCopy {
  void* to;
  const void* from;
  unsigned size, source_size, group;
  const void* site;
};
struct PendingCopies {
  std::vector<PendingCopy> copies;
  unsigned groups = 0;
};

// The fibers that can go on, in the order in which they became so.
class ReadyRing {
 public:
  bool empty() const { return head_ == tail_; }
  void push(Fiber* f) { at_[tail_++ % (2 * kMaxThreads)] = f; }
  Fiber* pop() { return at_[head_++ % (2 * kMaxThreads)]; }
  void clear() { head_ = tail_ = 0; }

 private:
  Fiber* at_[2 * kMaxThreads] = {};
  unsigned head_ = 0, tail_ = 0;
};

struct RunSettings {
  long order = 0;  // of the threads, blocks and nodes of graphs: 0 as they come, 1 backwards, else a seed
  unsigned warp_size = 32;
  bool strict_sites = false;  // all threads must wait at the same place of the machine code
};

class BlockRunner {
 public:
  BlockRunner();

  // Before the blocks of a launch: the image's state, the kernel and its parameters, the threads of a block, the order in which they start.
  void begin(StandState* state, const StandKernel* kernel, void** parameters, const StandDim& grid, const StandDim& block,
             const RunSettings& settings);
  // Runs a block. A failure leaves by siglongjmp to `escape`, which the caller has set; `error` and `message` then say what.
  void run(const StandDim& block);
  // After a failure: all fibers are dropped.
  void drop_fibers();
  [[noreturn]] void fail(int error, const std::string& what);

  static const StandApi kApi;
  static thread_local BlockRunner* running;  // on this host thread

  sigjmp_buf escape;
  int error = 0;
  std::string message;

  // For the checks of a checked image.
  LaunchCheck* check = nullptr;
  StandState* state = nullptr;
  uint32_t epoch = 0, first_epoch_of_block = 0;  // a new one at each barrier; never the same for two blocks
  bool fenced = false, joined_other_blocks = false;
  const WarpState& warp_of(unsigned thread) const { return warps_[thread / warp_size_]; }
  unsigned warp_size() const { return warp_size_; }
  bool on_own_stack(const void* p) const { return current_ && p >= current_->stack && p < current_->stack + kFiberStack; }
  char* dynamic_shared() { return dynamic_shared_; }

 private:
  unsigned barrier(int predicate, const void* site);
  StandExchange exchange(unsigned long long mask, const void* value, unsigned size, const void* site);
  void copy_async(const PendingCopy& copy);
  void commit_copies();
  void wait_for_copies(unsigned groups_left);

  static void fiber_entry() { running->live_as_fiber(); }
  void live_as_fiber();
  void end_of_thread();
  Fiber* idle_fiber();
  void place_thread(unsigned thread);
  void pause() { rh_stand_switch(&current_->stack_pointer, scheduler_); }
  void make_ready(std::vector<Fiber*>& fibers);
  bool barrier_is_full() const { return !at_barrier_.empty() && at_barrier_.size() == living_; }
  void open_barrier();
  bool completes(WarpState& warp, Meeting& meeting);
  Meeting& meeting_for(WarpState& warp, unsigned long long mask);
  std::string why_nothing_moves() const;

  static BlockRunner& of(void* worker) { return *static_cast<BlockRunner*>(worker); }
  static void api_access(void* worker, const void* address, unsigned size, int access, const void* site);

  const StandKernel* kernel_ = nullptr;
  void** parameters_ = nullptr;
  unsigned count_ = 0, next_ = 0, living_ = 0, warp_size_ = 32;
  unsigned votes_ = 0, votes_of_last_barrier_ = 0;
  bool strict_sites_ = false;
  std::vector<unsigned> order_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_, at_barrier_;
  ReadyRing ready_;
  std::vector<WarpState> warps_;
  std::vector<PendingCopies> pending_copies_;
  Fiber* current_ = nullptr;
  void* scheduler_ = nullptr;
  std::unique_ptr<char[]> dynamic_shared_storage_;
  char* dynamic_shared_;  // aligned to 1024 bytes
};

}  // namespace rh::stand
