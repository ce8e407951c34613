#include "ops/nn/multi_head_attention.h"

#include <cmath>
#include <optional>

#include "compute/elementwise/vector_math.h"
#include "providers/cpu/attention_parts.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

/// Floats as heads: [batch, heads, length, depth] wherever they lie.
struct HeadData {
  const float* data = nullptr;
  int64_t batch = 0, heads = 0, length = 0, depth = 0;
  compute::MatrixStrides strides;
};

}  // namespace

class MultiHeadAttentionKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit MultiHeadAttentionKernel(const KernelInfo& info)
      : op_(info.attributes<ops::MultiHeadAttention>()), ways_(attention_ways(info)), variant_(expected_variant(info)) {}

  KernelVariant variant() const override { return variant_; }

  Status run(RunContext& context) const override {
    const Shape& query = context.input(0).shape();
    const bool packed = query.rank() == 5 || (op_.is_decoder && !context.has_input(1)),
               packed_keys = !packed && context.has_input(1) && context.input(1).rank() == 5;
    if (!packed && !packed_keys && !context.has_input(2)) {
      return error_status(ErrorCode::invalid_argument,
                          "MultiHeadAttention: query has shape {} without key and value, expected [B, S, N, 3, H]", query.to_string());
    }
    if (op_.is_decoder && (query.rank() != 3 || query[1] != 1)) {
      return error_status(ErrorCode::invalid_argument, "DecoderMaskedMultiHeadAttention: query has shape {}, expected [batch, 1, width]",
                          query.to_string());
    }
    HeadData q = heads(context, 0, packed ? 3 : 1, 0),
             k = heads(context, packed ? 0 : 1,
                       packed        ? 3
                       : packed_keys ? 2
                                     : 1,
                       packed ? 1 : 0),
             v = heads(context,
                       packed        ? 0
                       : packed_keys ? 1
                                     : 2,
                       packed        ? 3
                       : packed_keys ? 2
                                     : 1,
                       packed        ? 2
                       : packed_keys ? 1
                                     : 0);
    if (k.batch != q.batch || v.batch != q.batch || k.depth != q.depth || k.length != v.length) {
      return error_status(ErrorCode::invalid_argument,
                          "MultiHeadAttention: query has shape {}, key {} and value {}, which do not fit each other", query.to_string(),
                          context.has_input(1) ? context.input(1).shape().to_string() : "none",
                          context.has_input(2) ? context.input(2).shape().to_string() : "none");
    }
    if (context.has_input(op_.bias())) add_biases(context, q, k, v);
    compute::AttentionArgs args{.batch = q.batch, .heads = op_.heads, .key_heads = op_.heads, .value_heads = op_.heads};
    args.ways = ways_;
    const Cache cache = read_cache(context, q.batch);
    std::optional<ConvertedOutput> presents[2];
    const AppendedRows rows[] = {append(context, op_.past_key(), 1, cache, k, presents[0]),
                                 append(context, op_.past_value(), 2, cache, v, presents[1])};
    const auto fill = [&](int64_t batch, int64_t head) {
      for (const AppendedRows& part : rows)
        if (part.to) part.fill_head(batch, head);
    };
    const FunctionRef<void(int64_t, int64_t)> fill_head(fill);
    args.fill_head = &fill_head;
    args.past = cache.past;
    args.queries = q.length;
    args.keys = k.length;
    args.depth = q.depth;
    args.value_depth = v.depth;
    if (cache.indirection) {  // what beams share is read by all of them
      args.fill_heads(context.parallel());
      args.fill_head = nullptr;
      follow_beams(context, cache, k);
      follow_beams(context, cache, v);
    }
    args.scale = op_.scale.value_or(1 / std::sqrt(static_cast<float>(q.depth)));
    if (op_.is_causal) args.right_window = 0;
    args.q = q.data, args.k = k.data, args.v = v.data;
    args.q_strides = q.strides, args.k_strides = k.strides, args.v_strides = v.strides;
    set_masks(context, {.op_type = "MultiHeadAttention", .mask = op_.mask(), .bias = op_.scores_bias(), .hidden = op_.hidden_score}, args);
    attend(context, args, {.output = 3});
    for (const auto& present : presents)
      if (present) present->store(context.parallel());
    return {};
  }

 private:
  /// Known are the sizes of query, key and value as three tensors without a past.
  KernelVariant expected_variant(const KernelInfo& info) const {
    if (info.node().has_output(3)) return plain_attention();
    compute::AttentionArgs args{.queries = declared_size(info, 0, 1), .keys = -1, .depth = -1, .value_depth = -1};
    args.ways = ways_;
    if (op_.is_causal) args.right_window = 0;
    const bool are_apart = info.node().has_input(1) && info.node().has_input(2) && declared_size(info, 0, 4) < 0;
    if (are_apart && op_.heads > 0 && !info.node().has_input(op_.past_key())) {
      const TensorType& k = info.node().input_type(1).tensor();
      const bool has_heads = k.has_rank() && k.rank() == 4;  // keys and values [batch, heads, length, depth]
      const int64_t size = declared_size(info, 0, 2), value_size = declared_size(info, 2, -1);
      args.keys = declared_size(info, 1, has_heads ? 2 : 1);
      args.depth = size < 0 ? -1 : size / op_.heads;
      args.value_depth = value_size < 0 || has_heads ? value_size : value_size / op_.heads;
    }
    return attention_variant(args);
  }

  /// An input as [batch, length, heads depth], [batch, heads, length, depth], or one of the parts of [batch, length, heads, parts, depth].
  HeadData heads(RunContext& context, int input, int parts, int part) const {
    const TensorView x = context.input(input);
    const Shape& s = x.shape();
    const bool rows_are_packed = parts > 1 && s.rank() == 3;  // query, key and value one after the other
    const bool fits = rows_are_packed ? s[2] % (parts * op_.heads) == 0
                      : parts > 1     ? s.rank() == 5 && s[2] == op_.heads && s[3] == parts
                      : s.rank() == 4 ? input > 0 && s[1] == op_.heads
                                      : s.rank() == 3 && s[2] % op_.heads == 0;
    if (!fits) {
      fail(ErrorCode::invalid_argument, "MultiHeadAttention: input {} has shape {}, expected one of {} heads", input, s.to_string(),
           op_.heads);
    }
    HeadData h{.data = converted(context, x, DType::float32).data<float>(), .batch = s[0], .heads = op_.heads};
    if (s.rank() == 4) {
      h.length = s[2], h.depth = s[3];
      h.strides = head_strides(h.heads, h.length, h.depth);
    } else if (rows_are_packed) {
      h.length = s[1], h.depth = s[2] / (parts * op_.heads);
      h.strides = token_strides(h.length, h.depth, s[2]);
      h.data += part * h.heads * h.depth;
    } else if (s.rank() == 3) {
      h.length = s[1], h.depth = s[2] / op_.heads;
      h.strides = token_strides(h.length, h.depth, s[2]);
    } else {
      h.length = s[1], h.depth = s[4];
      h.strides = token_strides(h.length, parts * h.depth, op_.heads * parts * h.depth);
      h.data += part * h.depth;
    }
    return h;
  }

  /// The bias [D + D + D of values] of the projections. Keys and values with heads of their own have had theirs.
  void add_biases(RunContext& context, HeadData& q, HeadData& k, HeadData& v) const {
    const int64_t size = q.heads * q.depth, value_size = v.heads * v.depth;
    const TensorView bias = context.input(op_.bias());
    if (!(bias.shape() == Shape{2 * size + value_size})) {
      fail(ErrorCode::invalid_argument, "MultiHeadAttention: the bias has shape {}, expected [{}]", bias.shape().to_string(),
           2 * size + value_size);
    }
    const float* from = converted(context, bias, DType::float32).data<float>();
    add_bias(context, from, q);
    if (context.has_input(1) && context.input(1).rank() == 4) return;
    add_bias(context, from + size, k);
    add_bias(context, from + 2 * size, v);
  }

  static void add_bias(RunContext& context, const float* bias, HeadData& x) {
    const int64_t row = x.heads * x.depth;
    float* to = context.scratch_array<float>(x.batch * x.length * row);
    for (int64_t token = 0; token < x.batch * x.length; ++token) {
      const float* from = x.data + token / x.length * x.strides.batch + token % x.length * x.strides.row;
      for (int64_t head = 0; head < x.heads; ++head) {
        compute::binary(compute::Binary::add, from + head * x.strides.head, bias + head * x.depth, to + token * row + head * x.depth,
                        x.depth);
      }
    }
    x.data = to;
    x.strides = token_strides(x.length, x.depth, row);
  }

  struct Cache {
    int64_t past = 0;
    int64_t capacity = -1;                 ///< of past and present values that have the final length; -1: they have their own
    const int32_t* indirection = nullptr;  ///< [rows, its length]: the beam that a row's token is of; null: its own
    int64_t beams = 1, indirection_length = 0;
  };

  Cache read_cache(RunContext& context, int64_t batch) const {
    Cache cache;
    if (!context.has_input(op_.past_key())) return cache;
    const Shape& shape = context.input(op_.past_key()).shape();
    cache.past = shape.rank() == 4 ? shape[2] : -1;
    if (context.has_input(op_.past_length())) {
      cache.capacity = cache.past;
      cache.past = scalar_int(context, op_.past_length(), "MultiHeadAttention: past_sequence_length");
      if (cache.past < 0 || cache.past > cache.capacity) {
        fail(ErrorCode::invalid_argument, "MultiHeadAttention: past_sequence_length is {}, expected 0 to {}, the length of past_key",
             cache.past, cache.capacity);
      }
    }
    if (context.has_input(op_.indirection())) read_indirection(context, batch, cache);
    return cache;
  }

  void read_indirection(RunContext& context, int64_t batch, Cache& cache) const {
    const TensorView beams = context.input(op_.indirection());
    const Shape& shape = beams.shape();
    if (shape.rank() != 3 || shape[1] < 1 || batch % shape[1] != 0 || shape[0] != batch / shape[1] || shape[2] < cache.past) {
      fail(ErrorCode::invalid_argument,
           "MultiHeadAttention: cache_indirection has shape {}, expected [items, beams, tokens] of {} rows and at least {} tokens",
           shape.to_string(), batch, cache.past);
    }
    cache.indirection = beams.data<int32_t>();
    cache.beams = shape[1];
    cache.indirection_length = shape[2];
    for (int64_t row = 0; row < batch; ++row) {
      for (int64_t token = 0; token < cache.past; ++token) {
        const int32_t beam = cache.indirection[row * shape[2] + token];
        if (beam < 0 || beam >= cache.beams) {
          fail(ErrorCode::invalid_argument, "MultiHeadAttention: cache_indirection has {}, expected beams in [0, {})", beam, cache.beams);
        }
      }
    }
  }

  /// Keys or values after their past, also in the output where that is wanted: what `x` becomes is yet to be filled by the result.
  static AppendedRows append(RunContext& context, int past_input, int output, const Cache& cache, HeadData& x,
                             std::optional<ConvertedOutput>& present) {
    const bool has_past = context.has_input(past_input), shared = cache.capacity >= 0;
    if (!has_past && !context.has_output(output)) return {};
    const int64_t past = cache.past, held = shared ? cache.capacity : past;
    const void* before = nullptr;
    if (has_past) {
      const Shape& shape = context.input(past_input).shape();
      if (past < 0 || !(shape == Shape{x.batch, x.heads, held, x.depth}) || (shared && x.length > held - past)) {
        fail(ErrorCode::invalid_argument, "MultiHeadAttention: input {} has shape {}, expected [{}, {}, {}, {}]", past_input,
             shape.to_string(), x.batch, x.heads, shared ? fmt::format("at least {}", past + x.length) : "past length", x.depth);
      }
      before = converted(context, context.input(past_input), DType::float32).raw();
    }
    const Shape shape{x.batch, x.heads, shared ? held : past + x.length, x.depth};
    check_elements(shape, "MultiHeadAttention: present keys and values");
    float* to = nullptr;
    if (context.has_output(output)) {
      present.emplace(context, output, shape, DType::float32);
      to = present->data<float>();
    } else {
      to = context.scratch_array<float>(shape.elements());
    }
    AppendedRows appended{
        .shape = shape, .to = to, .past = before, .past_capacity = held, .past_lengths = equal_lengths(context, x.batch, past)};
    appended.rows = {x.data, x.strides, x.length};
    appended.keeps_rest = shared;
    x.data = to;
    x.length += past;
    x.strides = head_strides(x.heads, shape[2], x.depth);
    return appended;
  }

  /// A copy in which each row has the past tokens of the beams that they are of.
  static void follow_beams(RunContext& context, const Cache& cache, HeadData& x) {
    float* to = context.scratch_array<float>(x.batch * x.heads * x.length * x.depth);
    const double moved = static_cast<double>(x.length * x.depth);
    context.parallel().for_range(x.batch * x.heads, {8 * moved, moved}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t row = i / x.heads, head = i % x.heads;
        for (int64_t token = 0; token < x.length; ++token) {
          const int64_t beam = token < cache.past ? cache.indirection[row * cache.indirection_length + token] : row % cache.beams;
          const int64_t source = row / cache.beams * cache.beams + beam;
          std::copy_n(x.data + source * x.strides.batch + head * x.strides.head + token * x.strides.row, x.depth,
                      to + (i * x.length + token) * x.depth);
        }
      }
    });
    x.data = to;
    x.strides = head_strides(x.heads, x.length, x.depth);
  }

  ops::MultiHeadAttention op_;
  compute::AttentionWays ways_;
  KernelVariant variant_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MultiHeadAttentionKernel)
