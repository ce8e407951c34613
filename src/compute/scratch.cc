#include "compute/scratch.h"

#include <new>

namespace rh::compute {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Block {
  void* memory = nullptr;
  size_t bytes = 0;

  ~Block() { release(); }
  void release() { ::operator delete(memory, kAlignment); }
  void* grow(size_t wanted) {
    if (wanted > bytes) {
      void* larger = ::operator new(wanted + wanted / 4, kAlignment);
      release();
      memory = larger;
      bytes = wanted + wanted / 4;
    }
    return memory;
  }
};

thread_local Block blocks[4];

}  // namespace

void* thread_scratch(ScratchSlot slot, size_t bytes) { return blocks[static_cast<int>(slot)].grow(bytes); }

}  // namespace rh::compute
