#include "ops/nn/fused_attention.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "providers/cpu/attention_parts.h"

namespace rh::cpu {

namespace {

/// A tensor of matrices as attention sees it: three dimensions, four, or five with one part taken.
struct Matrices {
  int64_t batch = 1, heads = 1, rows = 0, columns = 0;
  compute::MatrixStrides strides;

  int64_t offset = 0;  ///< elements before the first

  Matrices(const Shape& shape, bool length_first, int64_t part = 0) {
    const int rank = shape.rank();
    columns = shape[rank - 1];
    batch = shape[0];
    strides.batch = shape.product(1, rank);
    strides.row = columns;
    if (rank == 3) {
      rows = shape[1];
      return;
    }
    if (rank == 5) {
      rows = shape[1];
      heads = shape[3];
      strides.head = columns;
      strides.row = shape.product(2, rank);
      offset = part * heads * columns;
      return;
    }
    heads = shape[length_first ? 2 : 1];
    rows = shape[length_first ? 1 : 2];
    strides.head = length_first ? columns : rows * columns;
    if (length_first) strides.row = heads * columns;
  }

  compute::MatrixStrides broadcast_strides() const {
    return {.batch = batch == 1 ? 0 : strides.batch, .head = heads == 1 ? 0 : strides.head, .row = strides.row};
  }
};

}  // namespace

class FusedAttentionKernel final : public Kernel {
 public:
  static_assert(ops::FusedAttention::kMasked == compute::kReplaced);
  using Types = rh::Types<float>;

  explicit FusedAttentionKernel(const KernelInfo& info)
      : op_(info.attributes<ops::FusedAttention>()), ways_(attention_ways(info)), variant_(expected_variant(info)) {}

  KernelVariant variant() const override { return variant_; }

  Status run(RunContext& context) const override {
    Shapes shapes{};
    for (int i = 0; i < 5; ++i)
      if (context.has_input(i)) shapes[static_cast<size_t>(i)] = &context.input(i).shape();
    compute::AttentionArgs args;
    const std::optional<Operands> operands = read_shapes(shapes, args);
    if (!operands) return mismatch(context);
    const auto& [rank, q, k, v] = *operands;
    if (context.has_input(3)) RH_RETURN_IF_ERROR(set_mask(context, rank, args));
    if (context.has_input(4)) RH_RETURN_IF_ERROR(set_key_mask(context, rank, args));
    if (args.key_mask && (args.softcap != 0 || args.replaces_masked))
      return error_status(ErrorCode::invalid_argument, "FusedAttention: softcap and masked_score go with one mask, found two");
    const Shape shape = rank == 3                 ? Shape{args.batch, args.queries, v.columns}
                        : op_.output_length_first ? Shape{args.batch, args.queries, args.heads, v.columns}
                                                  : Shape{args.batch, args.heads, args.queries, v.columns};
    const MutableView y = context.output(0, shape);
    args.y_strides = Matrices(shape, op_.output_length_first).strides;
    args.q = context.input(0).data<float>() + q.offset;
    args.k = context.input(1).data<float>() + k.offset;
    args.v = context.input(2).data<float>() + v.offset;
    args.y = y.data<float>();
    if (q.rows != args.queries) repeat_query(context, q, args);
    if (y.elements() > 0) compute::attention(args, context.parallel());
    return {};
  }

 private:
  using Shapes = std::array<const Shape*, 5>;  ///< of the inputs; null: left out

  struct Operands {
    int rank;
    Matrices q, k, v;
  };

