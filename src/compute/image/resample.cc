#include "compute/image/resample.h"

#include <algorithm>

#include "compute/scratch.h"
#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/image/resample.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

HWY_INLINE int64_t float_lanes() { return static_cast<int64_t>(hn::Lanes(Floats())); }

/// Elements of x, of which `count` may be read: those that a vector has.
HWY_INLINE Vec load_most(const float* x, int64_t count) {
  const int64_t lanes = float_lanes();
  if (count >= lanes) return hn::LoadU(Floats(), x);
  return count > 0 ? load_some(x, static_cast<size_t>(count)) : hn::Zero(Floats());
}

HWY_INLINE void store_most(Vec v, float* y, int64_t count) {
  if (count >= float_lanes())
    hn::StoreU(v, Floats(), y);
  else
    store_some(v, y, static_cast<size_t>(count));
}

// kTaps below: the number of taps where it is known when loops over them are compiled, or 0.

/// Rows resampled along themselves: each vector of outputs is looked up in two vectors of inputs, where these have all that it takes.
class AlongRows {
 public:
  explicit AlongRows(const ResampledAxis& along) : along_(along), vectors_((along.outputs + float_lanes() - 1) / float_lanes()) {
    const int64_t lanes = float_lanes();
    looks_up_ = lanes > 1 && along.inputs <= INT32_MAX;
    for (int64_t v = 0; v < vectors_ && looks_up_; ++v) {
      looks_up_ = most_of(v) - least_of(v) < 2 * lanes;
      takes_two_ |= most_of(v) - least_of(v) >= lanes;
    }
  }

  /// Floats that its tables take.
  int64_t floats() const { return looks_up_ ? vectors_ * (2 * along_.taps * float_lanes() + 1) : 0; }

  void fill(float* memory) {
    if (!looks_up_) return;
    const int64_t lanes = float_lanes(), taps = along_.taps;
    float* weight = memory;
    auto* index = reinterpret_cast<int32_t*>(memory + vectors_ * taps * lanes);
    auto* first = index + vectors_ * taps * lanes;
    weight_ = weight;
    index_ = index;
    first_ = first;
    for (int64_t v = 0; v < vectors_; ++v) {
      first[v] = static_cast<int32_t>(least_of(v));
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t lane = 0; lane < lanes; ++lane) {
          const int64_t output = v * lanes + lane, at = output * taps + t;
          *index++ = output < along_.outputs ? static_cast<int32_t>(along_.index[at]) - first[v] : 0;
          *weight++ = output < along_.outputs ? along_.weight[at] : 0.0f;
        }
    }
  }

  /// Whether a row of outputs, and one of inputs, is a vector.
  bool is_one_vector() const { return looks_up_ && vectors_ == 1 && !takes_two_; }

  /// The row of outputs of two taps where it is_one_vector(); `readable` elements lie behind x.
  HWY_INLINE Vec one_vector_of_two(const float* x, int64_t readable) const {
    const Floats d;
    const Vec inputs = load_most(x + first_[0], readable - first_[0]);
    const auto first = hn::IndicesFromVec(d, hn::LoadU(Ints(), index_));
    const auto second = hn::IndicesFromVec(d, hn::LoadU(Ints(), index_ + float_lanes()));
    const Vec sum = hn::MulAdd(hn::TableLookupLanes(inputs, first), hn::LoadU(d, weight_), hn::Zero(d));
    return hn::MulAdd(hn::TableLookupLanes(inputs, second), hn::LoadU(d, weight_ + float_lanes()), sum);
  }

  /// `readable` elements lie behind x and `writable` may be written behind y, those that are no outputs with any values.
  template <int kTaps>
  HWY_INLINE void run(const float* x, int64_t readable, float* y, int64_t writable) const {
    if (!looks_up_) return one_by_one(x, y);
    const Floats d;
    const int64_t lanes = float_lanes();
    const int64_t taps = kTaps > 0 ? kTaps : along_.taps;
    const float* weight = weight_;
    const int32_t* index = index_;
    for (int64_t v = 0; v < vectors_; ++v, y += lanes, writable -= lanes) {
      const int64_t rest = readable - first_[v];
      const Vec a = load_most(x + first_[v], rest);
      Vec sum = hn::Zero(d);
      if (takes_two_) {
        const Vec b = load_most(x + first_[v] + lanes, rest - lanes);
        for (int64_t t = 0; t < taps; ++t, weight += lanes, index += lanes)
          sum = hn::MulAdd(look_up(a, b, index), hn::LoadU(d, weight), sum);
      } else {
        for (int64_t t = 0; t < taps; ++t, weight += lanes, index += lanes) {
          const auto at = hn::IndicesFromVec(d, hn::LoadU(Ints(), index));
          sum = hn::MulAdd(hn::TableLookupLanes(a, at), hn::LoadU(d, weight), sum);
        }
      }
      store_most(sum, y, writable);
    }
  }

 private:
  /// Lanes of both.
  static HWY_INLINE Vec look_up(Vec a, Vec b, const int32_t* index) {
    const Floats d;
    const Ints di;
    const auto at = hn::LoadU(di, index), last = hn::Set(di, static_cast<int32_t>(float_lanes() - 1));
    const auto within = hn::IndicesFromVec(d, hn::And(at, last));
    return hn::IfThenElse(hn::RebindMask(d, hn::Gt(at, last)), hn::TableLookupLanes(b, within), hn::TableLookupLanes(a, within));
  }

  const int64_t* indices_of(int64_t vector) const { return along_.index + std::min(vector * float_lanes(), along_.outputs) * along_.taps; }
  int64_t least_of(int64_t vector) const { return *std::min_element(indices_of(vector), indices_of(vector + 1)); }
  int64_t most_of(int64_t vector) const { return *std::max_element(indices_of(vector), indices_of(vector + 1)); }

  void one_by_one(const float* x, float* y) const {
    const int64_t* index = along_.index;
    const float* weight = along_.weight;
    for (int64_t i = 0; i < along_.outputs; ++i) {
      float sum = 0;
      for (int64_t t = 0; t < along_.taps; ++t) sum += *weight++ * x[*index++];
      y[i] = sum;
    }
  }

  const ResampledAxis& along_;
  int64_t vectors_;
  bool looks_up_;
  bool takes_two_ = false;          ///< some vector of outputs does, of inputs; else one is enough for each
  const float* weight_ = nullptr;   ///< [vector][tap][lane]
  const int32_t* index_ = nullptr;  ///< the same, from the first of a vector's inputs on
  const int32_t* first_ = nullptr;
};

