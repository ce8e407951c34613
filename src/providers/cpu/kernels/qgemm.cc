#include "ops/quant/qgemm.h"

#include <utility>

#include "providers/cpu/int8_product.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

/// A constant B is packed at load.
class QGemmKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  explicit QGemmKernel(const KernelInfo& info) : op_(info.attributes<ops::QGemm>()) {
    const Tensor* b = info.constant_input(3);
    if (!b || b->shape().rank() != 2 || b->elements() == 0) return;
    const bool turned = op_.transpose_b;
    packed_ = compute::PackedInt8Matrix(int8_matrix(b->view()), b->shape()[turned ? 1 : 0], b->shape()[turned ? 0 : 1], turned);
    packed_shape_ = b->shape();
  }

  bool owns_constant(int input) const override { return input == 3 && !packed_.empty(); }
  size_t packed_bytes() const override { return packed_.bytes(); }
  KernelVariant variant() const override { return packing_variant(!packed_.empty()); }

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0);
    const Shape& b = packed_.empty() ? context.input(3).shape() : packed_shape_;
    const int64_t m = a.rank() == 2 ? a.shape()[op_.transpose_a ? 1 : 0] : 0, k = a.rank() == 2 ? a.shape()[op_.transpose_a ? 0 : 1] : 0;
    if (a.rank() != 2 || b.rank() != 2 || b[op_.transpose_b ? 1 : 0] != k) {
      return error_status(ErrorCode::invalid_argument, "QGemm: shapes {} and {} cannot be multiplied", a.shape().to_string(),
                          b.to_string());
    }
    const int64_t n = b[op_.transpose_b ? 0 : 1];
    const bool quantizes = context.has_input(7);
    const MutableView y = context.output(0, quantizes ? context.input(8).dtype() : DType::float32, {m, n});
    if (y.elements() == 0) return {};

    TensorScale a_scale, y_scale;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 1, 2, "the scale or zero point of A", a_scale));
    if (quantizes) RH_RETURN_IF_ERROR(TensorScale::read(context, 7, 8, "the scale or zero point of Y", y_scale));
    const std::span<const double> b_scale = as_doubles(context, context.input(4));
    const std::span<const int32_t> b_zero = int32_values(context, 5);
    for (const size_t count : {b_scale.size(), b_zero.size()}) {
      if (count != 1 && static_cast<int64_t>(count) != n) {
        return error_status(ErrorCode::invalid_argument, "a scale or zero point of B has {} elements, expected 1 or {}", count, n);
      }
    }
    float* scales = context.scratch_array<float>(n);
    for (int64_t j = 0; j < n; ++j) {
      scales[j] = op_.alpha * a_scale.scale * static_cast<float>(b_scale[b_scale.size() > 1 ? static_cast<size_t>(j) : 0]) / y_scale.scale;
    }
    compute::Int8GemmArgs args{
        .m = m, .a = int8_matrix(a), .a_zero = {&a_scale.zero_point, false}, .b_zero = {b_zero.data(), b_zero.size() > 1}};
    if (op_.transpose_a) {
      auto* turned = context.scratch_array<uint8_t>(m * k);
      for (int64_t i = 0; i < m * k; ++i) turned[i % m * k + i / m] = a.data<uint8_t>()[i];
      args.a.data = turned;
    }
    Addend c;
    if (context.has_input(6)) RH_RETURN_IF_ERROR(c.read(context.input(6), m, n));
    args.bias = c.take_row(context, n);
    const auto finish = [&]<typename F>(F row) {
      const auto epilogue = [&](const compute::Int8Tile& tile) {
        for (int64_t i = 0; i < tile.rows; ++i) {
          int32_t* sums = tile.sums + i * tile.stride;
          c.add(tile.row + i, tile.column, tile.columns, sums);
          row((tile.row + i) * n + tile.column, sums, scales + tile.column, tile.columns);
        }
      };
      if (packed_.empty()) {
        const compute::PackedInt8Matrix packed = packed_for_run(context, int8_matrix(context.input(3)), k, n, op_.transpose_b);
        compute::int8_gemm(args, packed, epilogue, context.parallel());
      } else {
        compute::int8_gemm(args, packed_, epilogue, context.parallel());
      }
    };
    if (!quantizes) {
      finish([&](int64_t at, const int32_t* sums, const float* factors, int64_t count) {
        for (int64_t j = 0; j < count; ++j) y.data<float>()[at + j] = static_cast<float>(sums[j]) * factors[j];
      });
      return {};
    }
    return dispatch<Types>(y.dtype(), "QGemm", [&]<typename T>() {
      const auto range = compute::QuantRange::of<T>(y_scale.zero_point);
      finish([&](int64_t at, const int32_t* sums, const float* factors, int64_t count) {
        compute::requantize(sums, factors, true, range, y.data<T>() + at, count);
      });
    });
  }

 private:
  /// C [m, n], broadcast.
  struct Addend {
    const int32_t* values = nullptr;
    int64_t row_step = 0, column_step = 0;

    Status read(const TensorView& c, int64_t m, int64_t n) {
      const int64_t rows = c.rank() == 2 ? c.shape()[0] : 1, columns = c.rank() >= 1 ? c.shape()[static_cast<size_t>(c.rank() - 1)] : 1;
      if (c.rank() > 2 || (rows != 1 && rows != m) || (columns != 1 && columns != n)) {
        return error_status(ErrorCode::invalid_argument, "QGemm: C has shape {}, expected one that broadcasts to [{}, {}]",
                            c.shape().to_string(), m, n);
      }
      values = c.data<int32_t>();
      row_step = rows == 1 ? 0 : columns;
      column_step = columns == 1 ? 0 : 1;
      return {};
    }

    /// n values where C has the same for each row, which add() then leaves alone; else null.
    const int32_t* take_row(RunContext& context, int64_t n) {
      if (!values || row_step != 0) return nullptr;
      const int32_t* row = std::exchange(values, nullptr);
      if (column_step == 1) return row;
      auto* repeated = context.scratch_array<int32_t>(n);
      std::fill_n(repeated, n, *row);
      return repeated;
    }

    void add(int64_t row, int64_t column, int64_t count, int32_t* sums) const {
      for (int64_t j = 0; values && j < count; ++j) {
        sums[j] = static_cast<int32_t>(static_cast<uint32_t>(sums[j]) +
                                       static_cast<uint32_t>(values[row * row_step + (column + j) * column_step]));
      }
    }
  };

  ops::QGemm op_;
  compute::PackedInt8Matrix packed_;
  Shape packed_shape_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QGemmKernel)