  /// Nothing where shapes do not fit each other. Sets all of `args` that follows from them, but for masks.
  std::optional<Operands> read_shapes(const Shapes& shapes, compute::AttentionArgs& args) const {
    const Shape &q_shape = *shapes[0], &k_shape = *shapes[1], &v_shape = *shapes[2];
    const int rank = std::min(4, q_shape.rank());
    const auto is_taken = [&](const Shape& shape, int64_t part) {
      return rank == 3 ? shape.rank() == 3 : shape.rank() == 4 || (shape.rank() == 5 && part >= 0 && part < shape[2]);
    };
    const bool k_is_folded = rank == 4 && k_shape.rank() == 3;
    if (rank < 3 || !is_taken(q_shape, op_.q_part) || !(k_is_folded || is_taken(k_shape, op_.k_part)) || !is_taken(v_shape, op_.v_part))
      return {};
    const Matrices q(q_shape, op_.q_length_first, op_.q_part), v(v_shape, op_.v_length_first, op_.v_part);
    Matrices k(k_shape, op_.k_length_first, op_.k_part);
    if (k_is_folded && !unfold(k, q.batch)) return {};
    args = {.batch = q.batch, .heads = q.heads, .key_heads = k.heads, .value_heads = v.heads};
    widen(args.batch, k.batch);
    widen(args.batch, v.batch);
    args.ways = ways_;
    args.queries = q.rows;
    args.depth = q.columns;
    args.keys = op_.k_transposed ? k.columns : k.rows;
    args.value_depth = v.columns;
    for (const Shape* mask : {shapes[3], shapes[4]})
      if (mask) widen(*mask, rank, args);
    const auto is_of_batch = [&](const Matrices& m) { return m.batch == args.batch || m.batch == 1; };
    const auto serves = [&](const Matrices& m) { return is_of_batch(m) && (m.heads > 0 ? args.heads % m.heads == 0 : args.heads == 0); };
    if ((op_.k_transposed ? k.rows : k.columns) != args.depth || v.rows != args.keys || !is_of_batch(q) || !serves(k) || !serves(v))
      return {};
    args.scale = op_.scale;
    args.k_is_transposed = op_.k_transposed;
    args.nan_is_zero = op_.nan_is_zero;
    args.softcap = op_.softcap;
    args.replaces_masked = op_.masked_score.has_value();
    args.masked_score = op_.masked_score.value_or(0);
    args.masked_is_zero = op_.masked_is_zero;
    args.q_strides = q.broadcast_strides();
    args.k_strides = k.broadcast_strides();
    args.v_strides = v.broadcast_strides();
    return Operands{rank, q, k, v};
  }

  /// By the declared shapes.
  KernelVariant expected_variant(const KernelInfo& info) const {
    compute::AttentionArgs unknown{.queries = -1, .keys = -1, .depth = -1, .value_depth = -1};
    unknown.ways = ways_;
    std::array<Shape, 5> declared;
    Shapes shapes{};
    for (size_t i = 0; i < shapes.size(); ++i) {
      const int input = static_cast<int>(i);
      if (!info.node().has_input(input)) continue;
      const ValueType& type = info.node().input_type(input);
      if (!type.is_tensor() || !type.tensor().is_static()) return attention_variant(unknown);
      declared[i] = type.tensor().shape();
      shapes[i] = &declared[i];
    }
    compute::AttentionArgs args;
    if (!read_shapes(shapes, args)) return attention_variant(unknown);  // a run says what does not fit
    static constexpr float kNumber = 0;
    const auto stretches = [&](int axis) { return declared[3].rank() < axis || declared[3][declared[3].rank() - axis] == 1; };
    if (shapes[4]) args.key_mask = &kNumber;
    if (shapes[3]) {
      args.mask = &kNumber;
      args.mask_strides.row = stretches(2) ? 0 : args.keys;
      args.mask_column = stretches(1) ? 0 : 1;
    }
    return attention_variant(args);
  }

  static void widen(int64_t& size, int64_t other) {
    if (size == 1) size = other;
  }

  /// Scores of one batch, head or query to those of a mask.
  static void widen(const Shape& mask, int rank, compute::AttentionArgs& args) {
    int64_t* const sizes[] = {&args.queries, rank == 4 ? &args.heads : &args.batch, &args.batch};
    for (int i = 0; i < rank - 1 && i + 1 < mask.rank(); ++i) widen(*sizes[i], mask[mask.rank() - 2 - i]);
  }

