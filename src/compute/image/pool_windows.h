#pragma once

#include <algorithm>
#include <cstdint>

#include "compute/conv/conv.h"

namespace rh::compute {

/// Input positions [begin, end) in steps of `step` that a window covers along one axis.
struct Span {
  int64_t begin, end, step;
  int64_t count() const { return end > begin ? (end - begin + step - 1) / step : 0; }
};

inline Span span_of(const Window& w, int axis, int64_t at) {
  const int64_t start = at * w.stride[axis] - w.pad_begin[axis], step = w.dilation[axis];
  const int64_t begin = start >= 0 ? start : start + (-start + step - 1) / step * step;
  return {begin, std::min(w.input[axis], start + w.kernel[axis] * step), step};
}

/// How many positions of the window lie at or before the end of the padding.
inline int64_t padded_count(const Window& w, int axis, int64_t at, int64_t pad_end) {
  const int64_t start = at * w.stride[axis] - w.pad_begin[axis], step = w.dilation[axis];
  const int64_t end = std::min(w.input[axis] + pad_end, start + w.kernel[axis] * step);
  return end > start ? (end - start + step - 1) / step : 0;
}

/// Calls f(at, spans) for every output position of a plane, in row-major order.
template <typename F>
void each_window(const Window& w, F f) {
  int64_t at[3];
  Span s[3];
  for (at[0] = 0; at[0] < w.output[0]; ++at[0]) {
    s[0] = span_of(w, 0, at[0]);
    for (at[1] = 0; at[1] < w.output[1]; ++at[1]) {
      s[1] = span_of(w, 1, at[1]);
      for (at[2] = 0; at[2] < w.output[2]; ++at[2]) {
        s[2] = span_of(w, 2, at[2]);
        f(at, s);
      }
    }
  }
}

/// Calls f(position) for the flat positions inside the input of the window with these spans.
template <typename F>
void each_position(const Window& w, const Span (&s)[3], F f) {
  for (int64_t i = s[0].begin; i < s[0].end; i += s[0].step)
    for (int64_t j = s[1].begin; j < s[1].end; j += s[1].step)
      for (int64_t k = s[2].begin; k < s[2].end; k += s[2].step) f((i * w.input[1] + j) * w.input[2] + k);
}

/// Calls f(i) for the outputs of a plane whose windows have no position inside the input.
template <typename F>
void each_empty(const Window& w, F f) {
  const auto has_empty = [&](int axis) {
    for (int64_t at = 0; at < w.output[axis]; ++at)
      if (span_of(w, axis, at).count() == 0) return true;
    return false;
  };
  if (!has_empty(0) && !has_empty(1) && !has_empty(2)) return;
  int64_t i = 0;
  each_window(w, [&](const int64_t(&)[3], const Span(&s)[3]) {
    if (s[0].count() * s[1].count() * s[2].count() == 0) f(i);
    ++i;
  });
}

}  // namespace rh::compute
