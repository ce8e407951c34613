#include "stands/cuda/driver/launch_check.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/driver/block_runner.h"
#include "stands/cuda/driver/host_memory.h"

namespace rh::stand {
namespace {

// The bytes of the cell at p (aligned down to 4) that [p, end) touches.
uint8_t bytes_in_cell(const char* cell, const char* p, const char* end) {
  uint8_t bits = 0;
  for (int i = 0; i < 4; ++i)
    if (cell + i >= p && cell + i < end) bits = static_cast<uint8_t>(bits | 1 << i);
  return bits;
}
const char* cell_start(const char* p) { return p - reinterpret_cast<uintptr_t>(p) % 4; }

const char* name_of(int access) { return access == kStandRead ? "read" : access == kStandWrite ? "write" : "atomic access"; }

std::string who(uint16_t thread) {
  if (thread == kByCopy) return "a copy";
  if (thread == kByAtomic) return "an atomic access";
  return "thread " + std::to_string(thread - 1);
}

}  // namespace

void WorkClock::join(const WorkClock& other) {
  if (tickets_.size() < other.tickets_.size()) tickets_.resize(other.tickets_.size());
  for (size_t i = 0; i < other.tickets_.size(); ++i) tickets_[i] = std::max(tickets_[i], other.tickets_[i]);
}
void WorkClock::set(unsigned stream, uint32_t ticket) {
  if (tickets_.size() <= stream) tickets_.resize(stream + 1);
  tickets_[stream] = ticket;
}

MemoryCheck::MemoryCheck(DeviceMemory& memory) : memory_(memory), works_(1) {
  size_t bytes = DeviceMemory::kAddresses / 4 * sizeof(Cell);
  void* cells = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (cells == MAP_FAILED) {
    std::perror("stand: no addresses for the checks of a device's memory");
    std::abort();
  }
  cells_ = static_cast<Cell*>(cells);
}

uint32_t MemoryCheck::begin_work(const WorkPlace& place) {
  works_.push_back(place);
  return static_cast<uint32_t>(works_.size() - 1);
}

bool MemoryCheck::precedes(uint32_t work, uint32_t now) const {
  if (work == 0 || work == now) return true;
  const WorkPlace &then = works_[work], &here = works_[now];
  if (then.stream == here.stream && then.ticket == here.ticket)
    return then.node == here.node || (here.nodes_before && (*here.nodes_before)[static_cast<size_t>(then.node)]);
  return then.ticket <= here.before.of(then.stream);
}

std::string MemoryCheck::copy_reads(uint32_t work, const void* address, size_t bytes) {
  auto p = static_cast<const char*>(address), end = p + bytes;
  for (const char* at = cell_start(p); at < end; at += 4) {
    Cell& cell = *cells_of(at);
    if (!precedes(cell.write_work, work)) return "race: a copy reads what a kernel or copy of another stream wrote, with no wait between";
    cell.reader = kByCopy;
    cell.read_work = work;
    cell.read = 15;
  }
  return "";
}

std::string MemoryCheck::copy_writes(uint32_t work, const void* address, size_t bytes) {
  auto p = static_cast<const char*>(address), end = p + bytes;
  for (const char* at = cell_start(p); at < end; at += 4) {
    Cell& cell = *cells_of(at);
    if (!precedes(cell.write_work, work) || !precedes(cell.read_work, work))
      return "race: a copy writes what a kernel or copy of another stream uses, with no wait between";
    cell.writer = kByCopy;
    cell.write_work = work;
    cell.written = bytes_in_cell(at, p, end);
    cell.set = static_cast<uint8_t>(cell.set | cell.written);
  }
  return "";
}

void MemoryCheck::forget(const void* address, size_t bytes) {
  auto p = static_cast<const char*>(address), end = p + bytes;
  for (const char* at = cell_start(p); at < end; at += 4) *cells_of(at) = {};
}

LaunchCheck::LaunchCheck(MemoryCheck& memory, uint32_t work, StandRange image, StandRange shared, StandRange common_shared,
                         size_t dynamic_shared)
    : memory_(memory), work_(work), image_(image), shared_{shared, common_shared}, dynamic_shared_(dynamic_shared) {
  for (int i = 0; i < 2; ++i) shared_cells_[i].resize(static_cast<size_t>(shared_[i].last - shared_[i].first) / 4 + 2);
  shared_cells_[2].resize(dynamic_shared / 4 + 2);
}

std::string LaunchCheck::place(const void* site) const {
  char text[80];
  std::snprintf(text, sizeof text, "kernel image+0x%zx", static_cast<size_t>(static_cast<const char*>(site) - image_.first));
  return text;
}

LaunchCheck::Found LaunchCheck::find_in_device(BlockRunner& runner, const char* p, unsigned size, int access, const void* site) {
  if (p < block_first_ || p + size > block_last_) {
    DeviceMemory::Block block = memory_.memory().block_of(p);
    if (!block.start || p + size > block.start + block.bytes)
      runner.fail(CUDA_ERROR_ILLEGAL_ADDRESS, std::string(name_of(access)) + " outside of every allocation at " + place(site));
    block_first_ = block.start;
    block_last_ = block.start + block.bytes;
  }
  return {memory_.cells_of(cell_start(p)), false};
}

LaunchCheck::Found LaunchCheck::find(BlockRunner& runner, const char* p, unsigned size, int access, const void* site) {
  if (memory_.memory().has(p)) return find_in_device(runner, p, size, access, site);
  for (int i = 0; i < 2; ++i)
    if (p >= shared_[i].first && p < shared_[i].last)
      return {&shared_cells_[i][static_cast<size_t>(cell_start(p) - cell_start(shared_[i].first)) / 4], true};
  const char* dynamic = runner.dynamic_shared();
  if (p >= dynamic && p < dynamic + kMaxSharedMemory) {
    if (p + size > dynamic + dynamic_shared_)
      runner.fail(CUDA_ERROR_ILLEGAL_ADDRESS, std::string(name_of(access)) + " beyond the " + std::to_string(dynamic_shared_) +
                                                  " bytes of dynamic shared memory of the launch, at " + place(site));
    return {&shared_cells_[2][static_cast<size_t>(p - dynamic) / 4], true};
  }
  if (runner.on_own_stack(p)) return {};
  if (p >= image_.first && p < image_.last) return {};  // threadIdx, constants
  if (is_pinned(p, size)) return {};
  char address[40];
  std::snprintf(address, sizeof address, "%p", static_cast<const void*>(p));
  runner.fail(CUDA_ERROR_ILLEGAL_ADDRESS, std::string(name_of(access)) + " of host memory " + address + " at " + place(site));
}

// Whether what `thread` did at that time is ordered before what the running thread does.
bool LaunchCheck::ordered(const BlockRunner& runner, uint16_t thread, uint32_t epoch, uint32_t work, uint16_t warp_epoch, int access,
                          bool shared) const {
  if (thread == 0) return true;
  if (shared) {
    if (epoch < runner.first_epoch_of_block) return true;  // another block's, which had the memory before
  } else if (work != work_) {
    return memory_.precedes(work, work_);
  }
  if (thread == kByAtomic && access == kStandAtomic) return true;
  if (!shared && epoch < runner.first_epoch_of_block) return runner.joined_other_blocks || (thread == kByAtomic && access == kStandRead);
  if (epoch < runner.epoch) return true;  // a barrier lies between
  unsigned me = runner.state->linear;
  if (thread == kByAtomic) return access == kStandRead;
  if (thread - 1u == me) return true;
  bool same_warp = (thread - 1u) / runner.warp_size() == me / runner.warp_size();
  return same_warp && warp_epoch != static_cast<uint16_t>(runner.warp_of(me).epoch);
}

void LaunchCheck::record(const BlockRunner& runner, Cell& cell, uint8_t bytes, int access) const {
  uint16_t me = access == kStandAtomic ? kByAtomic : static_cast<uint16_t>(runner.state->linear + 1);
  auto warp_epoch = static_cast<uint16_t>(runner.warp_of(runner.state->linear).epoch);
  if (access == kStandRead) {
    cell.reader = me;
    cell.read_epoch = runner.epoch;
    cell.read_work = work_;
    cell.read_warp_epoch = warp_epoch;
    cell.read = bytes;
  } else {
    cell.writer = me;
    cell.write_epoch = runner.epoch;
    cell.write_work = work_;
    cell.write_warp_epoch = warp_epoch;
    cell.written = bytes;
    cell.set = static_cast<uint8_t>(cell.set | bytes);
  }
}

void LaunchCheck::check_cell(BlockRunner& runner, Cell& cell, uint8_t bytes, int access, bool shared, const void* site) {
  if (shared && cell.write_epoch < runner.first_epoch_of_block && cell.read_epoch < runner.first_epoch_of_block) cell = {};
  bool after_writer =
      !(cell.written & bytes) || ordered(runner, cell.writer, cell.write_epoch, cell.write_work, cell.write_warp_epoch, access, shared);
  bool after_reader = access == kStandRead || !(cell.read & bytes) ||
                      ordered(runner, cell.reader, cell.read_epoch, cell.read_work, cell.read_warp_epoch, access, shared);
  if (!after_writer || !after_reader) {
    uint16_t other = after_writer ? cell.reader : cell.writer;
    uint32_t work = after_writer ? cell.read_work : cell.write_work;
    if (!shared && work != work_)
      runner.fail(CUDA_ERROR_LAUNCH_FAILED, std::string("race: ") + name_of(access) + " of what " +
                                                (other == kByCopy ? "a copy" : "a kernel") +
                                                " of another stream used, with no wait between, at " + place(site));
    bool another_block = !shared && (after_writer ? cell.read_epoch : cell.write_epoch) < runner.first_epoch_of_block;
    runner.fail(CUDA_ERROR_LAUNCH_FAILED,
                std::string("race: ") + name_of(access) + " of what " + who(other) +
                    (another_block ? " of another block of the launch used, at " : " used since the last barrier, at ") + place(site));
  }
  if (access != kStandWrite && (cell.set & bytes) != bytes)
    runner.fail(CUDA_ERROR_LAUNCH_FAILED,
                std::string(name_of(access)) + " of " + (shared ? "shared" : "device") + " memory that nothing has set, at " + place(site));
  record(runner, cell, bytes, access);
}

void LaunchCheck::access(BlockRunner& runner, const void* address, unsigned size, int access, const void* site) {
  auto p = static_cast<const char*>(address), end = p + size;
  Found found = find(runner, p, size, access, site);
  if (!found.cells) return;
  if (access == kStandAtomic && !found.shared && runner.fenced) runner.joined_other_blocks = true;
  Cell* cell = found.cells;
  for (const char* at = cell_start(p); at < end; at += 4, ++cell)
    check_cell(runner, *cell, bytes_in_cell(at, p, end), access, found.shared, site);
}

}  // namespace rh::stand
