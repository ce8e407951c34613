#include "ops/quant/qlinear_unary.h"

#include <cmath>

#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearUnaryKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  /// Constant scales make the table at load.
  explicit QLinearUnaryKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearUnary>()) {
    const auto from = TensorScale::constant(info, 1, 2), to = TensorScale::constant(info, 3, 4);
    if (from && to) table_ = make(info.input_dtype(0), *from, *to);
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (table_) return look_up(context, x, *table_);
    TensorScale from, to;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 1, 2, "the scale or zero point of X", from));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 3, 4, "the scale or zero point of Y", to));
    return look_up(context, x, make(x.dtype(), from, to));
  }

 private:
  static Status look_up(RunContext& context, const TensorView& x, const ByteTable& table) {
    const MutableView y = context.output(0, x.shape());
    context.parallel().for_range(x.elements(), {.bytes = 2, .operations = 0.5}, [&](Range range) {
      table.run(x.data<uint8_t>() + range.begin, y.data<uint8_t>() + range.begin, range.size());
    });
    return {};
  }

  ByteTable make(DType dtype, const TensorScale& from, const TensorScale& to) const {
    const auto f = [&](float v) { return apply(v); };
    return dtype == DType::int8 ? ByteTable::make<int8_t>(from, to, f) : ByteTable::make<uint8_t>(from, to, f);
  }

  float apply(float v) const {
    if (op_.is_sigmoid) return 1.0f / (1.0f + std::exp(-v));
    return v < 0 ? v * op_.alpha : v;
  }

  ops::QLinearUnary op_;
  std::optional<ByteTable> table_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearUnaryKernel)
