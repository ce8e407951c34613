#pragma once

#include <cstddef>
#include <cstdint>

namespace rh::compute {

/// What a thread keeps for packing, and lists of kernels' loops; two functions that run inside each other use different slots.
enum class ScratchSlot { packed_right, packed_left, row, dequantized, phase, image, split, first_list, second_list, third_list, count };

/// At least `bytes` of memory of the calling thread, 64-byte aligned, kept (and grown) until the thread ends. The next call with the same
/// slot gives the same memory. Throws std::bad_alloc.
void* thread_scratch(ScratchSlot slot, size_t bytes);

/// The same, of so many floats.
inline float* scratch_floats(ScratchSlot slot, int64_t count) {
  return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float)));
}

}  // namespace rh::compute
