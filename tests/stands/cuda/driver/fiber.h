// Fibers: stacks between which one host thread switches by hand.
#pragma once

#include <cstddef>

namespace rh::stand {

struct Fiber {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  unsigned thread = 0;         // of the block, which it runs now
  const void* site = nullptr;  // of the call at which it waits
};
constexpr size_t kFiberStack = 128 << 10;

// Maps the fiber's stack, whose lowest page is closed; it will begin with `entry`. `number` staggers the tops, lest all lie in one set of
// the cache. False: no memory.
bool make_fiber(Fiber& fiber, void (*entry)(), size_t number);
void free_fiber(Fiber& fiber);

// Keeps the running stack in *save and goes on with the other.
extern "C" void rh_stand_switch(void** save, void* load);

}  // namespace rh::stand
