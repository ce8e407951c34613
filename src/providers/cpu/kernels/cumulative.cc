#include "ops/reduction/cumulative.h"

#include "base/interruptible.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

// Floats are accumulated in double; integers wrap around.
template <typename T>
using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <typename T>
T element(Total<T> total) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(total);
  } else {
    return narrowed<T>(total);
  }
}

template <typename T>
void accumulate(const ops::Cumulative& op, const T* x, T* y, int64_t length, int64_t stride) {
  Total<T> total = op.product ? 1 : 0;
  in_order(length, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = (op.reverse ? length - 1 - i : i) * stride;
      const Total<T> value = static_cast<Total<T>>(x[at]);
      const Total<T> next = op.product ? total * value : total + value;
      y[at] = element<T>(op.exclusive ? total : next);
      total = next;
    }
  });
}

}  // namespace

class CumulativeKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit CumulativeKernel(const KernelInfo& info) : op_(info.attributes<ops::Cumulative>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.dtype(), x.shape());
    if (x.rank() == 0)
      return error_status(ErrorCode::invalid_argument, "CumSum, CumProd: the input is a scalar, expected an axis to go along");
    const int axis = normalize_axis(scalar_int(context, 1, "axis"), x.rank());
    if (x.elements() == 0) return {};
    const int64_t length = x.shape()[axis], inner = x.shape().product(axis + 1, x.rank());
    return dispatch<Types>(x.dtype(), "CumSum, CumProd", [&]<typename T>() {
      context.parallel().for_range(x.elements() / length, {2.0 * sizeof(T) * length, 4.0 * length}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const int64_t offset = row / inner * length * inner + row % inner;
          accumulate(op_, x.data<T>() + offset, y.data<T>() + offset, length, inner);
        }
      });
    });
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias kInPlace[] = {{0, 0, Alias::Kind::in_place}};
    return kInPlace;
  }

 private:
  ops::Cumulative op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CumulativeKernel)
