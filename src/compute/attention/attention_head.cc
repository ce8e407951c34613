#include "compute/attention/attention_head.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "compute/elementwise/vector_math.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr double kLog2E = 1.4426950408889634;

constexpr float kLeftOut = -1e30f;     // what a mask adds to a score of which nothing is to be left
constexpr float kMost = 1e28f;         // magnitude of other numbers of masks, and of scores, of which then nothing is left
constexpr int64_t kMaskedAtOnce = 16;  // keys
constexpr int64_t kLeastLooked = 192;  // keys from which on it pays to look for those that masks leave out
constexpr int kLanes = 16;             // loops of so many steps become vectors

/// The largest magnitude; infinite where a number is not finite.
float largest(const float* from, int64_t rows, int64_t columns, int64_t stride) {
  constexpr int32_t kMagnitude = 0x7fffffff;
  int32_t most[kLanes] = {};  // magnitudes are in the order of their bits
  if (stride == columns) columns *= std::exchange(rows, 1);
  for (int64_t row = 0; row < rows; ++row) {
    const float* at = from + row * stride;
    int64_t i = 0;
    for (; i + kLanes <= columns; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) most[lane] = std::max(most[lane], std::bit_cast<int32_t>(at[i + lane]) & kMagnitude);
    }
    for (; i < columns; ++i) most[0] = std::max(most[0], std::bit_cast<int32_t>(at[i]) & kMagnitude);
  }
  const float value = std::bit_cast<float>(*std::max_element(most, most + kLanes));
  return std::isfinite(value) ? value : std::numeric_limits<float>::infinity();
}

/// Whether all numbers are kReplaced.
bool are_replaced(const float* mask, int64_t count) {
  int others = 0;
  int64_t i = 0;
  for (; others == 0 && i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) others |= mask[i + lane] != kReplaced;
  }
  for (; i < count; ++i) others |= mask[i] != kReplaced;
  return others == 0;
}

/// Whether kLanes numbers are no more than one.
bool are_at_most(float most, const float* numbers) {
  int others = 0;
  for (int i = 0; i < kLanes; ++i) others |= !(numbers[i] <= most);
  return others == 0;
}

}  // namespace

AttentionHead::AttentionHead(const AttentionArgs& args, int64_t batch, int64_t head) : args_(args), batch_(batch), head_(head) {
  const auto at = [](const float* from, const MatrixStrides& strides, int64_t b, int64_t h) {
    return from ? from + b * strides.batch + h * strides.head : nullptr;
  };
  q_ = at(args.q, args.q_strides, batch, head);
  k_ = at(args.k, args.k_strides, batch, head / (args.heads / args.key_heads));
  v_ = at(args.v, args.v_strides, batch, head / (args.heads / args.value_heads));
  mask_ = at(args.mask, args.mask_strides, batch, head);
  key_mask_ = at(args.key_mask, args.key_mask_strides, batch, head);
  y_ = args.y + batch * args.y_strides.batch + head * args.y_strides.head;
  const bool scales_exponents = !mask_ && !key_mask_ && !args.sinks && args.softcap == 0 && args.scale >= 1e-20f && args.scale <= 1e20f;
  scale_ = scales_exponents ? 1.0f : args.scale;
  factor_ = static_cast<float>(scales_exponents ? kLog2E * static_cast<double>(args.scale) : kLog2E);
  adds_mask_ = mask_ && args.mask_column == 1 && args.softcap == 0 && !(key_mask_ && args.mask_strides.row == 0);
}

void AttentionHead::clear(Range queries) const {
  for (int64_t query = queries.begin; query < queries.end; ++query) std::fill_n(row_of_y(query), args_.value_depth, 0.0f);
}

void AttentionHead::start(int64_t query, float& shift, float& sum) const {
  shift = -std::numeric_limits<float>::infinity();
  if (args_.sinks) shift = args_.sinks[args_.one_position ? head_ * args_.queries + query : head_];
  sum = shift == -std::numeric_limits<float>::infinity() ? 0.0f : 1.0f;
}

