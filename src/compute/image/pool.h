#pragma once

#include <cstdint>

#include "base/thread_pool.h"
#include "compute/conv/conv.h"

namespace rh::compute {

/// Pooling of `planes` (batch x channels) planes, row-major; window geometry as for a convolution. Instantiated for float and
/// double; max_pool for int8_t and uint8_t too.

/// Maximum over the window's positions inside the input. `indices` may be null; else it takes the flat position of each maximum within
/// the whole input (plane included), the first one on ties; with `column_major` spatial axes count in column-major order.
/// A window that lies wholly in the padding gives the lowest number and index -1.
template <typename T>
void max_pool(const Window& window, int64_t planes, const T* x, T* y, int64_t* indices, bool column_major, const Parallel& parallel);

/// The same without indices, in the calling thread; planes of x and of y lie x_plane and y_plane apart.
template <typename T>
void max_pool_planes(const Window& window, int64_t planes, const T* x, int64_t x_plane, T* y, int64_t y_plane);

/// What max_pool gives windows that lie wholly in the padding, alone.
template <typename T>
void fill_empty_windows(const Window& window, int64_t planes, T* y);

/// Mean over the window. With `count_padding` the divisor counts padding too, up to `pad_end` beyond the input (positions that ceil mode
/// adds beyond that are never counted). The mean of a window that counts nothing is 0.
template <typename T>
void average_pool(const Window& window, const int64_t (&pad_end)[3], int64_t planes, bool count_padding, const T* x, T* y,
                  const Parallel& parallel);

/// (sum |x|^p)^(1/p).
template <typename T>
void lp_pool(const Window& window, int64_t planes, int p, const T* x, T* y, const Parallel& parallel);

}  // namespace rh::compute
