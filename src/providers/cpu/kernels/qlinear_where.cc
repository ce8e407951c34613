#include "ops/quant/qlinear_where.h"

#include <algorithm>

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
      const ByteTable of_y = ByteTable::make<T>(y_scale, z_scale, same), of_x = ByteTable::make<T>(x_scale, z_scale, same);
      uint8_t table[2 * sizeof(ByteTable)];
      std::copy_n(of_y.of, sizeof(ByteTable), table);
      std::copy_n(of_x.of, sizeof(ByteTable), table + sizeof(ByteTable));
      rows.run(context.parallel(), {.bytes = 4, .operations = 2}, [&](int64_t output, const int64_t* inputs, int64_t count) {
        const auto* which = static_cast<const uint8_t*>(condition.raw()) + inputs[0];
        const uint8_t *yes = x.data<uint8_t>() + inputs[1], *no = y.data<uint8_t>() + inputs[2];
        uint8_t* to = z.data<uint8_t>() + output;
        const auto fill = [which, yes, no, to, &table, count](auto... steps) {
          const int64_t step[] = {steps...};
          for (int64_t i = 0; i < count; ++i) {  // without branches, which random conditions would mislead
            const unsigned is_x = (which[i * step[0]] + 255u) >> 8, other = no[i * step[2]];
            to[i] = table[(is_x * sizeof(ByteTable)) + (other ^ ((other ^ yes[i * step[1]]) & (0 - is_x)))];
          }
        };
        if (rows.step(0) == 1 && rows.step(1) == 1 && rows.step(2) == 1) {
          fill(1, 1, 1);
        } else {
          fill(rows.step(0), rows.step(1), rows.step(2));
        }
      });
    });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearWhereKernel)
