// Host memory that the device may touch: allocated or registered as pinned.
#pragma once

#include <cstddef>

namespace rh::stand {

struct PinnedBlock {
  char* start = nullptr;
  size_t bytes = 0;
};

void* allocate_pinned(size_t bytes);          // null: no memory
bool free_pinned(void* p);                    // false: not allocated so
bool register_pinned(void* p, size_t bytes);  // false: some of it is pinned
bool unregister_pinned(void* p);              // false: not registered
PinnedBlock pinned_block_of(const void* p);
bool is_pinned(const void* p, size_t bytes);
size_t pinned_blocks();

}  // namespace rh::stand