float AttentionHead::finish(int64_t query, float shift, float sum) const {
  const Range seen = args_.keys_of(batch_, query);
  constexpr float kBelow = 110;  // by so much, a score has no weight beside another one
  if (args_.replaces_masked && seen.size() > 0 && !(shift > std::max(args_.masked_score + kBelow, kReplaced / 2))) {
    attend_plainly(query);
    return 1;
  }
  if (seen.size() > 0 && sum != 0 && !std::isnan(sum)) return 1 / sum;
  const bool is_zero = seen.size() <= 0 || args_.nan_is_zero || is_masked(mask_of(query, seen.begin), seen.size());
  std::fill_n(row_of_y(query), args_.value_depth, is_zero ? 0.0f : std::numeric_limits<float>::quiet_NaN());
  return 1;
}

Range AttentionHead::used_by(Range queries) const {
  const Range all{args_.keys_of(batch_, queries.begin).begin, args_.keys_of(batch_, queries.end - 1).end};
  if ((!mask_ && !key_mask_) || (mask_ && args_.mask_column == 0) || all.size() < kLeastLooked) return all;
  const bool alike = (!mask_ || args_.mask_strides.row == 0) && args_.left_window < 0 && args_.right_window < 0;
  Range used{all.end, all.begin};
  for (int64_t query = queries.end; query-- > (alike ? queries.end - 1 : queries.begin);) {
    const Range own = used_of(query, seen_of(query, all));
    if (own.size() > 0) used = {std::min(used.begin, own.begin), std::max(used.end, own.end)};
    if (all.size() - used.size() < kMaskedAtOnce) return all;
  }
  return used.size() > 0 && are_scores_small(queries, all) ? used : all;
}

/// The same of one query; all that it sees where no key is kept.
Range AttentionHead::used_of(int64_t query, Range seen) const {
  Range used = seen;
  const auto first = [&] { return Range{used.begin, std::min(used.begin + kMaskedAtOnce, used.end)}; };
  const auto last = [&] { return Range{std::max(used.end - kMaskedAtOnce, used.begin), used.end}; };
  while (used.size() > 0 && leaves_out(query, last())) used.end = last().begin;
  while (used.size() > 0 && leaves_out(query, first())) used.begin = first().end;
  return keeps_one(query, last()) || keeps_one(query, first()) ? used : seen;
}

bool AttentionHead::leaves_out(int64_t query, Range keys) const {
  const float *mask = mask_of(query, keys.begin), *key_mask = key_mask_ ? key_mask_ + keys.begin : mask;
  if (!mask) mask = key_mask;
  if (keys.size() == kLanes) {
    if (mask == key_mask) return are_at_most(kLeftOut, mask);
    if (are_at_most(kLeftOut, mask) && are_at_most(kMost, key_mask)) return true;
  }
  bool all = true;
  for (int64_t i = 0; i < keys.size(); ++i) {
    const float a = mask[i], b = key_mask[i];
    all &= (a <= kLeftOut || b <= kLeftOut) && a <= kMost && b <= kMost;
  }
  return all;
}

bool AttentionHead::keeps_one(int64_t query, Range keys) const {
  const float *mask = mask_of(query, keys.begin), *key_mask = key_mask_ ? key_mask_ + keys.begin : mask;
  if (!mask) mask = key_mask;
  bool any = false;
  for (int64_t i = 0; i < keys.size(); ++i) any |= std::fabs(mask[i]) <= kMost && std::fabs(key_mask[i]) <= kMost;
  return any;
}

/// Whether the products of queries and keys, and the values, leave it to masks alone what has no weight.
bool AttentionHead::are_scores_small(Range queries, Range keys) const {
  if (!largest_key_) {
    const int64_t end = args_.keys_of(batch_, args_.queries - 1).end, row = args_.k_strides.row;
    const float key = args_.k_is_transposed ? largest(k_, args_.depth, end, row) : largest(k_, end, args_.depth, row);
    const bool are_finite = std::isfinite(largest(v_, end, args_.value_depth, args_.v_strides.row));
    largest_key_ = are_finite ? key : std::numeric_limits<float>::infinity();
  }
  const float query = largest(q_ + queries.begin * args_.q_strides.row, queries.size(), args_.depth, args_.q_strides.row);
  return std::fabs(args_.scale) * static_cast<float>(args_.depth) * query * *largest_key_ <= kMost;
}

