#include "ops/quant/qlinear_softmax.h"

#include <algorithm>

#include "compute/reduce/row_math.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearSoftmaxKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  explicit QLinearSoftmaxKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearSoftmax>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    TensorScale from, to;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 1, 2, "the scale or zero point of X", from));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 3, 4, "the scale or zero point of Y", to));
    const MutableView y = context.output(0, x.shape());
    if (y.elements() == 0) return {};
    const bool past_the_end = op_.flatten && op_.axis == x.rank();
    const int axis = past_the_end ? x.rank() : normalize_axis(op_.axis, x.rank());
    const int64_t outer = x.shape().product(0, axis);
    const int64_t length = op_.flatten ? x.shape().product(axis, x.rank()) : x.shape()[axis];
    const int64_t inner = op_.flatten ? 1 : x.shape().product(axis + 1, x.rank());
    const int64_t block = length * inner;
    float* values = context.scratch_array<float>(x.elements());
    return dispatch<Types>(x.dtype(), "QLinearSoftmax", [&]<typename T>() {
      const auto range = compute::QuantRange::of<T>(to.zero_point);
      const double work = static_cast<double>(block);
      // Short rows go many at a time through each of the three.
      const int64_t most = std::max<int64_t>(1, kAtOnce / block);
      context.parallel().for_range(outer, {.bytes = 10 * work, .operations = 4 * work}, [&](Range part) {
        for (int64_t i = part.begin, rows = 0; i < part.end; i += rows) {
          rows = std::min(most, part.end - i);
          float* first = values + i * block;
          compute::dequantize(x.data<T>() + i * block, from.scale, from.zero_point, first, rows * block);
          compute::softmax_strided(first, first, rows, length, inner, false);
          compute::quantize(first, to.scale, range, y.data<T>() + i * block, rows * block);
        }
      });
    });
  }

 private:
  static constexpr int64_t kAtOnce = 4096;

  ops::QLinearSoftmax op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearSoftmaxKernel)
