#include "ops/quant/qlinear_concat.h"

#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearConcatKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit QLinearConcatKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearConcat>()) {}

  Status run(RunContext& context) const override {
    for (int i = 0; i < context.input_count(); ++i) {
      if (!context.has_input(i)) return error_status(ErrorCode::invalid_argument, "input {} is left out, expected a value", i);
    }
    TensorScale to;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 0, 1, "the scale or zero point of Y", to));
    Shape shape = context.input(2).shape();
    const int axis = normalize_axis(op_.axis, shape.rank());
    const size_t at = static_cast<size_t>(axis);
    for (int i = 5; i < context.input_count(); i += 3) {
      const Shape& x = context.input(i).shape();
      bool fits = x.rank() == shape.rank();
      for (int k = 0; fits && k < x.rank(); ++k) fits = k == axis || x[k] == shape[k];
      if (!fits) {
        return error_status(ErrorCode::invalid_argument, "input {} has shape {}, which does not go with {} along axis {}", i, x.to_string(),
                            context.input(2).shape().to_string(), axis);
      }
      shape[at] += x[at];
    }
    const MutableView y = context.output(0, context.input(1).dtype(), shape);
    const int64_t outer = shape.product(0, axis), row = shape.product(axis, shape.rank());
    int64_t begin = 0;
    for (int i = 2; i < context.input_count(); i += 3) {
      const TensorView x = context.input(i);
      TensorScale from;
      RH_RETURN_IF_ERROR(TensorScale::read(context, i + 1, i + 2, "the scale or zero point of an input", from));
      if (x.dtype() != y.dtype()) {
        return error_status(ErrorCode::invalid_argument, "input {} is {}, expected {} as the zero point of Y", i, to_string(x.dtype()),
                            to_string(y.dtype()));
      }
      const int64_t part = x.shape().product(axis, x.rank());
      RH_RETURN_IF_ERROR(dispatch<ByteTypes>(x.dtype(), "QLinearConcat", [&]<typename T>() {
        const ByteTable table = ByteTable::make<T>(from, to, [](float v) { return v; });
        for (int64_t k = 0; k < outer; ++k) table.run(x.data<uint8_t>() + k * part, y.data<uint8_t>() + k * row + begin, part);
      }));
      begin += part;
    }
    return {};
  }

 private:
  ops::QLinearConcat op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearConcatKernel)
