#include "ops/signal/dft.h"

#include "providers/cpu/elements.h"
#include "providers/cpu/fourier_lines.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class DFTKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit DFTKernel(const KernelInfo& info) : op_(info.attributes<ops::DFT>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if (rank < 2 || (x.shape()[rank - 1] != 1 && x.shape()[rank - 1] != 2)) {
      return error_status(ErrorCode::invalid_argument, "DFT: the input has shape {}, expected [..., 1] or [..., 2]", x.shape().to_string());
    }
    const int axis = normalize_axis(op_.axis_is_input ? scalar_int(context, 2, "the axis of DFT") : op_.axis, rank, "axis of DFT");
    if (axis == rank - 1) {
      return error_status(ErrorCode::invalid_argument, "DFT: axis is {}, expected one before the last, which holds the complex parts",
                          axis);
    }
    const int64_t size = x.shape()[axis];
    const int64_t length = context.has_input(1) ? scalar_int(context, 1, "the dft_length of DFT") : op_.default_length(size);
    Shape shape = x.shape();
    shape[axis] = op_.onesided && !op_.inverse ? length / 2 + 1 : length;
    shape[rank - 1] = op_.gives_real() ? 1 : 2;
    const bool is_empty = size == 0 && length == 0 && shape[axis] == 0;
    if ((length < 1 && !is_empty) || length > kLongest) {
      return error_status(ErrorCode::invalid_argument, "DFT: the length is {}, expected [1, {}]", length, kLongest);
    }
    if (is_empty) {
      context.output(0, shape);
      return {};
    }
    check_elements(shape, "DFT: the output");
    const FourierLines lines{.outer = shape.product(0, axis),
                             .inner = shape.product(axis + 1, rank - 1),
                             .in_length = size,
                             .out_length = shape[axis],
                             .in_parts = static_cast<int>(x.shape()[rank - 1]),
                             .out_parts = op_.gives_real() ? 1 : 2,
                             .inverse = op_.inverse,
                             .from_half = op_.gives_real()};
    return dispatch<Types>(x.dtype(), "DFT", [&]<typename T>() {
      T* y = context.output(0, shape).data<T>();  // before the tables of the transform: memory for a wild length is refused here
      transform_lines(context.parallel(), *transforms_.of(length), lines, x.data<T>(), y);
    });
  }

 private:
  static constexpr int64_t kLongest = int64_t{1} << 40;

  ops::DFT op_;
  KeptTransforms transforms_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DFTKernel)
