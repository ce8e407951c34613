// The checks of checked images: every load and store of a kernel lies in memory that is the device's and set, and no two threads touch a
// byte with nothing between that orders them. Copies and memsets take part, so a wait between streams that was forgotten is found too.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "stands/cuda/device/stand_abi.h"
#include "stands/cuda/driver/device_memory.h"

namespace rh::stand {

class BlockRunner;

// What precedes a piece of work: of each stream the number of its last piece that is done before this one begins.
class WorkClock {
 public:
  void join(const WorkClock& other);
  void set(unsigned stream, uint32_t ticket);
  uint32_t of(unsigned stream) const { return stream < tickets_.size() ? tickets_[stream] : 0; }

 private:
  std::vector<uint32_t> tickets_;
};

struct WorkPlace {
  unsigned stream = 0;
  uint32_t ticket = 0;
  WorkClock before;
  // For a node of a graph: its number, and of each node whether it is done before this one begins.
  int node = -1;
  std::shared_ptr<const std::vector<bool>> nodes_before;
};

// What is known of four bytes.
struct Cell {
  uint32_t write_epoch = 0, write_work = 0, read_epoch = 0, read_work = 0;
  uint16_t writer = 0, reader = 0;  // thread + 1; kByAtomic, kByCopy
  uint16_t write_warp_epoch = 0, read_warp_epoch = 0;
  uint8_t written = 0, read = 0, set = 0;  // a bit for each byte
};

// One for each device: its cells, and which work wrote them.
class MemoryCheck {
 public:
  explicit MemoryCheck(DeviceMemory& memory);
  // Work that is watched runs one piece after the other.
  std::unique_lock<std::mutex> hold() { return std::unique_lock(busy_); }
  // A number for a piece of work that begins.
  uint32_t begin_work(const WorkPlace& place);
  // Marks what a copy or memset does. Returns a sentence where it is not ordered with what others did, or the bytes read are not set.
  std::string copy_reads(uint32_t work, const void* p, size_t bytes);
  std::string copy_writes(uint32_t work, const void* p, size_t bytes);
  // Bytes that the host has taken over (a pool's block given again): nothing is known of them.
  void forget(const void* p, size_t bytes);

  DeviceMemory& memory() { return memory_; }
  Cell* cells_of(const char* p) { return cells_ + (p - memory_.base()) / 4; }
  // Whether the work is done before `now` begins.
  bool precedes(uint32_t work, uint32_t now) const;

 private:
  std::mutex busy_;
  DeviceMemory& memory_;
  Cell* cells_;
  std::vector<WorkPlace> works_;
};

// The check of one launch.
class LaunchCheck {
 public:
  LaunchCheck(MemoryCheck& memory, uint32_t work, StandRange image, StandRange shared, StandRange common_shared, size_t dynamic_shared);
  void access(BlockRunner& runner, const void* address, unsigned size, int access, const void* site);

 private:
  struct Found {
    Cell* cells = nullptr;  // null: not watched
    bool shared = false;
  };
  Found find(BlockRunner& runner, const char* p, unsigned size, int access, const void* site);
  Found find_in_device(BlockRunner& runner, const char* p, unsigned size, int access, const void* site);
  void check_cell(BlockRunner& runner, Cell& cell, uint8_t bytes, int access, bool shared, const void* site);
  bool ordered(const BlockRunner& runner, uint16_t who, uint32_t epoch, uint32_t work, uint16_t warp_epoch, int access, bool shared) const;
  void record(const BlockRunner& runner, Cell& cell, uint8_t bytes, int access) const;
  std::string place(const void* site) const;

  MemoryCheck& memory_;
  uint32_t work_;
  StandRange image_, shared_[2];
  size_t dynamic_shared_;
  char *block_first_ = nullptr, *block_last_ = nullptr;  // the last block found
  std::vector<Cell> shared_cells_[3];
};

constexpr uint16_t kByAtomic = 0xfffe, kByCopy = 0xffff;

}  // namespace rh::stand
