#include "ops/signal/rfft.h"

#include "providers/cpu/elements.h"
#include "providers/cpu/fourier_lines.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class RfftKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, Float16>;

  explicit RfftKernel(const KernelInfo& info) : op_(info.attributes<ops::Rfft>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int axes = x.rank() - (op_.inverse ? 1 : 0), last = axes - 1;
    const bool fits = axes >= op_.dimensions && (!op_.inverse || x.shape()[axes] == 2);
    const int64_t length = !fits ? 0 : op_.inverse ? 2 * (x.shape()[last] - 1) : x.shape()[last];
    if (length < 1) {
      return error_status(ErrorCode::invalid_argument, "the input has shape {}, expected {} signal dimensions{}, none of them empty",
                          x.shape().to_string(), op_.dimensions, op_.inverse ? " of complex numbers, two bins at least" : "");
    }
    Shape shape(x.shape().begin(), x.shape().begin() + axes);
    shape[last] = op_.inverse ? length : length / 2 + 1;
    if (!op_.inverse) shape.push_back(2);
    check_elements(shape, "the transform");
    return dispatch<Types>(x.dtype(), "Fourier transform", [&]<typename T>() {
      T* y = context.output(0, shape).data<T>();
      if (y == nullptr || shape.elements() == 0) return;
      if (op_.inverse) {
        T* spectrum = context.scratch_array<T>(x.elements());
        for (int axis = axes - op_.dimensions; axis < last; ++axis) {
          along(context, x.shape(), axis, axis == axes - op_.dimensions ? x.data<T>() : spectrum, spectrum);
        }
        along_last(context, x.shape(), axes, length, op_.dimensions == 1 ? x.data<T>() : spectrum, y);
      } else {
        along_last(context, x.shape(), axes, length, x.data<T>(), y);
        for (int axis = axes - op_.dimensions; axis < last; ++axis) along(context, shape, axis, y, y);
      }
    });
  }

 private:
  /// Between a real signal and half its spectrum.
  template <typename T>
  void along_last(RunContext& context, const Shape& shape, int axes, int64_t length, const T* x, T* y) const {
    const int64_t bins = length / 2 + 1;
    const FourierLines lines{.outer = shape.product(0, axes - 1),
                             .inner = 1,
                             .in_length = op_.inverse ? bins : length,
                             .out_length = op_.inverse ? length : bins,
                             .in_parts = op_.inverse ? 2 : 1,
                             .out_parts = op_.inverse ? 1 : 2,
                             .inverse = op_.inverse,
                             .from_half = op_.inverse};
    transform_lines(context.parallel(), *transforms_.of(length), lines, x, y);
  }

  /// Along an axis of complex numbers [..., 2].
  template <typename T>
  void along(RunContext& context, const Shape& shape, int axis, const T* x, T* y) const {
    const FourierLines lines{.outer = shape.product(0, axis),
                             .inner = shape.product(axis + 1, shape.rank() - 1),
                             .in_length = shape[axis],
                             .out_length = shape[axis],
                             .in_parts = 2,
                             .out_parts = 2,
                             .inverse = op_.inverse};
    transform_lines(context.parallel(), *transforms_.of(shape[axis]), lines, x, y);
  }

  ops::Rfft op_;
  KeptTransforms transforms_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RfftKernel)
