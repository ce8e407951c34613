#include "providers/cpu/attention_parts.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "compute/attention/attention_fip.h"
#include "compute/attention/attention_split.h"
#include "compute/move/copy.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

void AppendedRows::fill_head(int64_t batch, int64_t head) const {
  if (shape.elements() == 0) return;
  const int64_t heads = shape[1], capacity = shape[2], depth = shape[3], i = batch * heads + head;
  const size_t element = bytes_of(dtype, 1), row = element * static_cast<size_t>(depth);
  const auto at = [&](const void* base, int64_t offset) {
    return static_cast<const std::byte*>(base) + element * static_cast<size_t>(offset);
  };
  const bool in_place = past == to;
  const int64_t before = past_lengths[static_cast<size_t>(batch)], end = before + rows.length;
  std::byte* out = static_cast<std::byte*>(to) + row * static_cast<size_t>(i * capacity);
  if (past && !in_place) {
    const std::byte* from = at(past, i * past_capacity * depth);
    if (before > 0) compute::copy_bytes(from, out, row * static_cast<size_t>(before));
    const size_t done = row * static_cast<size_t>(end);
    if (keeps_rest && end < capacity) compute::copy_bytes(from + done, out + done, row * static_cast<size_t>(capacity - end));
  }
  const int64_t source = batch * rows.strides.batch + head * rows.strides.head;
  for (int64_t k = 0; k < rows.length; ++k) {
    compute::copy_bytes(at(rows.from, source + k * rows.strides.row), out + row * static_cast<size_t>(before + k), row);
  }
  if (!in_place && !keeps_rest && end < capacity)
    std::memset(out + row * static_cast<size_t>(end), 0, row * static_cast<size_t>(capacity - end));
}

void append_rows(const Parallel& parallel, const AppendedRows& appended) {
  const Shape& shape = appended.shape;
  const double moved = static_cast<double>(bytes_of(appended.dtype, shape[2] * shape[3]));
  parallel.for_range(shape[0] * shape[1], {2 * moved, moved / 16}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) appended.fill_head(i / shape[1], i % shape[1]);
  });
}

int64_t declared_size(const KernelInfo& info, int input, int axis) {
  const ValueType& type = info.node().input_type(input);
  if (!info.node().has_input(input) || !type.is_tensor() || !type.tensor().has_rank()) return -1;
  const SymbolicShape& dims = *type.tensor().dims;
  const int64_t at = axis < 0 ? axis + type.tensor().rank() : axis;
  if (at < 0 || at >= type.tensor().rank()) return -1;
  const Dim& dim = dims[static_cast<size_t>(at)];
  return dim.is_constant() ? dim.value() : -1;
}

compute::AttentionWays attention_ways(const KernelInfo& info) {
  const std::string_view asked = info.tuned({});
  return {.by_pairs = info.by_pairs(),
          .tiles = asked == "amx"    ? compute::TileUse::wherever_possible
                   : asked == "gemm" ? compute::TileUse::never
                                     : compute::TileUse::where_faster};
}

KernelVariant attention_variant(compute::AttentionArgs args) {
  bool is_known = true;
  // Sizes that are not known count as ones that favour pairs and tiles.
  const auto assume = [&](int64_t& size, int64_t favourable) {
    if (size >= 0) return;
    is_known = false;
    size = favourable;
  };
  assume(args.queries, 1024);
  assume(args.keys, std::max<int64_t>(1024, args.past + args.queries));
  assume(args.depth, 128);
  assume(args.value_depth, 128);
  const std::string_view way = compute::attends_by_tiles(args)   ? is_known ? "amx" : "blocked_or_amx"
                               : compute::attends_by_pairs(args) ? is_known ? "fip" : "blocked_or_fip"
                                                                 : "blocked";
  return {.problem = "", .variant = way, .variants = {}};
}

std::span<const int64_t> equal_lengths(RunContext& context, int64_t batch, int64_t length) {
  int64_t* const lengths = context.scratch_array<int64_t>(batch);
  std::fill_n(lengths, batch, length);
  return {lengths, static_cast<size_t>(batch)};
}

namespace {

/// Numbers that are added to scores: [batch or 1, heads or 1, rows or 1, keys].
struct Added {
  const float* numbers = nullptr;
  Shape shape;

