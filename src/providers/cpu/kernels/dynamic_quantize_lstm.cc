#include "ops/rnn/dynamic_quantize_lstm.h"

#include <algorithm>
#include <array>

#include "compute/elementwise/vector_math.h"
#include "providers/cpu/int8_product.h"
#include "providers/cpu/quantization.h"
#include "providers/cpu/recurrent.h"

namespace rh::cpu {

/// X is quantised once, the hidden states of the batch together at each step; constant weights are packed at load.
class DynamicQuantizeLSTMKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit DynamicQuantizeLSTMKernel(const KernelInfo& info) : op_(info.attributes<ops::DynamicQuantizeLSTM>().layer) {
    const Tensor *w = info.constant_input(1), *r = info.constant_input(2);
    // What does not fit is said when it runs.
    const auto fits = [](const Tensor* t) { return t && t->elements() > 0 && t->shape().rank() == 3 && t->shape()[0] <= kMostDirections; };
    if (!fits(w) || !fits(r)) return;
    w_.pack(w->view());
    r_.pack(r->view());
  }

  bool owns_constant(int input) const override { return w_.is_packed() && (input == 1 || input == 2); }
  size_t packed_bytes() const override {
    size_t bytes = 0;
    for (const Weights* weights : {&w_, &r_}) {
      for (const compute::PackedInt8Matrix& matrix : weights->packed) bytes += matrix.bytes();
    }
    return bytes;
  }

  KernelVariant variant() const override { return packing_variant(w_.is_packed()); }

  Status run(RunContext& context) const override {
    RecurrentSizes sizes;
    RH_RETURN_IF_ERROR(read_sizes(context, op_, op_.hidden_size, sizes));
    if (sizes.input < 1) return error_status(ErrorCode::invalid_argument, "X has no columns, expected at least one");
    const int64_t width = 4 * sizes.hidden;
    Weights own_w, own_r;
    const Weights &w = weights(context, 1, w_, own_w), &r = weights(context, 2, r_, own_r);
    RH_RETURN_IF_ERROR(w.expect(1, {op_.directions(), sizes.input, width}));
    RH_RETURN_IF_ERROR(r.expect(2, {op_.directions(), sizes.hidden, width}));
    if (!w.is_packed()) own_w.pack(context.input(1), &context);
    if (!r.is_packed()) own_r.pack(context.input(2), &context);
    Scales w_scales, r_scales;
    RH_RETURN_IF_ERROR(Scales::read(context, 8, op_.directions(), width, w_scales));
    RH_RETURN_IF_ERROR(Scales::read(context, 10, op_.directions(), width, r_scales));
    const TensorView x = context.input(0);
    const DynamicRange x_range = dynamic_range(context.parallel(), x);
    auto *x_codes = context.scratch_array<uint8_t>(x.elements()), *h_codes = context.scratch_array<uint8_t>(sizes.batch * sizes.hidden);
    quantize(context.parallel(), x, x_range, x_codes);
    const Shape states{sizes.batch, sizes.hidden};
    float* factors = context.scratch_array<float>(width);
    const auto run_one = [&](int64_t direction, const compute::CellParams& params, const compute::CellRun& run, float* scratch,
                             const Parallel&) {
      const auto input = [&](const compute::GemmArgs<float>& args, const float* a, float* c) {
        multiply(context, args, {x_codes + (a - run.x), false, args.lda}, x_range, w.packed[static_cast<size_t>(direction)],
                 w_scales.of(direction), factors, c);
      };
      const auto recurrent = [&](const compute::GemmArgs<float>& args, const float* h, float* c) {
        const TensorView state(DType::float32, states, h);
        const DynamicRange range = dynamic_range(context.parallel(), state);
        quantize(context.parallel(), state, range, h_codes);
        multiply(context, args, {h_codes, false}, range, r.packed[static_cast<size_t>(direction)], r_scales.of(direction), factors, c);
      };
      compute::run_cell(params, input, recurrent, run, scratch);
    };
    run_directions(context, op_, sizes, run_one);
    return {};
  }

 private:
  static constexpr int64_t kMostDirections = 2;

