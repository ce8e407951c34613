#include "stands/cuda/driver/block_runner.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/driver/launch_check.h"

namespace rh::stand {

thread_local BlockRunner* BlockRunner::running = nullptr;

const StandApi BlockRunner::kApi = {
    [](void* worker, int predicate, const void* site) { return of(worker).barrier(predicate, site); },
    [](void* worker, unsigned long long mask, const void* value, unsigned size, const void* site) {
      return of(worker).exchange(mask, value, size, site);
    },
    [](void* worker) { return of(worker).warp_of(of(worker).current_->thread).living; },
    api_access,
    [](void* worker) { of(worker).fenced = true; },
    [](void* worker, const char* what) { of(worker).fail(CUDA_ERROR_LAUNCH_FAILED, what); },
    [](void* worker, void* to, const void* from, unsigned size, unsigned source_size, const void* site) {
      of(worker).copy_async({to, from, size, source_size, 0, site});
    },
    [](void* worker) { of(worker).commit_copies(); },
    [](void* worker, unsigned groups_left) { of(worker).wait_for_copies(groups_left); },
};

BlockRunner::BlockRunner() : dynamic_shared_storage_(new char[kMaxSharedMemory + 1024]) {
  auto address = reinterpret_cast<uintptr_t>(dynamic_shared_storage_.get());
  dynamic_shared_ = dynamic_shared_storage_.get() + (1024 - address % 1024) % 1024;
}

void BlockRunner::api_access(void* worker, const void* address, unsigned size, int access, const void* site) {
  BlockRunner& runner = of(worker);
  if (runner.check) runner.check->access(runner, address, size, access, site);
}

void BlockRunner::begin(StandState* image_state, const StandKernel* kernel, void** parameters, const StandDim& grid, const StandDim& block,
                        const RunSettings& settings) {
  state = image_state;
  kernel_ = kernel;
  parameters_ = parameters;
  strict_sites_ = settings.strict_sites;
  error = 0;
  count_ = block.x * block.y * block.z;
  warp_size_ = settings.warp_size;
  *state = {{}, {}, block, grid, 0, warp_size_, dynamic_shared_, this};
  warps_.resize((count_ + warp_size_ - 1) / warp_size_);
  pending_copies_.resize(count_);
  order_.clear();
  const long order = settings.order;
  if (order == 0) return;
  for (unsigned i = 0; i < count_; ++i) order_.push_back(count_ - 1 - i);
  if (order != 1) std::shuffle(order_.begin(), order_.end(), std::mt19937(static_cast<unsigned>(order)));
}

void BlockRunner::fail(int why, const std::string& what) {
  error = why;
  const StandDim& b = state->block;
  char place[120];
  std::snprintf(place, sizeof place, " (block %u,%u,%u thread %u)", b.x, b.y, b.z, state->linear);
  message = what + place;
  siglongjmp(escape, 1);
}

void BlockRunner::place_thread(unsigned thread) {
  const StandDim& d = state->block_dim;
  state->linear = thread;
  state->thread = {thread % d.x, thread / d.x % d.y, thread / d.x / d.y};
}

void BlockRunner::make_ready(std::vector<Fiber*>& fibers) {
  for (Fiber* f : fibers) ready_.push(f);
  fibers.clear();
}

void BlockRunner::open_barrier() {
  if (strict_sites_)
    for (Fiber* f : at_barrier_)
      if (f->site != at_barrier_.front()->site) fail(CUDA_ERROR_LAUNCH_FAILED, "threads of a block wait at different __syncthreads");
  ++epoch;
  votes_of_last_barrier_ = votes_;
  votes_ = 0;
}

unsigned BlockRunner::barrier(int predicate, const void* site) {
  current_->site = site;
  votes_ += predicate != 0;
  at_barrier_.push_back(current_);
  if (barrier_is_full()) {
    open_barrier();
    at_barrier_.pop_back();
    make_ready(at_barrier_);
  } else {
    pause();
  }
  return votes_of_last_barrier_;
}

Meeting& BlockRunner::meeting_for(WarpState& warp, unsigned long long mask) {
  for (auto& m : warp.meetings)
    if (m->mask == mask) return *m;
  warp.meetings.push_back(std::make_unique<Meeting>());
  warp.meetings.back()->mask = mask;
  return *warp.meetings.back();
}

bool BlockRunner::completes(WarpState& warp, Meeting& meeting) {
  if (!meeting.arrived || (meeting.mask & warp.living & ~meeting.arrived)) return false;
  meeting.present[meeting.generation++ & 1] = meeting.arrived;
  meeting.arrived = 0;
  ++warp.epoch;
  return true;
}

StandExchange BlockRunner::exchange(unsigned long long mask, const void* value, unsigned size, const void* site) {
  unsigned warp_number = current_->thread / warp_size_, lane = current_->thread % warp_size_;
  WarpState& warp = warps_[warp_number];
  unsigned lanes = std::min(warp_size_, count_ - warp_number * warp_size_);
  if (lanes < 64) mask &= (1ull << lanes) - 1;
  if (!(mask >> lane & 1)) fail(CUDA_ERROR_LAUNCH_FAILED, "a lane calls a warp function with a mask that does not name it");
  Meeting& meeting = meeting_for(warp, mask);
  if (strict_sites_ && meeting.arrived && meeting.site != site)
    fail(CUDA_ERROR_LAUNCH_FAILED, "lanes of a warp meet in different warp functions");
  unsigned half = meeting.generation & 1;
  meeting.site = current_->site = site;
  std::memcpy(meeting.values[half][lane], value, size);
  meeting.arrived |= 1ull << lane;
  if (completes(warp, meeting)) {
    make_ready(meeting.waiting);
  } else {
    meeting.waiting.push_back(current_);
    pause();
  }
  return {meeting.values[half], meeting.present[half]};
}

void BlockRunner::copy_async(const PendingCopy& copy) {
  auto& pending = pending_copies_[current_->thread];
  if (copy.source_size > copy.size) fail(CUDA_ERROR_LAUNCH_FAILED, "cp.async copies more bytes than it has room for");
  if ((copy.size != 4 && copy.size != 8 && copy.size != 16) || reinterpret_cast<uintptr_t>(copy.to) % copy.size ||
      (copy.source_size && reinterpret_cast<uintptr_t>(copy.from) % copy.size))
    fail(CUDA_ERROR_LAUNCH_FAILED, "cp.async of a size that is not 4, 8 or 16 bytes, or of addresses that are not aligned to it");
  if (check && copy.source_size) check->access(*this, copy.from, copy.source_size, kStandRead, copy.site);
  pending.copies.push_back(copy);
  pending.copies.back().group = pending.groups;
}

void BlockRunner::commit_copies() { ++pending_copies_[current_->thread].groups; }

void BlockRunner::wait_for_copies(unsigned groups_left) {
  auto& pending = pending_copies_[current_->thread];
  auto is_done = [&](const PendingCopy& copy) { return copy.group + groups_left < pending.groups; };
  for (const auto& copy : pending.copies) {
    if (!is_done(copy)) continue;
    if (check) check->access(*this, copy.to, copy.size, kStandWrite, copy.site);
    std::memcpy(copy.to, copy.from, copy.source_size);
    std::memset(static_cast<char*>(copy.to) + copy.source_size, 0, copy.size - copy.source_size);
  }
  std::erase_if(pending.copies, is_done);
}

void BlockRunner::end_of_thread() {
  --living_;
  WarpState& warp = warps_[current_->thread / warp_size_];
  warp.living &= ~(1ull << current_->thread % warp_size_);
  for (auto& m : warp.meetings)
    if (completes(warp, *m)) make_ready(m->waiting);
  if (barrier_is_full()) {
    open_barrier();
    make_ready(at_barrier_);
  }
}

void BlockRunner::live_as_fiber() {
  for (;;) {
    while (next_ < count_) {
      current_->thread = order_.empty() ? next_ : order_[next_];
      ++next_;
      place_thread(current_->thread);
      kernel_->call(parameters_);
      end_of_thread();
    }
    idle_.push_back(current_);
    pause();
  }
}

Fiber* BlockRunner::idle_fiber() {
  if (idle_.empty()) {
    auto fiber = std::make_unique<Fiber>();
    if (!make_fiber(*fiber, fiber_entry, fibers_.size())) fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for the stack of a thread");
    idle_.push_back(fiber.get());
    fibers_.push_back(std::move(fiber));
  }
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

std::string BlockRunner::why_nothing_moves() const {
  return "deadlock: " + std::to_string(at_barrier_.size()) + " threads wait at a barrier, " + std::to_string(living_ - at_barrier_.size()) +
         " for lanes of their warp that never come";
}

void BlockRunner::run(const StandDim& block) {
  state->block = block;
  next_ = 0;
  living_ = count_;
  first_epoch_of_block = ++epoch;
  votes_ = 0;
  fenced = joined_other_blocks = false;
  for (size_t i = 0; i < warps_.size(); ++i) {
    unsigned lanes = std::min<unsigned>(warp_size_, count_ - static_cast<unsigned>(i) * warp_size_);
    warps_[i].living = lanes == 64 ? ~0ull : (1ull << lanes) - 1;
    ++warps_[i].epoch;
    warps_[i].meetings.clear();
  }
  for (auto& p : pending_copies_) p = {};
  for (;;) {
    if (!ready_.empty()) {
      current_ = ready_.pop();
      place_thread(current_->thread);
    } else if (next_ < count_) {
      current_ = idle_fiber();
    } else if (living_ == 0) {
      break;
    } else {
      fail(CUDA_ERROR_LAUNCH_FAILED, why_nothing_moves());
    }
    rh_stand_switch(&scheduler_, current_->stack_pointer);
  }
  current_ = nullptr;
}

void BlockRunner::drop_fibers() {
  for (auto& f : fibers_) free_fiber(*f);
  fibers_.clear();
  idle_.clear();
  ready_.clear();
  at_barrier_.clear();
  current_ = nullptr;
}

}  // namespace rh::stand