/// A row of `length` out of some others, behind each of which `readable` elements lie; `writable` as above.
template <int kTaps>
HWY_INLINE void blend(const float* const* rows, const float* weights, int64_t all_taps, int64_t length, int64_t readable, float* y,
                      int64_t writable) {
  const Floats d;
  const int64_t taps = kTaps > 0 ? kTaps : all_taps;
  const int64_t lanes = float_lanes();
  for (int64_t i = 0; i < length; i += lanes) {
    Vec sum = hn::Zero(d);
    for (int64_t t = 0; t < taps; ++t) sum = hn::MulAdd(load_most(rows[t] + i, readable - i), set(weights[t]), sum);
    store_most(sum, y + i, writable - i);
  }
}

/// Rows in scratch memory, whole vectors each, so that what was stored is loaded again in the same pieces.
struct RowsBetween {
  float* rows;
  int64_t length;
};

/// The fewer rows first: each of x along itself, kept while outputs are made of it.
template <int kTaps>
void along_then_down(const float* x, const ResampledAxis& down, const AlongRows& along_rows, const ResampledAxis& along, int64_t begin,
                     int64_t end, const RowsBetween& between, float* y) {
  int64_t made[kMostResampledTaps];  // rows of x that lie in `between`, each where its number modulo taps says
  const int64_t inputs = down.inputs * along.inputs, planes = (end - 1) / down.outputs + 1;
  const int64_t taps = kTaps > 0 ? kTaps : down.taps;
  for (int64_t row = begin, plane = begin / down.outputs; row < end; ++plane) {
    std::fill_n(made, taps, int64_t{-1});
    for (const int64_t after = std::min(end, (plane + 1) * down.outputs); row < after; ++row) {
      const int64_t at = row - plane * down.outputs;
      const float* terms[kMostResampledTaps];
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t index = down.index[at * taps + t];
        const int64_t slot = kTaps == 2 ? index & 1 : index % taps;
        float* const there = between.rows + slot * between.length;
        terms[t] = there;
        if (made[slot] == index) continue;
        made[slot] = index;
        const int64_t from = plane * inputs + index * along.inputs;
        along_rows.template run<kTaps>(x + from, planes * inputs - from, there, between.length);
      }
      blend<kTaps>(terms, down.weight + at * taps, taps, along.outputs, between.length, y + row * along.outputs,
                   (end - row) * along.outputs);
    }
  }
}

