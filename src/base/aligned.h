#pragma once

#include <cstddef>
#include <cstdlib>
#ifdef _WIN32
#include <malloc.h>
#endif

namespace rh {

/// Null where there is none; `bytes` is a multiple of `alignment`. To be let go of by free_aligned alone.
inline void* allocate_aligned(size_t alignment, size_t bytes) {
#ifdef _WIN32
  return _aligned_malloc(bytes, alignment);
#else
  return std::aligned_alloc(alignment, bytes);
#endif
}

inline void free_aligned(void* memory) {
#ifdef _WIN32
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

/// More than any memory has.
constexpr size_t kMoreThanMemory = ~size_t{0} >> 2;

}  // namespace rh
