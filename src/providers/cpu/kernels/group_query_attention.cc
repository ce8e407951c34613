#include "ops/nn/group_query_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/move/copy.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/attention_cache.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/quantized_cache.h"

namespace rh::cpu {

class GroupQueryAttentionKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit GroupQueryAttentionKernel(const KernelInfo& info)
      : op_(info.attributes<ops::GroupQueryAttention>()), ways_(attention_ways(info)), variant_(expected_variant(info)) {}

  KernelVariant variant() const override { return variant_; }

  Status run(RunContext& context) const override {
    Call call = read_sizes(context);
    read_lengths(context, call);
    const int64_t packed_row = (op_.heads + 2 * op_.kv_heads) * call.depth, key_row = op_.kv_heads * call.depth;
    const bool packed = !context.has_input(1);
    const float* q = converted(context, context.input(0), DType::float32).data<float>();
    const float* k = packed ? q + op_.heads * call.depth : converted(context, context.input(1), DType::float32).data<float>();
    const float* v = packed ? k + key_row : converted(context, context.input(2), DType::float32).data<float>();
    const int64_t q_row = packed ? packed_row : op_.heads * call.depth, kv_row = packed ? packed_row : key_row;
    NewRows queries{q, token_strides(call.length, call.depth, q_row), call.length};
    NewRows keys{k, token_strides(call.length, call.depth, kv_row), call.length};
    const NewRows values{v, token_strides(call.length, call.depth, kv_row), call.length};
    if (context.has_input(14)) {
      normalize(context, call, op_.heads, 14, op_.q_norm_epsilon, queries);
      normalize(context, call, op_.kv_heads, 15, op_.k_norm_epsilon, keys);
    }
    if (op_.rotary) {
      RotaryAngles angles = rotary_angles(context, "GroupQueryAttention", 7, call.depth, call.length, call.past, 9, call.fresh);
      angles.interleaved = op_.interleaved;
      rotate_rows(context, angles, op_.heads, call.depth, queries);
      rotate_rows(context, angles, op_.kv_heads, call.depth, keys);
    }
    compute::AttentionArgs args{.batch = call.batch, .heads = op_.heads, .key_heads = op_.kv_heads, .value_heads = op_.kv_heads};
    args.ways = ways_;
    // Floats that stay where they are put are filled a head at a time, while attention reads them.
    const bool fills_later = context.input(0).dtype() == DType::float32 && !op_.is_quantized() && !op_.keeps_window;
    const AppendedRows all_keys = cache(context, call, 3, 1, keys), all_values = cache(context, call, 4, 2, values);
    const auto fill = [&](int64_t batch, int64_t head) {
      all_keys.fill_head(batch, head);
      all_values.fill_head(batch, head);
    };
    const FunctionRef<void(int64_t, int64_t)> fill_head(fill);
    if (fills_later) args.fill_head = &fill_head;
    args.k = fills_later ? all_keys.view().data<float>() : filled(context, call, 3, 1, all_keys);
    args.v = fills_later ? all_values.view().data<float>() : filled(context, call, 4, 2, all_values);
    args.k_strides = args.v_strides = head_strides(op_.kv_heads, call.rows, call.depth);
    args.q = static_cast<const float*>(queries.from);
    args.q_strides = queries.strides;
    args.queries = call.length;
    args.keys = call.keys;
    args.depth = args.value_depth = call.depth;
    args.scale = op_.scale.value_or(1 / std::sqrt(static_cast<float>(call.depth)));
    args.softcap = op_.softcap;
    args.valid_keys = call.valid.data();
    if (op_.is_causal) args.right_window = 0;
    if (op_.window > 0) args.left_window = op_.window - 1;
    set_sinks(context, args);
    if (context.has_input(10) && (op_.keeps_window || call.keys != call.total)) {
      set_window_bias(context, call, args);
    } else {
      set_masks(context, {.op_type = "GroupQueryAttention", .bias = 10}, args);
    }
    const auto wanted = op_.scores_output == 2 ? compute::Scores::weights : compute::Scores::masked;
    attend(context, args, {.output = op_.scores_output > 0 ? 3 : -1, .wanted = wanted, .hidden = 0});
    if (op_.scores_output == 0 && context.has_output(3)) {
      const MutableView scores = context.output(3, {call.batch, op_.heads, call.length, call.total});
      std::fill_n(scores.data<std::byte>(), scores.bytes(), std::byte{0});
    }
    return {};
  }

