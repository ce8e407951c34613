#include "ops/quant/matmul_fpq4.h"

#include <cstring>

#include "compute/quant/nbits.h"
#include "providers/cpu/weight_inputs.h"

namespace rh::cpu {

/// The blocks are brought apart into codes, scales and zero points, at load where they are constant.
class MatMulFpQ4Kernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit MatMulFpQ4Kernel(const KernelInfo& info) : op_(info.attributes<ops::MatMulFpQ4>()) {
    const Tensor *b = info.constant_input(1), *shape = info.constant_input(2);
    // What does not fit is said when it runs.
    if (!b || !shape || shape->dtype() != DType::int64 || !sizes_of(shape->view(), b->view(), n_, k_).ok()) return;
    codes_.resize(static_cast<size_t>(blocks(n_, k_) * kCodeBytes));
    scales_.resize(static_cast<size_t>(blocks(n_, k_)));
    if (op_.has_zero_points) zero_points_.resize(scales_.size());
    unpack(b->data<uint8_t>(), blocks(n_, k_), codes_.data(), scales_.data(), zero_points_.data());
  }

  bool owns_constant(int input) const override { return input == 1 && !codes_.empty(); }
  size_t packed_bytes() const override { return codes_.size() + (scales_.size() + zero_points_.size()) * sizeof(float); }

  Status run(RunContext& context) const override {
    compute::NBitsMatrix matrix{.bits = 4, .block = ops::MatMulFpQ4::kBlock};
    if (!codes_.empty()) {
      matrix.n = n_, matrix.k = k_;
      matrix.data = codes_.data();
      matrix.scales = scales_.data();
      if (op_.has_zero_points) matrix.zero_points = zero_points_.data();
    } else {
      RH_RETURN_IF_ERROR(sizes_of(context.input(2), context.input(1), matrix.n, matrix.k));
      const int64_t count = blocks(matrix.n, matrix.k);
      auto* codes = context.scratch_array<uint8_t>(count * kCodeBytes);
      float *scales = context.scratch_array<float>(count), *zeros = op_.has_zero_points ? context.scratch_array<float>(count) : nullptr;
      unpack(context.input(1).data<uint8_t>(), count, codes, scales, zeros);
      matrix.data = codes;
      matrix.scales = scales;
      matrix.zero_points = zeros;
    }
    RH_RETURN_IF_ERROR(expect_columns(context.input(0), "K", matrix.k));
    return float_product(context, matrix.n, [&](int64_t m, const float* a, float* y) {
      compute::nbits_multiply(matrix, m, a, nullptr, y, context.parallel());
    });
  }

 private:
  static constexpr int64_t kCodeBytes = ops::MatMulFpQ4::kBlock / 2;
  static int64_t blocks(int64_t n, int64_t k) { return n * ((k + ops::MatMulFpQ4::kBlock - 1) / ops::MatMulFpQ4::kBlock); }

  Status sizes_of(const TensorView& shape, const TensorView& b, int64_t& n, int64_t& k) const {
    RH_RETURN_IF_ERROR(expect_elements(shape, "B_shape", 2));
    k = shape.data<int64_t>()[0], n = shape.data<int64_t>()[1];
    constexpr int64_t kLargest = int64_t{1} << 31;
    if (k < 1 || k > kLargest || n < 1 || n > kLargest) {
      return error_status(ErrorCode::invalid_argument, "B_shape is [{}, {}], expected K and N from 1 to {}", k, n, kLargest);
    }
    const int64_t count = blocks(n, k);
    if (b.elements() % op_.block_bytes() == 0 && b.elements() / op_.block_bytes() == count) return {};
    return error_status(ErrorCode::invalid_argument, "B has shape {}, expected {} blocks of {} bytes", b.shape().to_string(), count,
                        op_.block_bytes());
  }

  /// Half a block's codes lie in the low bits, the other half in the high bits; here neighbours share a byte.
  void unpack(const uint8_t* from, int64_t count, uint8_t* codes, float* scales, float* zeros) const {
    for (int64_t i = 0; i < count; ++i, from += op_.block_bytes(), codes += kCodeBytes) {
      std::memcpy(scales + i, from, sizeof(float));
      if (zeros) zeros[i] = static_cast<float>(from[4]);
      const uint8_t* block = from + op_.block_bytes() - kCodeBytes;
      for (int64_t j = 0; j < kCodeBytes; ++j) {
        const uint8_t *pair = block + 2 * j % kCodeBytes, shift = j < kCodeBytes / 2 ? 0 : 4;
        codes[j] = static_cast<uint8_t>((pair[0] >> shift & 15) | (pair[1] >> shift & 15) << 4);
      }
    }
  }

  ops::MatMulFpQ4 op_;
  int64_t n_ = 0, k_ = 0;
  std::vector<uint8_t> codes_;  ///< empty where the weights come at run time
  std::vector<float> scales_, zero_points_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulFpQ4Kernel)
