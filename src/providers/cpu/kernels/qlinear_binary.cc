#include "ops/quant/qlinear_binary.h"

#include "compute/quant/quantize.h"
#include "providers/cpu/broadcast.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearBinaryKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  explicit QLinearBinaryKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearBinary>()) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0), b = context.input(3);
    TensorScale a_scale, b_scale, c_scale;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 1, 2, "the scale or zero point of A", a_scale));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 4, 5, "the scale or zero point of B", b_scale));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 6, 7, "the scale or zero point of C", c_scale));
    const MutableView c = context.output(0, broadcast(a.shape(), b.shape()));
    if (c.elements() == 0) return {};
    const Shape* shapes[] = {&a.shape(), &b.shape()};
    const Broadcast rows(c.shape(), shapes);
    const int64_t steps[] = {rows.step(0), rows.step(1)};
    return dispatch<Types>(a.dtype(), "QLinearBinary", [&]<typename T>() {
      const auto range = compute::QuantRange::of<T>(c_scale.zero_point);
      rows.run(context.parallel(), {.bytes = 3, .operations = 2}, [&](int64_t output, const int64_t* inputs, int64_t count) {
        compute::quantized_binary<T>(op_.multiplies, {a.data<T>() + inputs[0], steps[0], a_scale.scale, a_scale.zero_point},
                                     {b.data<T>() + inputs[1], steps[1], b_scale.scale, b_scale.zero_point}, c_scale.scale, range,
                                     c.data<T>() + output, count);
      });
    });
  }

 private:
  ops::QLinearBinary op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearBinaryKernel)
