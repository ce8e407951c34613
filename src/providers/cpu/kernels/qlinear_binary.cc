#include "ops/quant/qlinear_binary.h"

#include <algorithm>
#include <cstring>

#include "compute/quant/quantize.h"
#include "providers/cpu/broadcast.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

namespace {

constexpr int64_t kShortRow = 256;
constexpr int64_t kJoined = 1024;  // elements of short rows that are computed at once

/// Rows of an operand behind each other: where they are, if they are, else in `memory`.
template <typename T>
const T* joined_rows(const T* x, int64_t step, int64_t stride, int64_t rows, int64_t count, T* memory) {
  if (step == 1 && stride == count) return x;
  for (int64_t r = 0; r < rows; ++r) {
    if (step == 0) {
      std::memset(memory + r * count, static_cast<unsigned char>(x[r * stride]), static_cast<size_t>(count));
    } else {
      std::memcpy(memory + r * count, x + r * stride, static_cast<size_t>(count));
    }
  }
  return memory;
}

}  // namespace

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
      const auto compute_row = [&](const T* left, int64_t left_step, const T* right, int64_t right_step, T* to, int64_t count) {
        compute::quantized_binary<T>(op_.multiplies, {left, left_step, a_scale.scale, a_scale.zero_point},
                                     {right, right_step, b_scale.scale, b_scale.zero_point}, c_scale.scale, range, to, count);
      };
      context.parallel().for_range(rows.elements(), {.bytes = 3, .operations = 2}, [&](Range part) {
        rows.run_rows(part, [&](int64_t output, const int64_t* inputs, int64_t row_count, int64_t count) {
          const int64_t at_once = count < kShortRow && row_count > 1 ? kJoined / count : 1,
                        strides[] = {rows.row_stride(0), rows.row_stride(1)};
          T memory[2][kJoined];
          for (int64_t r = 0; r < row_count; r += at_once) {
            const int64_t joined = std::min(at_once, row_count - r);
            const T *left = a.data<T>() + inputs[0] + r * strides[0], *right = b.data<T>() + inputs[1] + r * strides[1];
            T* const to = c.data<T>() + output + r * count;
            if (joined == 1) {
              compute_row(left, steps[0], right, steps[1], to, count);
            } else {
              compute_row(joined_rows(left, steps[0], strides[0], joined, count, memory[0]), 1,
                          joined_rows(right, steps[1], strides[1], joined, count, memory[1]), 1, to, joined * count);
            }
          }
        });
      });
    });
  }

 private:
  ops::QLinearBinary op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearBinaryKernel)