 private:
  /// Only a run tells how many keys there are.
  KernelVariant expected_variant(const KernelInfo& info) const {
    if (op_.scores_output > 0 && info.node().has_output(3)) return plain_attention();
    const int64_t size = declared_size(info, 0, 2), heads = op_.heads + (info.node().has_input(1) ? 0 : 2 * op_.kv_heads);
    compute::AttentionArgs args{.queries = declared_size(info, 0, 1), .keys = -1, .depth = -1, .value_depth = -1};
    if (size >= 0 && heads > 0) args.depth = args.value_depth = size / heads;
    args.ways = ways_;
    args.softcap = op_.softcap;
    static constexpr float kNumber = 0;
    if (info.node().has_input(10)) args.mask = &kNumber;
    return attention_variant(args);
  }

  struct Call {
    int64_t batch = 0, length = 0, depth = 0;
    int64_t total = 0, capacity = 0;  ///< keys of the longest sequence; rows of the present cache
    int64_t keys = 0, rows = 0;       ///< that there are to see in the longest sequence; room for them
    std::span<int64_t> past, valid;   ///< keys of each sequence: before, and of those to see with the new ones
    std::span<int64_t> held;          ///< keys of each sequence that the past cache holds
    std::span<int64_t> fresh;         ///< new tokens of each sequence that count, which come first
  };

