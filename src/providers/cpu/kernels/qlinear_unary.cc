#include "ops/quant/qlinear_unary.h"

#include <cmath>

#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearUnaryKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  explicit QLinearUnaryKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearUnary>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    TensorScale from, to;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 1, 2, "the scale or zero point of X", from));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 3, 4, "the scale or zero point of Y", to));
    const MutableView y = context.output(0, x.shape());
    return dispatch<Types>(x.dtype(), "QLinearUnary", [&]<typename T>() {
      const ByteTable table = ByteTable::make<T>(from, to, [&](float v) { return apply(v); });
      context.parallel().for_range(x.elements(), {.bytes = 2, .operations = 1}, [&](Range range) {
        table.run(x.data<uint8_t>() + range.begin, y.data<uint8_t>() + range.begin, range.size());
      });
    });
  }

 private:
  float apply(float v) const {
    if (op_.is_sigmoid) return 1.0f / (1.0f + std::exp(-v));
    return v < 0 ? v * op_.alpha : v;
  }

  ops::QLinearUnary op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearUnaryKernel)
