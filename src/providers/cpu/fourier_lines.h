#pragma once

#include <algorithm>
#include <span>

#include "base/thread_pool.h"
#include "compute/fft.h"
#include "providers/cpu/kept_transforms.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

/// Signals along one axis of [outer, length, inner, parts], parts 1 (real) or 2 (complex).
struct FourierLines {
  int64_t outer, inner;
  int64_t in_length, out_length;  ///< what is missing of the transform's length is 0, what is too much is not read or written
  int in_parts, out_parts;
  bool inverse = false;
  bool from_half = false;  ///< the input is the first half of a spectrum, of which the other half mirrors it
};

template <typename T>
void read_fourier_line(const FourierLines& lines, const T* from, std::span<compute::Fft::Complex> line) {
  const auto length = static_cast<int64_t>(line.size());
  const int64_t used = std::min(lines.in_length, lines.from_half ? length / 2 + 1 : length), stride = lines.inner * lines.in_parts;
  std::fill(line.begin() + used, line.end(), compute::Fft::Complex());
  for (int64_t k = 0; k < used; ++k, from += stride) {
    line[static_cast<size_t>(k)] = {static_cast<double>(from[0]), lines.in_parts == 2 ? static_cast<double>(from[1]) : 0};
  }
  if (!lines.from_half) return;
  line[0].imag(0);
  if (length % 2 == 0) line[static_cast<size_t>(length / 2)].imag(0);
  for (int64_t k = 1; 2 * k < length; ++k) line[static_cast<size_t>(length - k)] = std::conj(line[static_cast<size_t>(k)]);
}

/// Transforms every line. x and y may be the same where the lines have the same length and parts.
template <typename T>
void transform_lines(const Parallel& parallel, const compute::Fft& fft, const FourierLines& lines, const T* x, T* y) {
  const Cost cost{.bytes = 0, .operations = 50.0 * static_cast<double>(fft.size())};
  parallel.for_range(lines.outer * lines.inner, cost, [&](Range range) {
    const auto line = thread_list<compute::Fft::Complex>(ThreadList::first, fft.size());
    const auto scratch = thread_list<compute::Fft::Complex>(ThreadList::second, fft.scratch_size());
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t outer = i / lines.inner, inner = i % lines.inner;
      read_fourier_line(lines, x + (outer * lines.in_length * lines.inner + inner) * lines.in_parts, line);
      if (lines.inverse) {
        fft.inverse(line.data(), scratch.data());
      } else {
        fft.forward(line.data(), scratch.data());
      }
      T* to = y + (outer * lines.out_length * lines.inner + inner) * lines.out_parts;
      for (int64_t k = 0; k < lines.out_length; ++k, to += lines.inner * lines.out_parts) {
        to[0] = narrowed<T>(line[static_cast<size_t>(k)].real());
        if (lines.out_parts == 2) to[1] = narrowed<T>(line[static_cast<size_t>(k)].imag());
      }
    }
  });
}

}  // namespace rh::cpu
