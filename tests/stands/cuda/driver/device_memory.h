// A device's memory: a range of addresses that host threads cannot touch. Only threads that play the device may, by memory protection keys;
// on processors without them the range is open while any work of the device runs (RH_STAND_PROTECTION=pages chooses that everywhere). A
// block ends at the end of a page (but for its alignment), a closed page follows, and freed addresses are never used again.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace rh::stand {

class DeviceMemory {
 public:
  static constexpr size_t kAddresses = 256ull << 30;
  static constexpr size_t kAlignment = 256;

  explicit DeviceMemory(size_t limit_bytes);
  DeviceMemory(const DeviceMemory&) = delete;

  bool has(const void* p) const { return p >= base_ && p < base_ + kAddresses; }
  char* base() const { return base_; }

  // Filled with 0xff, which is NaN in float32, float16 and bfloat16. Null: beyond the limit.
  char* allocate(size_t bytes);
  // False: no block begins there.
  bool release(char* p);

  struct Block {
    char* start = nullptr;
    size_t bytes = 0;
  };
  // The block that p lies in; start is null where there is none.
  Block block_of(const void* p);
  bool inside(const void* p, size_t bytes);
  std::vector<char*> blocks();

  size_t limit() const { return limit_; }
  size_t used();
  size_t peak();
  size_t count();
  void forget_peak();

  // The calling thread may touch the memory between the two. Reopening is for a signal's end, which loses the rights.
  void enter();
  void leave();
  void reopen_for_this_thread();

 private:
  struct Pages {
    size_t bytes, first, length;  // as asked; offset and length of its pages
  };
  void protect(size_t first, size_t length, bool open);

  char* base_ = nullptr;
  int key_ = -1;
  size_t limit_, next_ = 0, used_ = 0, peak_ = 0;
  int entered_ = 0;  // without keys
  std::mutex mutex_;
  std::map<size_t, Pages> blocks_;  // by the offset of their start
};

// The calling thread plays the device as long as this lives.
class DeviceAccess {
 public:
  explicit DeviceAccess(DeviceMemory& memory) : memory_(memory) { memory_.enter(); }
  ~DeviceAccess() { memory_.leave(); }
  DeviceAccess(const DeviceAccess&) = delete;

 private:
  DeviceMemory& memory_;
};

}  // namespace rh::stand
