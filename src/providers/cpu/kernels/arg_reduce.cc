#include "ops/reduction/arg_reduce.h"

#include <algorithm>

#include "providers/cpu/convert.h"

namespace rh::cpu {

namespace {

constexpr int64_t kColumns = 64;

// Whether x takes the place of the best element so far; a NaN beats all numbers.
template <bool kMax, typename T>
bool beats(T x, T best, bool last) {
  if (best != best) return last && x != x;
  if (x != x) return true;
  return (kMax ? x > best : x < best) || (last && x == best);
}

template <bool kMax, typename T>
void arg_reduce(const T* x, int64_t length, int64_t stride, bool last, int64_t* index) {
  T best = x[0];
  int64_t at = 0;
  for (int64_t i = 1; i < length; ++i) {
    if (!beats<kMax>(x[i * stride], best, last)) continue;
    best = x[i * stride];
    at = i;
  }
  *index = at;
}

// The same for `columns` neighbouring columns of a [length, stride] block, row by row.
template <bool kMax, typename T>
void arg_reduce_columns(const T* x, int64_t length, int64_t stride, bool last, int64_t columns, int64_t* indices) {
  T best[kColumns];
  std::copy_n(x, columns, best);
  std::fill_n(indices, columns, 0);
  for (int64_t i = 1; i < length; ++i) {
    const T* row = x + i * stride;
    for (int64_t c = 0; c < columns; ++c) {
      const bool better = beats<kMax>(row[c], best[c], last);
      best[c] = better ? row[c] : best[c];
      indices[c] = better ? i : indices[c];
    }
  }
}

}  // namespace

class ArgReduceKernel final : public Kernel {
 public:
  using Types = NumericTypes;  // those without a loop of their own are widened

  explicit ArgReduceKernel(const KernelInfo& info) : op_(info.attributes<ops::ArgReduce>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int axis = x.rank() == 0 ? 0 : normalize_axis(op_.axis, x.rank());
    const int64_t length = x.rank() == 0 ? 1 : x.shape()[axis];
    Shape shape = x.shape();
    if (x.rank() > 0 && op_.keep_dims) shape[axis] = 1;
    if (x.rank() > 0 && !op_.keep_dims) shape.erase(static_cast<size_t>(axis));
    int64_t* indices = context.output(0, DType::int64, shape).data<int64_t>();
    if (shape.elements() == 0) return {};
    if (length == 0)
      return error_status(ErrorCode::invalid_argument, "ArgMax, ArgMin: dimension {} of shape {} is empty", axis, x.shape().to_string());
    const TensorView wide = converted(context, x, ordered_type(x.dtype()));
    const int64_t inner = x.rank() == 0 ? 1 : x.shape().product(axis + 1, x.rank());
    return dispatch<OrderedTypes>(wide.dtype(), "ArgMax, ArgMin", [&]<typename T>() {
      const auto row = op_.max ? arg_reduce<true, T> : arg_reduce<false, T>;
      const auto columns = op_.max ? arg_reduce_columns<true, T> : arg_reduce_columns<false, T>;
      const double elements = static_cast<double>(length);
      context.parallel().for_range(shape.elements(), {sizeof(T) * elements, 2 * elements}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end;) {
          const int64_t count = std::min({kColumns, inner - i % inner, part.end - i});
          const T* first = wide.data<T>() + i / inner * length * inner + i % inner;
          if (count == 1) {
            row(first, length, inner, op_.select_last, indices + i);
          } else {
            columns(first, length, inner, op_.select_last, count, indices + i);
          }
          i += count;
        }
      });
    });
  }

 private:
  ops::ArgReduce op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ArgReduceKernel)