  struct Weights {
    Shape shape;
    std::array<compute::PackedInt8Matrix, kMostDirections> packed;  ///< one a direction

    bool is_packed() const { return !packed[0].empty(); }
    /// Weights of at most kMostDirections, in memory of their own, or, where `context` is given, of the run.
    void pack(const TensorView& weights, RunContext* context = nullptr) {
      shape = weights.shape();
      const int64_t k = shape[1], n = shape[2];
      for (int64_t i = 0; i < shape[0]; ++i) {
        const compute::Int8Matrix matrix{weights.data<uint8_t>() + i * k * n, is_signed(weights)};
        packed[static_cast<size_t>(i)] =
            context ? packed_for_run(*context, matrix, k, n, false) : compute::PackedInt8Matrix(matrix, k, n, false);
      }
    }
    Status expect(int input, const Shape& expected) const {
      if (shape == expected) return {};
      return error_status(ErrorCode::invalid_argument, "input {} has shape {}, expected {}", input, shape.to_string(),
                          expected.to_string());
    }
  };

  /// Scales and zero points of one direction or all, `count` each.
  struct Scales {
    const float* scales = nullptr;
    std::span<const int32_t> zero_points;
    int64_t scale_count = 1, zero_count = 1;

    static Status read(RunContext& context, int input, int64_t directions, int64_t width, Scales& result) {
      for (int i : {input, input + 1}) {
        const int64_t count = context.input(i).elements();
        if (count != directions && count != directions * width) {
          return error_status(ErrorCode::invalid_argument, "input {} has shape {}, expected [{}] or [{}, {}]", i,
                              context.input(i).shape().to_string(), directions, directions, width);
        }
        (i == input ? result.scale_count : result.zero_count) = count / directions;
      }
      result.scales = context.input(input).data<float>();
      result.zero_points = int32_values(context, input + 1);
      return {};
    }
    Scales of(int64_t direction) const {
      const auto first = static_cast<size_t>(direction * zero_count);
      return {scales + direction * scale_count, zero_points.subspan(first, static_cast<size_t>(zero_count)), scale_count, zero_count};
    }
  };

  static const Weights& weights(const RunContext& context, int input, const Weights& known, Weights& own) {
    if (known.is_packed()) return known;
    own.shape = context.input(input).shape();
    return own;
  }

  static void multiply(RunContext& context, const compute::GemmArgs<float>& args, const compute::Int8Matrix& a, const DynamicRange& range,
                       const compute::PackedInt8Matrix& b, const Scales& scales, float* factors, float* c) {
    if (scales.scale_count > 1) {
      compute::binary_scalar(compute::Binary::mul, scales.scales, range.scale, factors, args.n);
    } else {
      std::fill_n(factors, args.n, range.scale * scales.scales[0]);
    }
    const int32_t zero = range.zero_point;
    const int64_t stride = args.ldc ? args.ldc : args.n;
    const bool has_bias = args.epilogue.bias_kind == compute::BiasKind::per_column;
    const auto store = [&](const compute::Int8Tile& tile) {
      for (int64_t i = 0; i < tile.rows; ++i) {
        float* out = c + (tile.row + i) * stride + tile.column;
        const int32_t* sums = tile.sums + i * tile.stride;
        const float* bias = has_bias ? args.epilogue.bias + tile.column : nullptr;
        if (args.beta == 0 && bias) {
          compute::scale_sums(sums, factors + tile.column, bias, out, tile.columns);
          continue;
        }
        if (args.beta == 0) std::fill_n(out, tile.columns, 0.0f);
        compute::scale_sums(sums, factors + tile.column, out, out, tile.columns);
        if (bias) compute::binary(compute::Binary::add, out, bias, out, tile.columns);
      }
    };
    const compute::ZeroPoints b_zero{scales.zero_points.data(), scales.zero_count > 1};
    compute::int8_gemm({.m = args.m, .a = a, .a_zero = {&zero}, .b_zero = b_zero}, b, store, context.parallel());
  }

  ops::Rnn op_;
  Weights w_, r_;  ///< empty where the weights arrive at run time
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DynamicQuantizeLSTMKernel)
