#include "compute/attention/attention_head.h"

#include <cmath>
#include <limits>

#include "compute/elementwise/vector_math.h"

namespace rh::compute {
namespace {

constexpr double kLog2E = 1.4426950408889634;

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

float AttentionHead::finish(int64_t query, float sum) const {
  const Range seen = args_.keys_of(batch_, query);
  if (seen.size() > 0 && sum != 0 && !std::isnan(sum)) return 1 / sum;
  const bool is_zero = seen.size() <= 0 || args_.nan_is_zero || is_masked(mask_of(query, seen.begin), seen.size());
  std::fill_n(row_of_y(query), args_.value_depth, is_zero ? 0.0f : std::numeric_limits<float>::quiet_NaN());
  return 1;
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