  /// One query of each head as many.
  static void repeat_query(RunContext& context, const Matrices& q, compute::AttentionArgs& args) {
    const int64_t each = args.queries * args.depth;
    float* const queries = context.scratch_array<float>(q.batch * q.heads * each);
    for (int64_t i = 0; i < q.batch * q.heads * args.queries; ++i) {
      const int64_t head = i / args.queries;
      const float* const from = args.q + head / q.heads * q.strides.batch + head % q.heads * q.strides.head;
      std::copy_n(from, args.depth, queries + i * args.depth);
    }
    args.q = queries;
    args.q_strides = {args.q_strides.batch ? q.heads * each : 0, args.q_strides.head ? each : 0, args.depth};
  }

  /// [batch heads, length, depth] as heads of a batch.
  static bool unfold(Matrices& k, int64_t batch) {
    if (batch < 1 || k.batch % batch != 0) return false;
    k.heads = k.batch / batch;
    k.strides.head = k.strides.batch;
    k.strides.batch *= k.heads;
    k.batch = batch;
    return true;
  }

  static Status mismatch(RunContext& context) {
    return error_status(ErrorCode::invalid_argument, "FusedAttention: Q has shape {}, K {} and V {}, which do not fit each other",
                        context.input(0).shape().to_string(), context.input(1).shape().to_string(), context.input(2).shape().to_string());
  }

  /// Elements from one number of a mask to the next along batch, heads, queries and keys.
  struct MaskSteps {
    int64_t of[4] = {0, 0, 0, 0};
  };

  static Status steps_of(const TensorView& mask, int rank, const compute::AttentionArgs& args, int64_t rows, MaskSteps& steps) {
    const Shape target = rank == 4 ? Shape{args.batch, args.heads, rows, args.keys} : Shape{args.batch, rows, args.keys};
    if (mask.dtype() != DType::float32 || mask.rank() > rank || !(broadcast(mask.shape(), target) == target)) {
      return error_status(ErrorCode::invalid_argument, "FusedAttention: the mask is {}{}, expected float that broadcasts to {}",
                          to_string(mask.dtype()), mask.shape().to_string(), target.to_string());
    }
    int64_t stride = 1;
    for (int i = 0; i < mask.rank(); ++i) {
      const int dim = mask.rank() - 1 - i, step = rank == 3 && i == 2 ? 0 : 3 - i;
      if (mask.shape()[dim] != 1) steps.of[step] = stride;
      stride *= mask.shape()[dim];
    }
    return {};
  }

  static Status set_mask(RunContext& context, int rank, compute::AttentionArgs& args) {
    MaskSteps steps;
    RH_RETURN_IF_ERROR(steps_of(context.input(3), rank, args, args.queries, steps));
    args.mask = context.input(3).data<float>();
    args.mask_strides = {steps.of[0], steps.of[1], steps.of[2]};
    args.mask_column = steps.of[3];
    return {};
  }

  static Status set_key_mask(RunContext& context, int rank, compute::AttentionArgs& args) {
    const TensorView mask = context.input(4);
    MaskSteps steps;
    RH_RETURN_IF_ERROR(steps_of(mask, rank, args, 1, steps));
    args.key_mask = mask.data<float>();
    args.key_mask_strides = {steps.of[0], steps.of[1], 0};
    if (steps.of[3] != 0 || args.keys == 1) return {};
    const int64_t numbers = mask.elements();  // each stands for all keys
    float* const row = context.scratch_array<float>(numbers * args.keys);
    for (int64_t i = 0; i < numbers; ++i) std::fill_n(row + i * args.keys, args.keys, args.key_mask[i]);
    args.key_mask = row;
    args.key_mask_strides = {steps.of[0] * args.keys, steps.of[1] * args.keys, 0};
    return {};
  }

  ops::FusedAttention op_;
  compute::AttentionWays ways_;
  KernelVariant variant_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FusedAttentionKernel)
