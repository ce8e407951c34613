#include "ops/quant/matmul_integer_to_float.h"

#include "compute/quant/quantize.h"
#include "providers/cpu/int8_product.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

class MatMulIntegerToFloatKernel final : public Kernel {
 public:
  using Types = rh::Types<float, int8_t, uint8_t>;

  explicit MatMulIntegerToFloatKernel(const KernelInfo& info)
      : op_(info.attributes<ops::MatMulIntegerToFloat>()),
        product_(info, {.a = 0, .b = 1, .a_zero = op_.a_zero(), .b_zero = op_.b_zero()}) {}

  bool owns_constant(int input) const override { return input == 1 && product_.owns_right(); }
  size_t packed_bytes() const override { return product_.packed_bytes(); }
  KernelVariant variant() const override { return product_.variant(); }

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0);
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("MatMulIntegerToFloat", a.shape(), product_.right_shape(context), p));
    const double one = 1;
    std::span<const double> a_scale(&one, 1), bias;
    const std::span<const double> b_scale = as_doubles(context, context.input(op_.b_scale()));
    if (op_.a_scale() >= 0) a_scale = as_doubles(context, context.input(op_.a_scale()));
    if (context.has_input(op_.bias())) bias = as_doubles(context, context.input(op_.bias()));
    RH_RETURN_IF_ERROR(check("scale of B", b_scale.size(), p.n));
    RH_RETURN_IF_ERROR(check("scale of A", a_scale.size(), 1));
    if (!bias.empty() && static_cast<int64_t>(bias.size()) != p.n) RH_RETURN_IF_ERROR(check("bias", 0, p.n));

    compute::Int8Matrix left = int8_matrix(a);
    std::span<const int32_t> a_zero = int32_values(context, op_.a_zero());
    int32_t dynamic_zero = 0;
    float scale = static_cast<float>(a_scale[0]);
    if (op_.is_dynamic) {
      const DynamicRange range = dynamic_range(context.parallel(), a);
      auto* bytes = context.scratch_array<uint8_t>(a.elements());
      quantize(context.parallel(), a, range, bytes);
      left = {bytes, false};
      dynamic_zero = range.zero_point;
      a_zero = {&dynamic_zero, 1};
      scale = range.scale;
    }
    const MutableView y = context.output(0, context.input(op_.b_scale()).dtype(), p.result);
    float* scales = context.scratch_array<float>(2 * p.n);
    float* biases = scales + p.n;
    for (int64_t j = 0; j < p.n; ++j) {
      scales[j] = scale * static_cast<float>(b_scale[b_scale.size() > 1 ? static_cast<size_t>(j) : 0]);
      biases[j] = bias.empty() ? 0.0f : static_cast<float>(bias[static_cast<size_t>(j)]);
    }
    return dispatch<rh::Types<float, Float16>>(y.dtype(), "MatMulIntegerToFloat", [&]<typename T>() {
      return product_.run(context, p, left, a_zero, [&](const compute::Int8Tile& tile) {
        for (int64_t i = 0; i < tile.rows; ++i) {
          T* out = y.data<T>() + (tile.row + i) * p.n + tile.column;
          const int32_t* sums = tile.sums + i * tile.stride;
          if constexpr (std::is_same_v<T, float>) {
            compute::scale_sums(sums, scales + tile.column, biases + tile.column, out, tile.columns);
            continue;
          }
          for (int64_t j = 0; j < tile.columns; ++j) {
            out[j] = T(static_cast<float>(sums[j]) * scales[tile.column + j] + biases[tile.column + j]);
          }
        }
      });
    });
  }

 private:
  static Status check(const char* what, size_t found, int64_t expected) {
    if (found == 1 || static_cast<int64_t>(found) == expected) return {};
    return error_status(ErrorCode::invalid_argument, "the {} has {} elements, expected 1 or {}", what, found, expected);
  }

  ops::MatMulIntegerToFloat op_;
  Int8Product product_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulIntegerToFloatKernel)
