#include "compute/move/spread.h"

#include <algorithm>
#include <cstring>

#include "compute/elementwise/vector_math.h"
#include "compute/move/elements.h"

namespace rh::compute {

namespace {

// Of at least sizeof(Chunk) bytes: whole chunks, then the last one again from the end.
template <typename Chunk>
void copy_chunks(const char* from, char* to, int64_t bytes) {
  constexpr int64_t kChunk = sizeof(Chunk);
  Chunk chunk;
  for (int64_t i = 0; i + kChunk < bytes; i += kChunk) {
    std::memcpy(&chunk, from + i, kChunk);
    std::memcpy(to + i, &chunk, kChunk);
  }
  std::memcpy(&chunk, from + bytes - kChunk, kChunk);
  std::memcpy(to + bytes - kChunk, &chunk, kChunk);
}

template <typename Chunk>
void copy_rows_by(const char* from, int64_t stride, int64_t rows, int64_t bytes, char* to) {
  for (int64_t r = 0; r < rows; ++r) copy_chunks<Chunk>(from + r * stride, to + r * bytes, bytes);
}

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
  constexpr int64_t kLongRow = 32;  // elements, of which vectors of any processor are filled
  if (step == 0 && bytes == 4 && stride == 1 && length >= kLongRow)
    return fill_rows(static_cast<const float*>(from), static_cast<float*>(to), rows, length);
  if (step == 0) {
    return dispatch_kind(kind, [&]<typename T>() {
      if constexpr (std::is_trivially_copyable_v<T>)
        repeat_elements(static_cast<const T*>(from), stride, rows, length, static_cast<T*>(to));
    });
  }
  const auto* source = static_cast<const char*>(from);
  auto* target = static_cast<char*>(to);
  const int64_t row = length * bytes;
  if (row >= 16) return copy_rows_by<Bytes16>(source, stride * bytes, rows, row, target);
  if (row >= 8) return copy_rows_by<uint64_t>(source, stride * bytes, rows, row, target);
  if (row >= 4) return copy_rows_by<uint32_t>(source, stride * bytes, rows, row, target);
  if (row >= 2) return copy_rows_by<uint16_t>(source, stride * bytes, rows, row, target);
  copy_rows_by<uint8_t>(source, stride * bytes, rows, row, target);
}

}  // namespace rh::compute