/// One query whose keys have no scores beyond that of those that are replaced.
void AttentionHead::attend_plainly(int64_t query) const {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Range seen = args_.keys_of(batch_, query);
  float* const weights = static_cast<float*>(thread_scratch(ScratchSlot::packed_left, static_cast<size_t>(seen.size()) * sizeof(float)));
  const float* const q = q_ + query * args_.q_strides.row;
  const int64_t row = args_.k_is_transposed ? 1 : args_.k_strides.row, column = args_.k_is_transposed ? args_.k_strides.row : 1;
  const auto mask_at = [&](int64_t key) {
    const float mask = mask_ ? *mask_of(query, key) : 0.0f;
    return key_mask_ ? mask + key_mask_[key] : mask;
  };
  float* const y = row_of_y(query);
  std::fill_n(y, args_.value_depth, 0.0f);
  const auto is_replaced = [&](int64_t key) { return mask_at(key) == kReplaced; };
  const bool are_alike = mask_ && args_.mask_column == 1 && !key_mask_ && are_replaced(mask_of(query, seen.begin), seen.size());
  if (are_alike && args_.masked_is_zero) return;
  if (are_alike && !args_.sinks) {
    const Range same = alike_query_ < 0 ? Range{0, 0} : args_.keys_of(batch_, alike_query_);
    if (same.begin == seen.begin && same.end == seen.end)
      return static_cast<void>(std::copy_n(row_of_y(alike_query_), args_.value_depth, y));
    alike_query_ = query;
  }
  for (int64_t key = seen.begin; key < seen.end; ++key) {
    if (is_replaced(key)) {
      weights[key - seen.begin] = 0;
      continue;
    }
    float sum = 0;
    for (int64_t i = 0; i < args_.depth; ++i) sum += q[i] * k_[key * row + i * column];
    weights[key - seen.begin] = sum * args_.scale;
  }
  if (args_.softcap != 0) cap(weights, seen.size());
  float largest = -kInfinity, sum = 0;
  start(query, largest, sum);
  for (int64_t key = seen.begin; key < seen.end; ++key) {
    float& score = weights[key - seen.begin];
    const float mask = mask_at(key);
    score = mask == kReplaced ? args_.masked_score : score + mask;
    largest = std::max(largest, score);
  }
  if (sum != 0) sum = std::exp(args_.sinks[args_.one_position ? head_ * args_.queries + query : head_] - largest);
  for (int64_t i = 0; i < seen.size(); ++i) sum += weights[i] = std::exp(weights[i] - largest);
  if (args_.nan_is_zero && std::isnan(sum)) return;
  for (int64_t key = seen.begin; key < seen.end; ++key) {
    if (args_.masked_is_zero && is_replaced(key)) continue;
    const float weight = weights[key - seen.begin] / sum;
    const float* const v = v_ + key * args_.v_strides.row;
    int64_t i = 0;
    for (; i + kLanes <= args_.value_depth; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) y[i + lane] += weight * v[i + lane];
    }
    for (; i < args_.value_depth; ++i) y[i] += weight * v[i];
  }
}

void AttentionHead::cap(float* scores, int64_t count) const {
  scale_shift(scores, 1 / args_.softcap, 0, scores, count);
  unary(Unary::tanh, scores, scores, count);
  scale_shift(scores, args_.softcap, 0, scores, count);
}

bool AttentionHead::is_masked(const float* mask, int64_t count) const {
  if (!args_.masked_rows_are_zero || !mask) return false;
  const auto is_least = [](float value) { return value == -std::numeric_limits<float>::infinity(); };
  return args_.mask_column ? std::all_of(mask, mask + count, is_least) : is_least(*mask);
}

}  // namespace rh::compute
