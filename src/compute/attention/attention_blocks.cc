#include "compute/attention/attention_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/reduce/row_math.h"
#include "compute/scratch.h"

namespace rh::compute {

BlockedHead::Scratch::Scratch(int64_t rows, int64_t chunk_rows, int64_t keys) {
  shifts = scratch_floats(ScratchSlot::row, 2 * rows + (2 + row_stride(keys)) * chunk_rows + 32);
  sums = shifts + rows;
  before = sums + rows;
  parts = before + chunk_rows;
  scores = parts + chunk_rows;
  scores += (16 - (scores - shifts) % 16) % 16;
}

Range BlockedHead::chunk_of(Range queries, int64_t chunk) const {
  const Part part = part_of(queries.size(), chunks_of(queries), chunk);
  return {queries.begin + part.begin, queries.begin + part.begin + part.size};
}

void BlockedHead::run_block(Range queries, int64_t keys, int64_t key_block, const Scratch& scratch) {
  const int64_t rows = queries.size(), chunks = chunks_of(queries);
  for (int64_t row = 0; row < rows; ++row) start(queries.begin + row, scratch.shifts[row], scratch.sums[row]);
  Range used[kMostAttentionChunks], all{keys, 0};
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    used[chunk] = used_by(chunk_of(queries, chunk));
    all = {std::min(all.begin, used[chunk].begin), std::max(all.end, used[chunk].end)};
  }
  for (int64_t key = all.begin / key_block * key_block; key < all.end; key += key_block) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t first = used[chunk].begin / key_unit_ * key_unit_;
      const Some some{chunk_of(queries, chunk),
                      chunk,
                      {std::max(key, first), std::min(key + key_block, used[chunk].end)},
                      {key, std::min(key + key_block, keys)}};
      if (some.keys.size() <= 0) continue;
      const bool adds = some.keys.begin != first;
      multiply_keys(some, scratch.scores);
      weigh(some.queries, some.keys, adds, scratch, some.queries.begin - queries.begin);
      multiply_values(some, scratch.scores, adds);
    }
  }
  for (int64_t row = 0; row < rows; ++row) scratch.sums[row] = finish(queries.begin + row, scratch.shifts[row], scratch.sums[row]);
  float* const y = row_of_y(queries.begin);
  scale_rows(y, args_.y_strides.row, scratch.sums, y, args_.y_strides.row, rows, args_.value_depth);
}

BlockedHead::ScoreMasks BlockedHead::score_masks(Range queries, Range keys) const {
  ScoreMasks masks{key_mask_ ? key_mask_ + keys.begin : nullptr, nullptr, 0};
  if (adds_mask_ && args_.mask_strides.row == 0) {
    masks.column = mask_of(queries.begin, keys.begin);
  } else if (adds_mask_) {
    masks.each = mask_of(queries.begin, keys.begin);
    masks.each_row = args_.mask_strides.row;
  }
  return masks;
}

/// Scores of some keys become weights that are yet to be divided by their sum; what was added to y before is brought to the same scale.
void BlockedHead::weigh(Range queries, Range keys, bool adds, const Scratch& scratch, int64_t first) const {
  const int64_t rows = queries.size();
  float *const shifts = scratch.shifts + first, *const sums = scratch.sums + first;
  std::copy_n(shifts, rows, scratch.before);
  const int64_t stride = row_stride(keys.size());
  const bool cut = cuts(queries, keys);
  if (args_.softcap != 0) cap(scratch.scores, rows * stride);
  if (cut || (mask_ && !adds_mask_)) {
    for (int64_t row = 0; row < rows; ++row) mask_scores(queries.begin + row, keys, scratch.scores + row * stride);
  }
  if (!cut) {
    exp2_rows(scratch.scores, stride, rows, keys.size(), factor_, shifts, scratch.parts);
  } else {
    for (int64_t row = 0; row < rows; ++row) {
      const Range seen = seen_of(queries.begin + row, keys);
      float* const scores = scratch.scores + row * stride + (seen.begin - keys.begin);
      exp2_rows(scores, stride, 1, seen.size(), factor_, shifts + row, scratch.parts + row);
    }
  }
  for (int64_t row = 0; row < rows; ++row) {
    const float before = scratch.before[row];
    if (shifts[row] != before && before != -std::numeric_limits<float>::infinity()) {  // else all weights were zero
      const float shrinks = std::exp2((before - shifts[row]) * factor_);
      float* const y = row_of_y(queries.begin + row);
      if (adds) scale_shift(y, shrinks, 0, y, args_.value_depth);
      sums[row] *= shrinks;
    }
    sums[row] += scratch.parts[row];
  }
}

/// Masks the scores of the keys that a query sees; the others' become weights of 0.
void BlockedHead::mask_scores(int64_t query, Range keys, float* scores) const {
  const Range seen = seen_of(query, keys);
  std::fill_n(scores, seen.begin - keys.begin, 0.0f);
  std::fill(scores + (seen.end - keys.begin), scores + keys.size(), 0.0f);
  if (seen.size() == 0 || adds_mask_) return;
  scores += seen.begin - keys.begin;
  const float* mask = mask_of(query, seen.begin);
  if (mask && args_.mask_column) {
    binary(Binary::add, scores, mask, scores, seen.size());
  } else if (mask) {
    binary_scalar(Binary::add, scores, *mask, scores, seen.size());
  }
}

}  // namespace rh::compute
