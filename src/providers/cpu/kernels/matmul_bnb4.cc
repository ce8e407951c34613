#include "ops/quant/matmul_bnb4.h"

#include <algorithm>
#include <array>

#include "compute/gemm/gemm.h"
#include "compute/quant/nbits.h"
#include "providers/cpu/weight_inputs.h"

namespace rh::cpu {

namespace {

using Codebook = std::array<float, 16>;
using Pairs = std::array<std::array<float, 2>, 256>;  ///< what a byte stands for, the high bits first

/// Three bits and a sign (bitsandbytes' FP4), and the quantiles of the normal distribution (QLoRA, arXiv:2305.14314, appendix E).
constexpr Codebook kFp4 = {0.0f,  0.0052083333f,  2.0f / 3,  1.0f,  1.0f / 3,  0.5f,  1.0f / 6,  0.25f,
                           -0.0f, -0.0052083333f, -2.0f / 3, -1.0f, -1.0f / 3, -0.5f, -1.0f / 6, -0.25f};
constexpr Codebook kNf4 = {-1.0f,
                           -0.6961928009986877f,
                           -0.5250730514526367f,
                           -0.39491748809814453f,
                           -0.28444138169288635f,
                           -0.18477343022823334f,
                           -0.09105003625154495f,
                           0.0f,
                           0.07958029955625534f,
                           0.16093020141124725f,
                           0.24611230194568634f,
                           0.33791524171829224f,
                           0.44070982933044434f,
                           0.5626170039176941f,
                           0.7229568362236023f,
                           1.0f};

constexpr Pairs pairs_of(const Codebook& codebook) {
  Pairs pairs{};
  for (size_t byte = 0; byte < 256; ++byte) pairs[byte] = {codebook[byte >> 4], codebook[byte & 15]};
  return pairs;
}
constexpr Pairs kFp4Pairs = pairs_of(kFp4), kNf4Pairs = pairs_of(kNf4);

}  // namespace

class MatMulBnb4Kernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit MatMulBnb4Kernel(const KernelInfo& info) : op_(info.attributes<ops::MatMulBnb4>()) {}

  Status run(RunContext& context) const override {
    RH_RETURN_IF_ERROR(expect_columns(context.input(0), op_.transposed ? "K" : "N", op_.a_columns()));
    RH_RETURN_IF_ERROR(expect_elements(context.input(1), "B", (op_.weights() + 1) / 2));
    RH_RETURN_IF_ERROR(expect_elements(context.input(2), "absmax", op_.blocks()));
    const uint8_t* codes = context.input(1).data<uint8_t>();
    const float* scales = converted(context, context.input(2), DType::float32).data<float>();
    const auto rows = [&](int64_t first, int64_t count, float* out) {
      dequantize(codes, scales, first * op_.k, (first + count) * op_.k, out);
    };
    return float_product(context, op_.y_columns(), [&](int64_t m, const float* a, float* y) {
      if (op_.transposed) return compute::multiply_rows(op_.n, op_.k, rows, m, a, nullptr, y, context.parallel());
      float* weights = context.scratch_array<float>(op_.weights());
      const Cost cost{4.5 * static_cast<double>(op_.k), 2.0 * static_cast<double>(op_.k)};
      context.parallel().for_range(op_.n, cost, [&](Range part) { rows(part.begin, part.size(), weights + part.begin * op_.k); });
      compute::gemm<float>({.m = m, .n = op_.k, .k = op_.n}, a, weights, y, context.parallel());
    });
  }

 private:
  void dequantize(const uint8_t* codes, const float* scales, int64_t first, int64_t end, float* out) const {
    const Pairs& pairs = op_.codes == ops::MatMulBnb4::Codes::nf4 ? kNf4Pairs : kFp4Pairs;
    for (int64_t i = first; i < end;) {
      const int64_t stop = std::min(end, (i / op_.block_size + 1) * op_.block_size);
      const float scale = scales[i / op_.block_size];
      if (i % 2 != 0) *out++ = pairs[codes[i / 2]][1] * scale, ++i;
      for (; i + 2 <= stop; i += 2, out += 2) {
        const std::array<float, 2>& pair = pairs[codes[i / 2]];
        out[0] = pair[0] * scale;
        out[1] = pair[1] * scale;
      }
      if (i < stop) *out++ = pairs[codes[i / 2]][0] * scale, ++i;
    }
  }

  ops::MatMulBnb4 op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulBnb4Kernel)
