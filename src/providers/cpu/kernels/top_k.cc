#include "ops/reduction/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/interruptible.h"
#include "compute/reduce/number_reductions.h"
#include "compute/scratch.h"
#include "compute/sort/ranking.h"
#include "compute/sort/row_search.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

namespace {

// Whether a comes before b among the largest; a NaN is above all.
template <typename T>
bool above(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return b == b;
    if (b != b) return false;
  }
  return a > b;
}

constexpr int64_t kFew = 64;    // so many are kept sorted while a row is read
constexpr int64_t kShort = 32;  // elements of a row, which are sorted as they are read

// The k first of what has been looked at, in order.
template <typename T, bool kLargest>
class Best {
 public:
  Best(const T* x, int64_t stride, int64_t k) : x_(x), stride_(stride), k_(k) {}

  bool is_full() const { return kept_ == k_; }
  T last() const { return values_[k_ - 1]; }

  void look_at(int64_t i) {
    const T value = x_[i * stride_];
    if (is_full() && !first(value, last())) return;
    int64_t at = is_full() ? k_ - 1 : kept_++;
    for (; at > 0 && first(value, values_[at - 1]); --at) {
      values_[at] = values_[at - 1];
      places_[at] = places_[at - 1];
    }
    values_[at] = value;
    places_[at] = i;
  }

  void store(T* y, int64_t* indices) const {
    for (int64_t i = 0; i < k_; ++i) {
      if (y) y[i * stride_] = values_[i];
      if (indices) indices[i * stride_] = places_[i];
    }
  }

 private:
  static bool first(T a, T b) { return kLargest ? above(a, b) : above(b, a); }

  const T* x_;
  int64_t stride_, k_, kept_ = 0;
  T values_[kFew];
  int64_t places_[kFew];
};

// Looks at the few that can be among the first, by a bound out of the row's parts; false where that gives none or too many.
template <bool kLargest>
bool look_at_bounded(const float* x, int64_t length, int64_t k, Best<float, kLargest>& best) {
  constexpr int64_t kRoom = 4 * kFew, kMostLength = int64_t{1} << 20;  // longer ones are searched a piece at a time
  if (length > kMostLength) return false;
  const float bound = compute::kth_bound(x, length, k, kLargest);
  if (std::isnan(bound)) return false;
  int32_t places[kRoom];
  const int64_t found = compute::find_from(x, length, bound, kLargest, places, kRoom);
  if (found > kRoom) return false;
  for (int64_t i = 0; i < found; ++i) best.look_at(places[i]);
  return true;
}

// The first one of a row alone; false where there is a NaN.
template <typename T, bool kLargest>
bool first_of_row(const T* x, int64_t length, T* y, int64_t* indices) {
  const T value = compute::extreme_of_row(kLargest, x, length);
  if (value != value) return false;
  const int64_t place = compute::find_equal(x, length, value, false);
  if (y) *y = x[place];
  if (indices) *indices = place;
  return true;
}

// The first places of one row where few are wanted: what does not come before the last of those that are kept is passed over at once.
template <typename T, bool kLargest>
void few_of_row(const T* x, int64_t length, int64_t stride, int64_t k, T* y, int64_t* indices) {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    if (k == 1 && stride == 1 && length > kShort && first_of_row<T, kLargest>(x, length, y, indices)) return;
  }
  Best<T, kLargest> best(x, stride, k);
  if constexpr (std::is_same_v<T, float>) {
    if (stride == 1 && length > kShort && look_at_bounded(x, length, k, best)) return best.store(y, indices);
  }
  constexpr int64_t kAtOnce = 16;  // elements that are looked at behind one that was found
  in_order(length, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      if constexpr (std::is_same_v<T, float>) {
        if (stride == 1 && length > kShort && best.is_full()) i += compute::find_beyond(x + i, end - i, best.last(), kLargest);
      }
      for (const int64_t stop = std::min(end, i + kAtOnce); i < stop; ++i) best.look_at(i);
    }
  });
  best.store(y, indices);
}

// The same for many of float.
template <bool kLargest>
void many_of_row(const float* x, int64_t length, int64_t stride, int64_t k, int64_t* order, float* y, int64_t* indices) {
  uint64_t* ranked = reinterpret_cast<uint64_t*>(order);
  for (int64_t i = 0; i < length; ++i) {
    const float value = x[i * stride];
    const uint32_t key = std::isnan(value) ? ~0u : compute::ordered_key(value);
    ranked[i] = compute::ranked(kLargest ? ~key : key, static_cast<uint32_t>(i));
  }
  compute::rank_least(ranked, length, k, ranked + length);
  for (int64_t i = 0; i < k; ++i) {
    const int64_t place = compute::place_of(ranked[i]);
    if (y) y[i * stride] = x[place * stride];
    if (indices) indices[i * stride] = place;
  }
}

