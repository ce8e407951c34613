#include "ops/nn/sparse_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "providers/cpu/attention_cache.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class SparseAttentionKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit SparseAttentionKernel(const KernelInfo& info)
      : op_(info.attributes<ops::SparseAttention>()), ways_(attention_ways(info)), variant_(expected_variant(info)) {}

  KernelVariant variant() const override { return variant_; }

  Status run(RunContext& context) const override {
    const Call call = read_call(context);
    const bool packed = !context.has_input(1);
    const int64_t key_row = op_.kv_heads * call.depth, q_row = op_.heads * call.depth, packed_row = q_row + 2 * key_row;
    const float* q = converted(context, context.input(0), DType::float32).data<float>();
    const float* k = packed ? q + q_row : converted(context, context.input(1), DType::float32).data<float>();
    const float* v = packed ? k + key_row : converted(context, context.input(2), DType::float32).data<float>();
    NewRows queries{q, token_strides(call.length, call.depth, packed ? packed_row : q_row), call.length};
    NewRows keys{k, token_strides(call.length, call.depth, packed ? packed_row : key_row), call.length};
    const NewRows values{v, keys.strides, call.length};
    if (op_.rotary) {
      RotaryAngles angles = rotary_angles(context, "SparseAttention", 9, call.depth, call.length, call.past);
      angles.interleaved = op_.interleaved;
      rotate_rows(context, angles, op_.heads, call.depth, queries);
      rotate_rows(context, angles, op_.kv_heads, call.depth, keys);
    }
    compute::AttentionArgs args{.batch = call.batch, .heads = 1, .key_heads = 1, .value_heads = 1};
    args.ways = ways_;
    const float* all_keys = cache(context, call, 3, 1, keys);
    const float* all_values = cache(context, call, 4, 2, values);
    args.q_strides = queries.strides;
    args.k_strides = args.v_strides = head_strides(op_.kv_heads, call.capacity, call.depth);
    args.queries = call.length;
    args.keys = call.total;
    args.depth = args.value_depth = call.depth;
    args.scale = op_.scale.value_or(1 / std::sqrt(static_cast<float>(call.depth)));
    args.valid_keys = call.valid.data();
    args.right_window = 0;
    args.masked_rows_are_zero = true;
    const ConvertedOutput y(context, 0, {call.batch, call.length, q_row}, DType::float32);
    args.y_strides = token_strides(call.length, call.depth, q_row);
    float* mask = context.scratch_array<float>(call.batch * call.length * call.total);
    args.mask = mask;
    args.mask_strides = {call.length * call.total, 0, call.total};
    for (int64_t layout = 0; layout < call.layouts; ++layout) {
      write_mask(context, call, layout, mask);
      for (int64_t head = layout; head < op_.heads; head += call.layouts) {
        const int64_t key_head = head / (op_.heads / op_.kv_heads) * call.capacity * call.depth;
        args.q = static_cast<const float*>(queries.from) + head * call.depth;
        args.k = all_keys + key_head;
        args.v = all_values + key_head;
        args.y = y.data<float>() + head * call.depth;
        compute::attention(args, context.parallel());
      }
    }
    y.store(context.parallel());
    return {};
  }

 private:
  /// Only a run tells how many keys there are.
  KernelVariant expected_variant(const KernelInfo& info) const {
    const int64_t size = declared_size(info, 0, 2), heads = op_.heads + (info.node().has_input(1) ? 0 : 2 * op_.kv_heads);
    compute::AttentionArgs args{.queries = declared_size(info, 0, 1), .keys = -1, .depth = -1, .value_depth = -1};
    if (size >= 0 && heads > 0) args.depth = args.value_depth = size / heads;
    args.ways = ways_;
    return attention_variant(args);
  }

  struct Call {
    int64_t batch = 0, length = 0, depth = 0;
    int64_t total = 0, capacity = 0;  ///< keys of the longest sequence; rows of the caches
    int64_t layouts = 0, blocks = 0, columns = 0;
    std::span<int64_t> past, valid;  ///< keys of each sequence: before, and with the new ones
  };

  template <typename... Args>
  [[noreturn]] static void misfit(const RunContext& context, int input, fmt::format_string<Args...> expected, Args&&... args) {
    constexpr const char* kNames[] = {"query",
                                      "key",
                                      "value",
                                      "past_key",
                                      "past_value",
                                      "block_row_indices",
                                      "block_col_indices",
                                      "total_sequence_length",
                                      "key_total_sequence_lengths"};
    fail(ErrorCode::invalid_argument, "SparseAttention: {} has shape {}, expected {}", kNames[input],
         context.input(input).shape().to_string(), fmt::format(expected, std::forward<Args>(args)...));
  }

  Call read_call(RunContext& context) const {
    const Shape &q = context.input(0).shape(), &past = context.input(3).shape();
    const int64_t parts = context.has_input(1) ? op_.heads : op_.heads + 2 * op_.kv_heads;
    if (q.rank() != 3 || q[2] % parts != 0) misfit(context, 0, "[batch, length, {} depth]", parts);
    Call call{.batch = q[0], .length = q[1], .depth = q[2] / parts};
    for (int i = 1; i <= 2 && context.has_input(1); ++i) {
      const Shape expected{call.batch, call.length, op_.kv_heads * call.depth};
      if (!(context.input(i).shape() == expected)) misfit(context, i, "{}", expected.to_string());
    }
    for (int i : {3, 4}) {
      if (past.rank() != 4 || !(context.input(i).shape() == Shape{call.batch, op_.kv_heads, past[2], call.depth})) {
        misfit(context, i, "[{}, {}, capacity, {}]", call.batch, op_.kv_heads, call.depth);
      }
    }
    call.capacity = past[2];
    read_lengths(context, call);
    read_blocks(context, call);
    check_elements({call.batch, call.length, call.total}, "SparseAttention: the mask");
    return call;
  }

  void read_lengths(RunContext& context, Call& call) const {
    call.total = scalar_int(context, 7, "SparseAttention: total_sequence_length");
    if (call.total < call.length || call.total > call.capacity) {
      fail(ErrorCode::invalid_argument,
           "SparseAttention: total_sequence_length is {}, expected {} to {}, the new tokens and the rows of the cache", call.total,
           call.length, call.capacity);
    }
    if (!(context.input(8).shape() == Shape{call.batch})) misfit(context, 8, "[{}]", call.batch);
    const bool is_first = call.total == call.length;
    for (std::span<int64_t>* list : {&call.past, &call.valid}) {
      *list = {context.scratch_array<int64_t>(call.batch), static_cast<size_t>(call.batch)};
    }
    for (int64_t b = 0; b < call.batch; ++b) {
      const int64_t end = context.input(8).data<int32_t>()[b], past = is_first ? 0 : end - call.length;
      if (end < 1 || end > call.total || past < 0) {
        fail(ErrorCode::invalid_argument, "SparseAttention: key_total_sequence_lengths has {}, expected {} to {}", end,
             is_first ? 1 : call.length, call.total);
      }
      call.past[static_cast<size_t>(b)] = past;
      call.valid[static_cast<size_t>(b)] = past + call.length;
    }
  }

  /// Columns are range-checked where a query's row names them; rows here.
  void read_blocks(RunContext& context, Call& call) const {
    const Shape &rows = context.input(5).shape(), &columns = context.input(6).shape();
    if (rows.rank() != 2 || rows[0] < 1 || op_.heads % rows[0] != 0 || rows[1] < 2)
      misfit(context, 5, "[a divisor of {} heads, blocks + 1]", op_.heads);
    if (columns.rank() != 2 || columns[0] != rows[0]) misfit(context, 6, "[{}, columns]", rows[0]);
    call.layouts = rows[0];
    call.blocks = rows[1] - 1;
    call.columns = columns[1];
    if ((call.total - 1) / op_.block >= call.blocks) {
      fail(ErrorCode::invalid_argument, "SparseAttention: {} blocks of {} tokens do not hold total_sequence_length {}", call.blocks,
           op_.block, call.total);
    }
    const int32_t* starts = context.input(5).data<int32_t>();
    for (int64_t i = 0; i < call.layouts * rows[1]; ++i) {
      const int64_t from = i % rows[1] == 0 ? 0 : starts[i - 1];
      if (starts[i] < from || starts[i] > call.columns) {
        fail(ErrorCode::invalid_argument, "SparseAttention: block_row_indices has {}, expected {} to {}", starts[i], from, call.columns);
      }
    }
  }

  /// 0 for keys in blocks that a query's block sees, else -inf; [batch, length, total].
  void write_mask(RunContext& context, const Call& call, int64_t layout, float* mask) const {
    const int32_t* starts = context.input(5).data<int32_t>() + layout * (call.blocks + 1);
    const int32_t* columns = context.input(6).data<int32_t>() + layout * call.columns;
    const double moved = static_cast<double>(call.total);
    context.parallel().for_range(call.batch * call.length, {4 * moved, moved}, [&](Range part) {
      for (int64_t token = part.begin; token < part.end; ++token) {
        float* row = mask + token * call.total;
        std::fill_n(row, call.total, -std::numeric_limits<float>::infinity());
        const int64_t block = (call.past[static_cast<size_t>(token / call.length)] + token % call.length) / op_.block;
        for (int32_t i = starts[block]; i < starts[block + 1]; ++i) {
          if (columns[i] < 0 || columns[i] > block) continue;
          const int64_t begin = columns[i] * op_.block;
          std::fill(row + std::min(begin, call.total), row + std::min(begin + op_.block, call.total), 0.0f);
        }
      }
    });
  }

  const float* cache(RunContext& context, const Call& call, int input, int output, const NewRows& rows) const {
    const AppendedRows cache =
        present_cache(context, input, output, context.input(0).dtype(), context.input(input).shape(), call.past, rows);
    append_rows(context.parallel(), cache);
    return converted(context, cache.view(), DType::float32).data<float>();
  }

  ops::SparseAttention op_;
  compute::AttentionWays ways_;
  KernelVariant variant_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SparseAttentionKernel)