  float at(int64_t batch, int64_t head, int64_t row, int64_t key) const {
    const auto of = [&](int i, int64_t index) { return shape[i] == 1 ? 0 : index; };
    return numbers[((of(0, batch) * shape[1] + of(1, head)) * shape[2] + of(2, row)) * shape[3] + key];
  }
};

[[noreturn]] void fail_shape(const AttentionMasks& masks, const char* what, const Shape& found, const compute::AttentionArgs& args) {
  fail(ErrorCode::invalid_argument, "{}: the {} has shape {}, which does not fit {} sequences of {} queries, {} keys and {} heads",
       masks.op_type, what, found.to_string(), args.batch, args.queries, args.keys, args.heads);
}

/// Ends, or ends and starts, of the keys that each sequence sees.
void hide_outside(const AttentionMasks& masks, const TensorView& given, const compute::AttentionArgs& args, float* to) {
  const int32_t* ends = given.data<int32_t>();
  const int32_t* starts = given.elements() == 2 * args.batch ? ends + args.batch : nullptr;
  for (int64_t b = 0; b < args.batch; ++b) {
    const int64_t end = ends[b], start = starts ? starts[b] : 0;
    if (end < 0 || end > args.keys || start < 0 || start > args.keys) {
      fail(ErrorCode::invalid_argument, "{}: the mask has the range [{}, {}) of keys, expected one in [0, {})", masks.op_type, start, end,
           args.keys);
    }
    for (int64_t key = 0; key < args.keys; ++key) to[b * args.keys + key] = key < end && key >= start ? 0 : masks.hidden;
  }
}

Added hidden_keys(RunContext& context, const AttentionMasks& masks, const compute::AttentionArgs& args) {
  const TensorView given = context.input(masks.mask);
  const Shape& shape = given.shape();
  const int64_t batch = args.batch, keys = args.keys;
  if (given.dtype() != DType::int32)
    fail(ErrorCode::invalid_argument, "{}: the mask is {}, expected int32", masks.op_type, to_string(given.dtype()));
  const bool is_range = shape.rank() == 1 && (shape[0] == batch || shape[0] == 2 * batch || shape[0] == 3 * batch + 2);
  if (shape == Shape{batch, 1} && keys != 1) return {};  // stands for no mask
  const bool is_keys = shape == Shape{batch, keys}, is_full = shape == Shape{batch, args.queries, keys};
  const bool is_square = shape.rank() == 4 && shape[0] == batch && shape[1] == 1 && shape[2] == shape[3] && shape[3] >= keys &&
                         args.past + args.queries <= shape[2];
  if (!is_range && !is_keys && !is_full && !is_square) fail_shape(masks, "mask", shape, args);
  const int64_t rows = is_full || is_square ? args.queries : 1;
  Added added{.shape = {batch, 1, rows, keys}};
  check_elements(added.shape, "the mask of attention");
  float* to = context.scratch_array<float>(added.shape.elements());
  added.numbers = to;
  if (is_range) {
    hide_outside(masks, given, args, to);
    return added;
  }
  const int32_t* from = given.data<int32_t>();
  for (int64_t i = 0; i < batch * rows; ++i) {
    const int32_t* row = is_square ? from + (i / rows * shape[2] + args.past + i % rows) * shape[3] : from + i * keys;
    for (int64_t key = 0; key < keys; ++key) to[i * keys + key] = row[key] > 0 ? 0 : masks.hidden;
  }
  return added;
}

Added attention_bias(RunContext& context, const AttentionMasks& masks, const compute::AttentionArgs& args) {
  const TensorView given = context.input(masks.bias);
  const Shape& shape = given.shape();
  if (shape.rank() != 4 || (shape[0] != 1 && shape[0] != args.batch) || (shape[1] != 1 && shape[1] != args.heads) ||
      shape[2] != args.queries || shape[3] != args.keys) {
    fail_shape(masks, "attention_bias", shape, args);
  }
  return {converted(context, given, DType::float32).data<float>(), shape};
}

}  // namespace

void set_masks(RunContext& context, const AttentionMasks& masks, compute::AttentionArgs& args) {
  Added hidden, bias;
  if (masks.mask >= 0 && context.has_input(masks.mask)) hidden = hidden_keys(context, masks, args);
  if (masks.bias >= 0 && context.has_input(masks.bias)) bias = attention_bias(context, masks, args);
  Added sum = bias.numbers ? bias : hidden;
  if (!sum.numbers) return;
  if (hidden.numbers && bias.numbers) {
    sum.shape = {args.batch, bias.shape[1], args.queries, args.keys};
    check_elements(sum.shape, "the mask of attention");
    float* to = context.scratch_array<float>(sum.shape.elements());
    sum.numbers = to;
    const int64_t heads = sum.shape[1], queries = args.queries;
    for (int64_t i = 0; i < args.batch * heads * queries; ++i) {
      for (int64_t key = 0; key < args.keys; ++key) {
        const int64_t b = i / (heads * queries), head = i / queries % heads, row = i % queries;
        *to++ = hidden.at(b, head, row, key) + bias.at(b, head, row, key);
      }
    }
  }
  const Shape& s = sum.shape;
  args.mask = sum.numbers;
  args.mask_strides = {s[0] == 1 ? 0 : s[1] * s[2] * s[3], s[1] == 1 ? 0 : s[2] * s[3], s[2] == 1 ? 0 : s[3]};
}

void attend(RunContext& context, compute::AttentionArgs& args, const ScoresOutput& scores_output) {
  const int64_t row = args.heads * args.value_depth;
  const ConvertedOutput y(context, 0, Shape{args.batch, args.queries, row}, DType::float32);
  args.y = y.data<float>();
  args.y_strides = token_strides(args.queries, args.value_depth, row);
  if (scores_output.output >= 0 && context.has_output(scores_output.output)) {
    const ConvertedOutput scores(context, scores_output.output, Shape{args.batch, args.heads, args.queries, args.keys}, DType::float32);
    args.scores = scores.data<float>();
    args.wanted = scores_output.wanted;
    compute::attention_reference(args, context.parallel());
    for (int64_t i = 0; i < args.batch * args.heads * args.queries; ++i) {
      const Range seen = args.keys_of(i / (args.heads * args.queries), i % args.queries);
      float* row = args.scores + i * args.keys;
      for (int64_t key = 0; key < args.keys; ++key) {
        const bool is_seen = key >= seen.begin && key < seen.end;
        row[key] = is_seen ? std::max(row[key], std::numeric_limits<float>::lowest()) : scores_output.hidden;
      }
    }
    scores.store(context.parallel());
  } else {
    compute::attention(args, context.parallel());
  }
  y.store(context.parallel());
}

}  // namespace rh::cpu
