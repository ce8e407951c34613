#include "stands/cuda/driver/host_memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace rh::stand {
namespace {

struct Pinned {
  size_t bytes;
  bool registered;
};
struct PinnedMemory {
  std::mutex mutex;
  std::map<const char*, Pinned> blocks;
};
PinnedMemory& pinned() {
  static auto* memory = new PinnedMemory;
  return *memory;
}

bool forget(void* p, bool registered) {
  std::lock_guard lock(pinned().mutex);
  auto found = pinned().blocks.find(static_cast<const char*>(p));
  if (found == pinned().blocks.end() || found->second.registered != registered) return false;
  pinned().blocks.erase(found);
  return true;
}

PinnedBlock find(const char* p) {
  auto after = pinned().blocks.upper_bound(p);
  if (after == pinned().blocks.begin()) return {};
  --after;
  return p < after->first + after->second.bytes ? PinnedBlock{const_cast<char*>(after->first), after->second.bytes} : PinnedBlock{};
}

}  // namespace

void* allocate_pinned(size_t bytes) {
  size_t rounded = (bytes + 4095) / 4096 * 4096;
  void* p = rounded < bytes ? nullptr : std::aligned_alloc(4096, rounded);
  if (!p) return nullptr;
  std::memset(p, 0xff, rounded);
  std::lock_guard lock(pinned().mutex);
  pinned().blocks[static_cast<const char*>(p)] = {bytes, false};
  return p;
}

bool free_pinned(void* p) {
  if (!forget(p, false)) return false;
  std::free(p);
  return true;
}

bool register_pinned(void* p, size_t bytes) {
  std::lock_guard lock(pinned().mutex);
  auto first = static_cast<const char*>(p);
  auto next = pinned().blocks.lower_bound(first);
  if (find(first).start || (next != pinned().blocks.end() && next->first < first + bytes)) return false;
  pinned().blocks[first] = {bytes, true};
  return true;
}

bool unregister_pinned(void* p) { return forget(p, true); }

PinnedBlock pinned_block_of(const void* p) {
  std::lock_guard lock(pinned().mutex);
  return find(static_cast<const char*>(p));
}

bool is_pinned(const void* p, size_t bytes) {
  PinnedBlock block = pinned_block_of(p);
  return block.start && static_cast<const char*>(p) + bytes <= block.start + block.bytes;
}

size_t pinned_blocks() {
  std::lock_guard lock(pinned().mutex);
  return pinned().blocks.size();
}

}  // namespace rh::stand