/// The same where rows of outputs are a vector each and have two taps either way: the two that one is made of stay in registers.
void along_then_down_in_registers(const float* x, const ResampledAxis& down, const AlongRows& along_rows, const ResampledAxis& along,
                                  int64_t begin, int64_t end, const RowsBetween&, float* y) {
  const Floats d;
  const int64_t inputs = down.inputs * along.inputs, planes = (end - 1) / down.outputs + 1;
  for (int64_t row = begin, plane = begin / down.outputs; row < end; ++plane) {
    const auto row_of = [&](int64_t index) HWY_ATTR {
      const int64_t from = plane * inputs + index * along.inputs;
      return along_rows.one_vector_of_two(x + from, planes * inputs - from);
    };
    int64_t upper_at = -1, lower_at = -1;
    Vec upper = hn::Zero(d), lower = upper;
    for (const int64_t after = std::min(end, (plane + 1) * down.outputs); row < after; ++row) {
      const int64_t at = 2 * (row - plane * down.outputs), first = down.index[at], second = down.index[at + 1];
      if (first != upper_at) upper = first == lower_at ? lower : row_of(first);
      upper_at = first;
      if (second != lower_at) lower = second == upper_at ? upper : row_of(second);
      lower_at = second;
      const Vec sum = hn::MulAdd(upper, set(down.weight[at]), hn::Zero(d));
      store_most(hn::MulAdd(lower, set(down.weight[at + 1]), sum), y + row * along.outputs, (end - row) * along.outputs);
    }
  }
}

template <int kTaps>
void down_then_along(const float* x, const ResampledAxis& down, const AlongRows& along_rows, const ResampledAxis& along, int64_t begin,
                     int64_t end, const RowsBetween& between, float* y) {
  const int64_t inputs = down.inputs * along.inputs, planes = (end - 1) / down.outputs + 1;
  const int64_t taps = kTaps > 0 ? kTaps : down.taps;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t plane = row / down.outputs, at = row % down.outputs;
    float* const to = y + row * along.outputs;
    const int64_t writable = (end - row) * along.outputs;
    const float* terms[kMostResampledTaps];
    int64_t last = 0;
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t from = plane * inputs + down.index[at * taps + t] * along.inputs;
      terms[t] = x + from;
      last = std::max(last, from);
    }
    const int64_t readable = planes * inputs - last;
    if (taps == 1) {
      along_rows.template run<kTaps>(terms[0], readable, to, writable);
    } else {
      blend<kTaps>(terms, down.weight + at * taps, taps, along.inputs, readable, between.rows, between.length);
      along_rows.template run<kTaps>(between.rows, between.length, to, writable);
    }
  }
}

void resample_rows_loop(const float* x, const ResampledAxis& down, const ResampledAxis& along, int64_t begin, int64_t end, float* y) {
  if (begin == end) return;
  AlongRows along_rows(along);
  const int64_t lanes = float_lanes(), length = (std::max(along.inputs, along.outputs) + 3 * lanes - 1) / lanes * lanes;
  const RowsBetween between{scratch_floats(ScratchSlot::row, down.taps * length + along_rows.floats()), length};
  along_rows.fill(between.rows + down.taps * length);
  const bool by_two = down.taps == 2 && along.taps == 2;
  const auto grow = by_two && along_rows.is_one_vector() ? along_then_down_in_registers : by_two ? along_then_down<2> : along_then_down<0>;
  const auto run = down.outputs > down.inputs ? grow : (by_two ? down_then_along<2> : down_then_along<0>);
  run(x, down, along_rows, along, begin, end, between, y);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(resample_rows_loop);

bool resamples_rows(const ResampledAxis& down, const ResampledAxis& along) {
  if (std::max(down.taps, along.taps) > kMostResampledTaps) return false;
  // The rows that one is made of differ by less than there are of them, so that each has a place.
  for (int64_t i = 0; i < down.outputs; ++i) {
    const auto [least, most] = std::minmax_element(down.index + i * down.taps, down.index + (i + 1) * down.taps);
    if (*most - *least >= down.taps) return false;
  }
  return true;
}

void resample_rows(const float* x, const ResampledAxis& down, const ResampledAxis& along, int64_t begin, int64_t end, float* y) {
  HWY_DYNAMIC_DISPATCH(resample_rows_loop)(x, down, along, begin, end, y);
}

}  // namespace rh::compute
#endif
