#include "ops/quant/qlinear_where.h"

#include <algorithm>
#include <cstring>

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
      rows.run(context.parallel(), {.bytes = 4, .operations = 2}, [&](int64_t output, const int64_t* inputs, int64_t count) {
        const auto* which = static_cast<const uint8_t*>(condition.raw()) + inputs[0];
        const uint8_t *yes = x.data<uint8_t>() + inputs[1], *no = y.data<uint8_t>() + inputs[2];
        uint8_t* to = z.data<uint8_t>() + output;
        const auto write = [&](const ByteTable& table, const uint8_t* from, int64_t step, int64_t at, int64_t length, uint8_t* codes) {
          step == 1 ? table.run(from + at, codes, length) : static_cast<void>(std::fill_n(codes, length, table.of[*from]));
        };
        if (count < kShort) {
          for (int64_t i = 0; i < count; ++i)
            to[i] = which[i * rows.step(0)] != 0 ? of_x.of[yes[i * rows.step(1)]] : of_y.of[no[i * rows.step(2)]];
          return;
        }
        if (rows.step(0) == 0) {
          *which != 0 ? write(of_x, yes, rows.step(1), 0, count, to) : write(of_y, no, rows.step(2), 0, count, to);
          return;
        }
        uint8_t chosen[kBlock];
        for (int64_t at = 0; at < count; at += kBlock) {
          const int64_t length = std::min(kBlock, count - at);
          write(of_x, yes, rows.step(1), at, length, chosen);
          write(of_y, no, rows.step(2), at, length, to + at);
          merge(which + at, chosen, to + at, length);
        }
      });
    });
  }

 private:
  static constexpr int64_t kBlock = 1024, kShort = 16;

  /// to[i] becomes codes[i] where which[i] is not 0: eight bytes of a word at once.
  static void merge(const uint8_t* which, const uint8_t* codes, uint8_t* to, int64_t count) {
    constexpr uint64_t kLow = 0x7f7f7f7f7f7f7f7f, kOnes = 0x0101010101010101;
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
      uint64_t condition = 0, code = 0, other = 0;
      std::memcpy(&condition, which + i, 8);
      std::memcpy(&code, codes + i, 8);
      std::memcpy(&other, to + i, 8);
      const uint64_t is_set = (((condition & kLow) + kLow) | condition) >> 7 & kOnes, mask = is_set * 0xff;
      other ^= (other ^ code) & mask;
      std::memcpy(to + i, &other, 8);
    }
    for (; i < count; ++i) to[i] = which[i] != 0 ? codes[i] : to[i];
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearWhereKernel)
