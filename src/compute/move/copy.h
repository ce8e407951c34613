#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rh::compute {

namespace detail {
/// By vectors: at least kLeastLongCopy bytes.
void copy_long(const void* from, void* to, size_t bytes);
}  // namespace detail

/// In between, glibc moves by `rep movsb`, which a Zen 4 does at 3.5 GB/s in place of 33 to 50 where the two lie up to a line apart modulo
/// 4096; for as much as the caches hold and more it stores past them.
inline constexpr size_t kLeastLongCopy = 2048, kMostLongCopy = size_t{16} << 20;

/// Copies `bytes` bytes; the ranges do not overlap. In place of std::memcpy where there may be thousands of them.
inline void copy_bytes(const void* from, void* to, size_t bytes) {
  if (bytes >= kLeastLongCopy && bytes <= kMostLongCopy) return detail::copy_long(from, to, bytes);
  if (bytes > 0) std::memcpy(to, from, bytes);
}

/// `rows` rows of `bytes` bytes, `from_step` and `to_step` bytes apart. `past_caches`: what is written is not to stay there,
/// and other threads see it after end_past_caches().
void copy_rows(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows, size_t bytes, bool past_caches = false);

void end_past_caches();

/// Whether values of so many bytes leave the caches before they are read: half of the last level's, which their sources share.
bool leaves_caches(double bytes);

/// In place of std::copy_n.
template <typename T>
void copy_items(const T* from, int64_t count, T* to) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (count > 0) copy_bytes(from, to, static_cast<size_t>(count) * sizeof(T));
  } else {
    std::copy_n(from, count, to);
  }
}

}  // namespace rh::compute
