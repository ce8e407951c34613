#include "ops/nn/projected_attention.h"

#include <array>
#include <cmath>
#include <optional>

#include "compute/gemm/gemm.h"
#include "compute/quant/quantize.h"
#include "providers/cpu/attention_parts.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/int8_product.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

class ProjectedAttentionKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16, int8_t, uint8_t>;

  explicit ProjectedAttentionKernel(const KernelInfo& info)
      : op_(info.attributes<ops::ProjectedAttention>()),
        ways_(attention_ways(info)),
        weights_(info, op_.is_quantized || info.input_dtype(1) != DType::float32 ? nullptr : info.constant_input(1), {}) {
    if (op_.is_quantized) product_.emplace(info, Int8Product::Inputs{.a = 0, .b = 1, .a_zero = 6, .b_zero = 7});
  }

  bool owns_constant(int input) const override { return input == 1 && (product_ ? product_->owns_right() : !weights_.empty()); }
  KernelVariant variant() const override { return product_ ? product_->variant() : weights_.variant(); }
  size_t packed_bytes() const override { return product_ ? product_->packed_bytes() : weights_.bytes(); }

  Status run(RunContext& context) const override {
    const Shape& x = context.input(0).shape();
    const Shape& w = product_ ? product_->right_shape(context) : weights_.empty() ? context.input(1).shape() : weights_.shape();
    const bool thirds = op_.sizes.empty();
    const int64_t width = w.rank() == 2 ? w[1] : 0, size = thirds ? width / 3 : op_.sizes[0], value_size = thirds ? size : op_.sizes[2];
    if (x.rank() != 3 || w.rank() != 2 || x[2] != w[0] || width < 1 || width != 2 * size + value_size || size % op_.heads != 0 ||
        value_size % op_.heads != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "Attention: input has shape {} and the weights {}, expected [batch, length, I] and [I, columns] of {} heads",
                          x.to_string(), w.to_string(), op_.heads);
    }
    if (context.has_input(2) && !(context.input(2).shape() == Shape{width})) {
      return error_status(ErrorCode::invalid_argument, "Attention: the bias has shape {}, expected [{}]",
                          context.input(2).shape().to_string(), width);
    }
    check_elements({x[0], x[1], width}, "Attention: queries, keys and values");
    float* projected = context.scratch_array<float>(x[0] * x[1] * width);
    RH_RETURN_IF_ERROR(product_ ? project_bytes(context, w, projected) : project(context, w, projected));
    attend_heads(context, projected, width, size, value_size);
    return {};
  }

 private:
  Status project(RunContext& context, const Shape& w, float* to) const {
    const Shape& x = context.input(0).shape();
    compute::GemmArgs<float> args{.m = x[0] * x[1], .n = w[1], .k = w[0]};
    if (context.has_input(2)) {
      args.epilogue.bias_kind = compute::BiasKind::per_column;
      args.epilogue.bias = converted(context, context.input(2), DType::float32).data<float>();
    }
    const float* from = converted(context, context.input(0), DType::float32).data<float>();
    if (weights_.empty()) {
      compute::gemm(args, from, converted(context, context.input(1), DType::float32).data<float>(), to, context.parallel());
    } else {
      compute::gemm(args, from, weights_.matrix<float>(), to, context.parallel());
    }
    return {};
  }

  Status project_bytes(RunContext& context, const Shape& w, float* to) const {
    MatMulProblem problem;
    RH_RETURN_IF_ERROR(MatMulProblem::make("QAttention", context.input(0).shape(), w, problem));
    const std::span<const double> input_scale = as_doubles(context, context.input(3)), weight_scale = as_doubles(context, context.input(4));
    const int64_t n = w[1];
    if (input_scale.size() != 1 || (weight_scale.size() != 1 && static_cast<int64_t>(weight_scale.size()) != n)) {
      return error_status(ErrorCode::invalid_argument, "QAttention: the scales have {} and {} elements, expected 1, and 1 or {}",
                          input_scale.size(), weight_scale.size(), n);
    }
    float* scales = context.scratch_array<float>(n);
    for (int64_t j = 0; j < n; ++j) {
      scales[j] = static_cast<float>(input_scale[0] * weight_scale[weight_scale.size() > 1 ? static_cast<size_t>(j) : 0]);
    }
    const float* bias = converted(context, context.input(2), DType::float32).data<float>();
    return product_->run(context, problem, [&](const compute::Int8Tile& tile) {
      for (int64_t i = 0; i < tile.rows; ++i) {
        compute::scale_sums(tile.sums + i * tile.stride, scales + tile.column, bias + tile.column, to + (tile.row + i) * n + tile.column,
                            tile.columns);
      }
    });
  }

  void attend_heads(RunContext& context, const float* projected, int64_t width, int64_t size, int64_t value_size) const {
    const Shape& x = context.input(0).shape();
    const int64_t batch = x[0], length = x[1], depth = size / op_.heads, value_depth = value_size / op_.heads;
    compute::AttentionArgs args{.batch = batch, .heads = op_.heads, .key_heads = op_.heads, .value_heads = op_.heads};
    args.ways = ways_;
    args.q = projected;
    args.k = projected + size;
    args.v = projected + 2 * size;
    args.q_strides = args.k_strides = token_strides(length, depth, width);
    args.v_strides = token_strides(length, value_depth, width);
    args.queries = length;
    args.depth = depth;
    args.value_depth = value_depth;
    args.scale = op_.scale.value_or(1 / std::sqrt(static_cast<float>(depth)));
    if (op_.is_causal) args.right_window = 0;
    std::optional<ConvertedOutput> present;
    const std::array<AppendedRows, 2> rows = append_past(context, args, length, present);
    const auto fill = [&](int64_t at, int64_t head) {
      for (const AppendedRows& part : rows) part.fill_head(at, head);
    };
    const FunctionRef<void(int64_t, int64_t)> fill_head(fill);
    if (rows[0].to) args.fill_head = &fill_head;
    args.keys = args.past + length;
    set_masks(context, {.op_type = "Attention", .mask = op_.mask(), .bias = op_.bias(), .hidden = op_.hidden_score}, args);
    attend(context, args);
    if (present) present->store(context.parallel());
  }

  /// Keys and values after the past ones [2, batch, heads, past, depth], in output 1 if that is wanted: what is to fill them.
  std::array<AppendedRows, 2> append_past(RunContext& context, compute::AttentionArgs& args, int64_t length,
                                          std::optional<ConvertedOutput>& present) const {
    const bool has_past = context.has_input(op_.past());
    if (!has_past && !context.has_output(1)) return {};
    if (args.depth != args.value_depth) {
      fail(ErrorCode::invalid_argument, "Attention: keys have {} elements a head and values {}, expected as many where a past is kept",
           args.depth, args.value_depth);
    }
    TensorView given;
    const float* past = nullptr;
    if (has_past) {
      given = context.input(op_.past());
      const Shape& shape = given.shape();
      if (shape.rank() != 5 || !(shape == Shape{2, args.batch, args.heads, shape[3], args.depth})) {
        fail(ErrorCode::invalid_argument, "Attention: past has shape {}, expected [2, {}, {}, length, {}]", shape.to_string(), args.batch,
             args.heads, args.depth);
      }
      args.past = op_.shares_buffer ? scalar_int(context, op_.past_length(), "Attention: past_sequence_length") : shape[3];
      if (args.past < 0 || (op_.shares_buffer && args.past > shape[3] - length)) {
        fail(ErrorCode::invalid_argument,
             "Attention: past_sequence_length is {}, expected 0 to {}, with the {} new ones the length of past", args.past,
             shape[3] - length, length);
      }
      past = converted(context, given, DType::float32).data<float>();
    }
    const int64_t rows = op_.shares_buffer ? given.shape()[3] : args.past + length;
    const int64_t held = op_.shares_buffer ? rows : args.past;
    const Shape one{args.batch, args.heads, rows, args.depth};
    const Shape both{2, args.batch, args.heads, rows, args.depth};
    check_elements(both, "Attention: present keys and values");
    if (context.has_output(1)) present.emplace(context, 1, both, DType::float32);
    float* to = present ? present->data<float>() : context.scratch_array<float>(both.elements());
    std::array<AppendedRows, 2> result;
    for (int i = 0; i < 2; ++i) {
      AppendedRows& part = result[static_cast<size_t>(i)];
      part = {.shape = one,
              .to = to + i * one.elements(),
              .past_capacity = held,
              .past_lengths = equal_lengths(context, args.batch, args.past)};
      if (past) part.past = past + i * args.batch * args.heads * held * args.depth;
      part.rows = {i == 0 ? args.k : args.v, i == 0 ? args.k_strides : args.v_strides, length};
    }
    args.k = to;
    args.v = to + one.elements();
    args.k_strides = args.v_strides = head_strides(args.heads, rows, args.depth);
    return result;
  }

  ops::ProjectedAttention op_;
  compute::AttentionWays ways_;
  PackedRight weights_;
  std::optional<Int8Product> product_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ProjectedAttentionKernel)
