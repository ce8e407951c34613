#include "ops/quant/matmul_nbits.h"

#include <algorithm>

#include "base/pages.h"
#include "compute/quant/nbits.h"
#include "providers/cpu/weight_inputs.h"

namespace rh::cpu {

/// The codes are read where they lie; scales and zero points that are constant are brought to float at load.
class MatMulNBitsKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit MatMulNBitsKernel(const KernelInfo& info) : op_(info.attributes<ops::MatMulNBits>()), left_(left_of(op_, info.precision())) {
    if (const Tensor* codes = info.constant_input(1)) populate_pages(codes->raw(), codes->bytes());
    const Tensor *scales = info.constant_input(2), *zeros = info.constant_input(3);
    if (!scales || (info.node().has_input(3) && !zeros)) return;
    // What does not fit is said when it runs.
    if (!expect_elements(scales->view(), "scales", op_.n * op_.blocks()).ok()) return;
    if (zeros && !check_zero_points(zeros->view()).ok()) return;
    if (scales->dtype() != DType::float32) {
      scales_.resize(static_cast<size_t>(scales->elements()));
      for (size_t i = 0; i < scales_.size(); ++i) scales_[i] = element_as_float(scales->view(), static_cast<int64_t>(i));
    }
    if (zeros) {
      const auto count = static_cast<size_t>(op_.n * op_.blocks());
      const bool are_codes = zeros->dtype() == DType::uint8;
      zero_codes_.resize(are_codes ? count : 0);
      zero_points_.resize(are_codes ? 0 : count);
      unpack_zero_points(zeros->view(), zero_codes_.data(), zero_points_.data());
    }
    prepared_ = true;
    compute::NBitsMatrix matrix = sizes();
    matrix.zero_points = zero_points_.empty() ? nullptr : zero_points_.data();
    matrix.zero_codes = zero_codes_.empty() ? nullptr : zero_codes_.data();
    if (!info.node().has_input(4)) variant_ = name_of(compute::nbits_left(matrix, left_));
  }

  KernelVariant variant() const override { return {.problem = "", .variant = variant_, .variants = {}}; }
  bool owns_constant(int input) const override { return prepared_ && ((input == 2 && !scales_.empty()) || input == 3); }
  size_t packed_bytes() const override { return (scales_.size() + zero_points_.size()) * sizeof(scales_[0]) + zero_codes_.size(); }

  Status run(RunContext& context) const override {
    const TensorView b = context.input(1);
    RH_RETURN_IF_ERROR(expect_columns(context.input(0), "K", op_.k));
    compute::NBitsMatrix matrix = sizes();
    if (b.elements() == 0) return left_out_product(context);
    matrix.data = b.data<uint8_t>();
    RH_RETURN_IF_ERROR(expect_elements(b, "B", op_.n * matrix.row_bytes()));
    RH_RETURN_IF_ERROR(prepare(context, matrix));
    const float* bias = nullptr;
    if (context.has_input(5)) {
      RH_RETURN_IF_ERROR(expect_elements(context.input(5), "bias", op_.n));
      bias = converted(context, context.input(5), DType::float32).data<float>();
    }
    return float_product(context, op_.n, [&](int64_t m, const float* a, float* y) {
      compute::nbits_multiply(matrix, m, a, bias, y, context.parallel(), left_);
    });
  }

