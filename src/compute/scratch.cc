#include "compute/scratch.h"

#include "base/thread_memory.h"

namespace rh::compute {
namespace {

thread_local ThreadMemory blocks[static_cast<int>(ScratchSlot::count)];

}  // namespace

void* thread_scratch(ScratchSlot slot, size_t bytes) { return blocks[static_cast<int>(slot)].grow(bytes); }

}  // namespace rh::compute
