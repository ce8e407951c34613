#include "ops/quant/qlinear_where.h"

#include "providers/cpu/broadcast.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

class QLinearWhereKernel final : public Kernel {
 public:
  using Types = rh::Types<bool>;

  explicit QLinearWhereKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView condition = context.input(0), x = context.input(1), y = context.input(4);
    TensorScale x_scale, y_scale, z_scale;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 2, 3, "the scale or zero point of X", x_scale));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 5, 6, "the scale or zero point of Y", y_scale));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 7, 8, "the scale or zero point of Z", z_scale));
    const MutableView z = context.output(0, x.dtype(), broadcast(broadcast(condition.shape(), x.shape()), y.shape()));
    if (z.elements() == 0) return {};
    const Shape* shapes[] = {&condition.shape(), &x.shape(), &y.shape()};
    const Broadcast rows(z.shape(), shapes);
    return dispatch<ByteTypes>(x.dtype(), "QLinearWhere", [&]<typename T>() {
      const auto same = [](float v) { return v; };
      const ByteTable of_x = ByteTable::make<T>(x_scale, z_scale, same), of_y = ByteTable::make<T>(y_scale, z_scale, same);
      rows.run(context.parallel(), {.bytes = 4, .operations = 2}, [&](int64_t output, const int64_t* inputs, int64_t count) {
        const bool* which = condition.data<bool>() + inputs[0];
        const uint8_t *yes = x.data<uint8_t>() + inputs[1], *no = y.data<uint8_t>() + inputs[2];
        for (int64_t i = 0; i < count; ++i) {
          z.data<uint8_t>()[output + i] = which[i * rows.step(0)] ? of_x.of[yes[i * rows.step(1)]] : of_y.of[no[i * rows.step(2)]];
        }
      });
    });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearWhereKernel)