 private:
  /// B without elements stands for a projection that is left out: zeros, or the bias. What else there is of the weights is not looked at.
  Status left_out_product(RunContext& context) const {
    const Shape &b = context.input(1).shape(), expected{op_.n, op_.blocks(), op_.block_size * op_.bits / 8};
    bool fits = b.rank() == 3;
    for (int i = 0; fits && i < 3; ++i) fits = b[i] == 0 || b[i] == expected[i];
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "B has shape {}, expected {}, or 0 in place of some of it", b.to_string(),
                          expected.to_string());
    }
    const float* bias = nullptr;
    if (context.has_input(5)) {
      RH_RETURN_IF_ERROR(expect_elements(context.input(5), "bias", op_.n));
      bias = converted(context, context.input(5), DType::float32).data<float>();
    }
    return float_product(context, op_.n, [&](int64_t m, const float*, float* y) {
      for (int64_t row = 0; row < m; ++row) {
        bias ? void(std::copy_n(bias, op_.n, y + row * op_.n)) : void(std::fill_n(y + row * op_.n, op_.n, 0.0f));
      }
    });
  }

  static compute::NBitsLeft left_of(const ops::MatMulNBits& op, Precision precision) {
    if (!op.rounds_activations) return compute::NBitsLeft::exact;
    return precision == Precision::strict ? compute::NBitsLeft::rounded : compute::NBitsLeft::bytes;
  }
  static std::string_view name_of(compute::NBitsLeft left) {
    return left == compute::NBitsLeft::bytes ? "int8_rows" : left == compute::NBitsLeft::rounded ? "int16_rows" : "float_rows";
  }
  compute::NBitsMatrix sizes() const { return {.n = op_.n, .k = op_.k, .bits = static_cast<int>(op_.bits), .block = op_.block_size}; }

  /// Packed zero points fill whole bytes for each row; others are one a block.
  int64_t zero_row_bytes() const { return (op_.blocks() * op_.bits + 7) / 8; }
  Status check_zero_points(const TensorView& view) const {
    return expect_elements(view, "zero_points", op_.n * (view.dtype() == DType::uint8 ? zero_row_bytes() : op_.blocks()));
  }

  /// As bytes where they are packed, else as floats.
  void unpack_zero_points(const TensorView& view, uint8_t* codes, float* floats) const {
    if (view.dtype() == DType::uint8) return unpack_codes(view.data<uint8_t>(), static_cast<int>(op_.bits), op_.n, op_.blocks(), codes);
    for (int64_t i = 0; i < view.elements(); ++i) floats[i] = element_as_float(view, i);
  }

  Status prepare(RunContext& context, compute::NBitsMatrix& matrix) const {
    if (prepared_) {
      matrix.scales = scales_.empty() ? context.input(2).data<float>() : scales_.data();
      if (!zero_points_.empty()) matrix.zero_points = zero_points_.data();
      if (!zero_codes_.empty()) matrix.zero_codes = zero_codes_.data();
    } else {
      RH_RETURN_IF_ERROR(expect_elements(context.input(2), "scales", op_.n * op_.blocks()));
      matrix.scales = converted(context, context.input(2), DType::float32).data<float>();
      if (context.has_input(3)) {
        RH_RETURN_IF_ERROR(check_zero_points(context.input(3)));
        const bool are_codes = context.input(3).dtype() == DType::uint8;
        auto* codes = are_codes ? context.scratch_array<uint8_t>(op_.n * op_.blocks()) : nullptr;
        auto* floats = are_codes ? nullptr : context.scratch_array<float>(op_.n * op_.blocks());
        unpack_zero_points(context.input(3), codes, floats);
        matrix.zero_codes = codes;
        matrix.zero_points = floats;
      }
    }
    if (!context.has_input(4)) return {};
    const TensorView groups = context.input(4);
    if (groups.elements() < op_.k) return expect_elements(groups, "g_idx", op_.k);
    for (int64_t i = 0; i < op_.k; ++i) {
      if (const int32_t group = groups.data<int32_t>()[i]; group < 0 || group >= op_.blocks()) {
        return error_status(ErrorCode::invalid_argument, "g_idx[{}] is {}, expected 0 to {}", i, group, op_.blocks() - 1);
      }
    }
    matrix.block_of_k = groups.data<int32_t>();
    return {};
  }

  ops::MatMulNBits op_;
  compute::NBitsLeft left_;
  std::string_view variant_ = "float_rows";  ///< also where blocks go by index
  bool prepared_ = false;
  std::vector<float> scales_, zero_points_;
  std::vector<uint8_t> zero_codes_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulNBitsKernel)
