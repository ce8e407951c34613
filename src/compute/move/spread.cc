#include "compute/move/spread.h"

#include <algorithm>
#include <cstring>

#include "compute/elementwise/vector_math.h"
#include "compute/move/copy.h"
#include "compute/move/elements.h"

namespace rh::compute {

namespace {

template <typename T>
void repeat_elements(const T* from, int64_t stride, int64_t rows, int64_t length, T* to) {
  constexpr int64_t kBlock = 64 / static_cast<int64_t>(sizeof(T));
  const T* const end = to + rows * length;
  for (int64_t r = 0; r < rows; ++r, to += length) {
    T block[kBlock];
    std::fill_n(block, kBlock, from[r * stride]);
    // A block may reach into the rows behind, which are written later.
    int64_t i = 0;
    for (; i < length && to + i + kBlock <= end; i += kBlock) std::memcpy(to + i, block, sizeof(block));
    if (i < length) std::fill_n(to + i, length - i, block[0]);
  }
}

}  // namespace

void spread_rows(const void* from, int64_t bytes, int64_t stride, int64_t step, int64_t rows, int64_t length, void* to) {
  const ElementKind kind = bytes == 1   ? ElementKind::bytes1
                           : bytes == 2 ? ElementKind::bytes2
                           : bytes == 4 ? ElementKind::bytes4
                           : bytes == 8 ? ElementKind::bytes8
                                        : ElementKind::bytes16;
  if (step == 0 && bytes == 4 && stride == 1 && length > 0)
    return fill_rows(static_cast<const float*>(from), static_cast<float*>(to), rows, length);
  if (step == 0) {
    return dispatch_kind(kind, [&]<typename T>() {
      if constexpr (std::is_trivially_copyable_v<T>)
        repeat_elements(static_cast<const T*>(from), stride, rows, length, static_cast<T*>(to));
    });
  }
  copy_rows(from, stride * bytes, to, length * bytes, rows, static_cast<size_t>(length * bytes));
}

}  // namespace rh::compute