constexpr bool are_few(int64_t k, int64_t length) { return k <= kFew && (k * 8 < length || length <= kShort); }

// The k first places of one row of `length` elements `stride` apart. `order` has room for twice `length` indices, unless few are wanted.
template <typename T, bool kLargest>
void top_of_row(const T* x, int64_t length, int64_t stride, int64_t k, bool sorted, int64_t* order, T* y, int64_t* indices) {
  if (are_few(k, length)) return few_of_row<T, kLargest>(x, length, stride, k, y, indices);
  if constexpr (std::is_same_v<T, float>) {
    if (length <= std::numeric_limits<uint32_t>::max()) return many_of_row<kLargest>(x, length, stride, k, order, y, indices);
  }
  std::iota(order, order + length, int64_t{0});
  const auto before = Interruptible([=](int64_t a, int64_t b) {
    const T u = x[a * stride], v = x[b * stride];
    if (kLargest ? above(u, v) : above(v, u)) return true;
    return (kLargest ? above(v, u) : above(u, v)) ? false : a < b;
  });
  if (k * 32 < length) {
    std::partial_sort(order, order + k, order + length, before);
  } else {
    if (k < length) std::nth_element(order, order + k, order + length, before);
    if (sorted) std::sort(order, order + k, before);
  }
  for (int64_t i = 0; i < k; ++i) {
    if (y) y[i * stride] = x[order[i] * stride];
    if (indices) indices[i * stride] = order[i];
  }
}

}  // namespace

class TopKKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit TopKKernel(const KernelInfo& info) : op_(info.attributes<ops::TopK>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int axis = normalize_axis(op_.axis, x.rank());
    const int64_t length = x.shape()[axis];
    int64_t k = op_.k.value_or(0);
    if (!op_.k) {
      if (context.input(1).elements() != 1) {
        return error_status(ErrorCode::invalid_argument, "TopK: k has shape {}, expected one element",
                            context.input(1).shape().to_string());
      }
      k = element_as_int(context.input(1), 0);
    }
    if (k < 0 || k > length) {
      return error_status(ErrorCode::invalid_argument, "TopK: k is {}, expected 0 to {}, the size of dimension {}", k, length, axis);
    }
    Shape shape = x.shape();
    shape[axis] = k;
    const MutableView values = context.has_output(0) ? context.output(0, x.dtype(), shape) : MutableView();
    int64_t* indices = context.has_output(1) ? context.output(1, DType::int64, shape).data<int64_t>() : nullptr;
    if (shape.elements() == 0) return {};
    const DType own = ordered_type(x.dtype());
    if (own == x.dtype() || !values.raw()) return run_own(context, converted(context, x, own), axis, k, values.raw(), indices);
    const MutableView wide(own, shape, context.scratch(bytes_of(own, shape.elements())));
    RH_RETURN_IF_ERROR(run_own(context, converted(context, x, own), axis, k, wide.raw(), indices));
    convert(context.parallel(), wide, values);
    return {};
  }

 private:
  Status run_own(RunContext& context, const TensorView& x, int axis, int64_t k, void* values, int64_t* indices) const {
    return dispatch<OrderedTypes>(x.dtype(), "TopK",
                                  [&]<typename T>() { run_rows<T>(context, x, axis, k, static_cast<T*>(values), indices); });
  }

  template <typename T>
  void run_rows(RunContext& context, const TensorView& x, int axis, int64_t k, T* values, int64_t* indices) const {
    const int64_t length = x.shape()[axis], inner = x.shape().product(axis + 1, x.rank()), rows = x.elements() / length;
    const auto top = op_.largest ? top_of_row<T, true> : top_of_row<T, false>;
    context.parallel().for_range(rows, {8.0 * length, 20.0 * length}, [&](Range part) {
      const size_t bytes = are_few(k, length) ? 0 : static_cast<size_t>(2 * length) * sizeof(int64_t);
      auto* const order = static_cast<int64_t*>(compute::thread_scratch(compute::ScratchSlot::row, bytes));
      for (int64_t row = part.begin; row < part.end; ++row) {
        const int64_t outer = row / inner, column = row % inner, at = outer * k * inner + column;
        top(x.data<T>() + outer * length * inner + column, length, inner, k, op_.sorted, order, values ? values + at : nullptr,
            indices ? indices + at : nullptr);
      }
    });
  }

  ops::TopK op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TopKKernel)