  Call read_sizes(RunContext& context) const {
    const Shape& q = context.input(0).shape();
    const int64_t parts = context.has_input(1) ? op_.heads : op_.heads + 2 * op_.kv_heads;
    if (q.rank() != 3 || q[2] % parts != 0) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: query has shape {}, expected [batch, length, {} depth]", q.to_string(),
           parts);
    }
    Call call{.batch = q[0], .length = q[1], .depth = q[2] / parts};
    for (int i = 1; i <= 2 && context.has_input(1); ++i) {
      if (context.input(i).shape() == Shape{call.batch, call.length, op_.kv_heads * call.depth}) continue;
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: input {} has shape {}, expected [{}, {}, {}]", i,
           context.input(i).shape().to_string(), call.batch, call.length, op_.kv_heads * call.depth);
    }
    call.total = scalar_int(context, 6, "total_sequence_length");
    if (call.total < call.length) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: total_sequence_length is {}, expected at least the {} new tokens", call.total,
           call.length);
    }
    call.capacity = call.total;
    for (int i = 3; i <= 4 && context.has_input(3); ++i) {
      const Shape& past = context.input(i).shape();
      const int64_t row = op_.cache_bits == 4 ? (call.depth + 1) / 2 : call.depth;
      const DType dtype = op_.cache_dtype(context.input(0).dtype());
      if (past.rank() != 4 || !(past == Shape{call.batch, op_.kv_heads, context.input(3).shape()[2], row}) ||
          context.input(i).dtype() != dtype) {
        fail(ErrorCode::invalid_argument, "GroupQueryAttention: input {} is {}{}, expected {}[{}, {}, capacity, {}]", i,
             to_string(context.input(i).dtype()), past.to_string(), to_string(dtype), call.batch, op_.kv_heads, row);
      }
      call.capacity = std::max(call.capacity, past[2]);
    }
    if (op_.keeps_window) {
      call.capacity = context.input(3).shape()[2];
      if (call.capacity < op_.window) {
        fail(ErrorCode::invalid_argument, "GroupQueryAttention: past_key has room for {} keys, expected at least the {} of the window",
             call.capacity, op_.window);
      }
    }
    check_elements({call.batch, op_.kv_heads, call.capacity, call.depth}, "GroupQueryAttention: present keys and values");
    return call;
  }

  void read_lengths(RunContext& context, Call& call) const {
    if (context.input(5).elements() != call.batch) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: seqlens_k has shape {}, expected [{}]", context.input(5).shape().to_string(),
           call.batch);
    }
    const int64_t* lengths = indices_of(context, 5);
    for (std::span<int64_t>* list : {&call.past, &call.valid, &call.held, &call.fresh}) {
      *list = {context.scratch_array<int64_t>(call.batch), static_cast<size_t>(call.batch)};
    }
    std::fill(call.fresh.begin(), call.fresh.end(), call.length);
    if (context.has_input(16)) return read_padded_lengths(context, lengths, call);
    const bool is_first = call.total == call.length;
    const int64_t most = std::numeric_limits<int64_t>::max(), held = op_.keeps_window       ? most
                                                                     : context.has_input(3) ? context.input(3).shape()[2]
                                                                                            : 0;
    for (int64_t b = 0; b < call.batch; ++b) {
      const int64_t end = lengths[b] + 1, past = is_first ? 0 : end - call.length;
      if (end < 1 || end > call.total || past < 0 || past > held) {
        fail(
            ErrorCode::invalid_argument,
            "GroupQueryAttention: seqlens_k has {}, expected a number from {} to {}, the last key of {} new ones after at most {} old ones",
            lengths[b], is_first ? 0 : call.length - 1, std::min(call.total - call.length, held) + call.length - 1, call.length, held);
      }
      const size_t at = static_cast<size_t>(b);
      call.past[at] = past;
      call.held[at] = op_.keeps_window ? op_.kept_of(past, call.capacity) : past;
      call.valid[at] = op_.is_causal ? call.held[at] + call.length : end;
    }
    call.keys = op_.keeps_window && call.batch > 0 ? *std::max_element(call.valid.begin(), call.valid.end()) : call.total;
    call.rows = op_.keeps_window ? call.keys : call.capacity;
  }

  /// Of the new tokens of each sequence only the first count; the others go into rows of the cache that hold nothing, and are seen by none.
  void read_padded_lengths(RunContext& context, const int64_t* lengths, Call& call) const {
    if (!(context.input(16).shape() == Shape{call.batch})) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: query_seqlens has shape {}, expected [{}]",
           context.input(16).shape().to_string(), call.batch);
    }
    call.keys = op_.keeps_window && call.batch > 0 ? 0 : call.total;
    for (int64_t b = 0; b < call.batch; ++b) {
      const int64_t fresh = context.input(16).data<int32_t>()[b], end = lengths[b] + 1, past = end - fresh;
      if (end < 1 || end > call.total || fresh < 0 || fresh > std::min(call.length, end)) {
        fail(ErrorCode::invalid_argument,
             "GroupQueryAttention: query_seqlens has {} and seqlens_k {}, expected at most the {} new tokens, of at most {} in all", fresh,
             lengths[b], call.length, call.total);
      }
      if (!op_.keeps_window && (past > context.input(3).shape()[2] || past + call.length > call.capacity)) {
        fail(ErrorCode::invalid_argument, "GroupQueryAttention: {} tokens before {} new ones do not fit in caches of {} and {}", past,
             call.length, context.input(3).shape()[2], call.capacity);
      }
      const size_t at = static_cast<size_t>(b);
      call.past[at] = past;
      call.fresh[at] = fresh;
      call.held[at] = op_.keeps_window ? op_.kept_of(past, call.capacity) : past;
      call.valid[at] = call.held[at] + call.length;
      call.keys = std::max(call.keys, call.valid[at]);
    }
    call.rows = op_.keeps_window ? call.keys : call.capacity;
    if (context.has_output(3) && call.keys > call.total) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: output_qk has {} columns, expected at least {} for padded tokens", call.total,
           call.keys);
    }
  }

  /// The present keys or values, which are yet to be filled.
  AppendedRows cache(RunContext& context, const Call& call, int input, int output, const NewRows& rows) const {
    const CacheFormat format = op_.is_quantized() ? cache_format(context, call, input) : CacheFormat{};
    const DType dtype = op_.cache_dtype(context.input(0).dtype());
    const Shape shape{call.batch, op_.kv_heads, call.rows, op_.is_quantized() ? format.bytes_of_row(call.depth) : call.depth};
    check_elements(shape, "GroupQueryAttention: keys and values");
    const NewRows added = op_.is_quantized() ? quantized_rows(context, format, call.batch, op_.kv_heads, call.depth, rows) : rows;
    return present_cache(context, input, op_.keeps_window ? -1 : output, dtype, shape, call.held, added);
  }

  /// The same as floats, filled.
  const float* filled(RunContext& context, const Call& call, int input, int output, const AppendedRows& cache) const {
    append_rows(context.parallel(), cache);
    if (op_.keeps_window && context.has_output(output)) keep_window(context, call, cache.view(), output);
    return op_.is_quantized() ? dequantized_cache(context, cache_format(context, call, input), cache.view(), call.depth, call.keys)
                              : converted(context, cache.view(), DType::float32).data<float>();
  }

  /// The last of all keys or values into the present cache.
  void keep_window(RunContext& context, const Call& call, const MutableView& all, int output) const {
    const MutableView to = context.output(output, all.dtype(), {call.batch, op_.kv_heads, call.capacity, all.shape()[3]});
    const size_t row = bytes_of(all.dtype(), all.shape()[3]);
    for (int64_t i = 0; i < call.batch * op_.kv_heads && to.bytes() > 0; ++i) {
      const size_t b = static_cast<size_t>(i / op_.kv_heads);
      const int64_t kept = op_.kept_of(call.past[b] + call.fresh[b], call.capacity);
      const int64_t first = i * call.rows + call.held[b] + call.fresh[b] - kept;
      std::byte* begin = to.data<std::byte>() + row * static_cast<size_t>(i * call.capacity);
      const size_t bytes = row * static_cast<size_t>(kept);
      if (bytes > 0) compute::copy_bytes(all.data<std::byte>() + row * static_cast<size_t>(first), begin, bytes);
      std::memset(begin + bytes, 0, row * static_cast<size_t>(call.capacity) - bytes);
    }
  }

  /// The bias [batch or 1, heads or 1, length, total] has a column for each token that there was: those of the keys to see.
  void set_window_bias(RunContext& context, const Call& call, compute::AttentionArgs& args) const {
    const Shape& given = context.input(10).shape();
    if (given.rank() != 4 || (given[0] != 1 && given[0] != call.batch) || (given[1] != 1 && given[1] != op_.heads) ||
        given[2] != call.length || given[3] != call.total) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: attention_bias has shape {}, expected [1 or {}, 1 or {}, {}, {}]",
           given.to_string(), call.batch, op_.heads, call.length, call.total);
    }
    const Shape shape{call.batch, given[1], call.length, call.keys};
    check_elements(shape, "GroupQueryAttention: the bias of the keys to see");
    const float* from = converted(context, context.input(10), DType::float32).data<float>();
    float* to = context.scratch_array<float>(shape.elements());
    const int64_t matrix = given[1] * call.length;
    for (int64_t i = 0; i < call.batch * matrix; ++i) {
      const size_t b = static_cast<size_t>(i / matrix);
      const float* row = from + (given[0] == 1 ? i % matrix : i) * call.total + call.past[b] - call.held[b];
      const int64_t columns = std::min(call.valid[b], call.total - (call.past[b] - call.held[b]));
      std::fill(std::copy_n(row, columns, to + i * call.keys), to + (i + 1) * call.keys, 0.0f);
    }
    args.mask = to;
    args.mask_strides = {matrix * call.keys, given[1] == 1 ? 0 : call.length * call.keys, call.keys};
  }

  CacheFormat cache_format(RunContext& context, const Call& call, int input) const {
    const int scale = input + 9;
    const auto kind = input == 3 ? op_.k_quantization : op_.v_quantization;
    const int64_t count = kind == ops::GroupQueryAttention::Quantization::per_tensor ? 1 : op_.kv_heads * call.depth;
    if (context.input(scale).elements() != count) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: input {} has shape {}, expected {} scales", scale,
           context.input(scale).shape().to_string(), count);
    }
    return {op_.cache_bits, converted(context, context.input(scale), DType::float32).data<float>(), count};
  }

  /// Copies of the rows, each head of which has been divided by its root mean square.
  void normalize(RunContext& context, const Call& call, int64_t heads, int weight, float epsilon, NewRows& rows) const {
    if (!(context.input(weight).shape() == Shape{call.depth})) {
      fail(ErrorCode::invalid_argument, "GroupQueryAttention: input {} has shape {}, expected [{}]", weight,
           context.input(weight).shape().to_string(), call.depth);
    }
    const float* scale = converted(context, context.input(weight), DType::float32).data<float>();
    const int64_t row = heads * call.depth;
    float* to = context.scratch_array<float>(call.batch * call.length * row);
    const float* from = static_cast<const float*>(rows.from);
    const Cost cost{8.0 * static_cast<double>(row), 4.0 * static_cast<double>(row)};
    context.parallel().for_range(call.batch * call.length, cost, [&](Range part) {
      for (int64_t token = part.begin; token < part.end; ++token) {
        compute::rms_norm_rows(from + token / call.length * rows.strides.batch + token % call.length * rows.strides.row, scale, epsilon,
                               to + token * row, nullptr, heads, call.depth);
      }
    });
    rows.from = to;
    rows.strides = token_strides(call.length, call.depth, row);
  }

  void set_sinks(RunContext& context, compute::AttentionArgs& args) const {
    if (context.has_input(11)) {
      if (!(context.input(11).shape() == Shape{op_.heads})) {
        fail(ErrorCode::invalid_argument, "GroupQueryAttention: head_sink has shape {}, expected [{}]",
             context.input(11).shape().to_string(), op_.heads);
      }
      args.sinks = converted(context, context.input(11), DType::float32).data<float>();
    } else if (op_.smooth_softmax) {
      float* zeros = context.scratch_array<float>(op_.heads);
      std::fill_n(zeros, op_.heads, 0.0f);
      args.sinks = zeros;
    }
  }

  ops::GroupQueryAttention op_;
  compute::AttentionWays ways_;
  KernelVariant variant_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GroupQueryAttentionKernel)
