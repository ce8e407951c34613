#include "providers/cpu/beams.h"

#include <algorithm>
#include <cmath>

#include "compute/reduce/row_math.h"

namespace rh::cpu {

namespace {

void take(std::vector<Continuation>& best, size_t count, const Continuation& next) {
  const bool full = best.size() == count;
  if (full && next.score <= best.back().score) return;
  const auto at = std::find_if(best.begin(), best.end(), [&](const Continuation& c) { return c.score < next.score; });
  best.insert(at, next);
  if (full) best.pop_back();
}

}  // namespace

std::vector<Continuation> best_continuations(std::span<const float> scores, int64_t tokens, int64_t count) {
  constexpr int64_t kBlock = 256;  // is looked through only where its largest score has a place
  std::vector<Continuation> best;
  best.reserve(static_cast<size_t>(count) + 1);
  const int64_t all = static_cast<int64_t>(scores.size());
  for (int64_t begin = 0; begin < all; begin += kBlock) {
    const int64_t size = std::min(kBlock, all - begin);
    float largest = 0;
    compute::reduce_rows(compute::Reduction::max, scores.data() + begin, &largest, 1, size);
    if (static_cast<int64_t>(best.size()) == count && largest <= best.back().score) continue;
    for (int64_t i = begin; i < begin + size; ++i) {
      take(best, static_cast<size_t>(count), {scores[static_cast<size_t>(i)], i / tokens, static_cast<int32_t>(i % tokens)});
    }
  }
  return best;
}

void FinishedSequences::add(std::vector<int32_t> tokens, float sum) {
  const float score = penalized(sum, static_cast<int64_t>(tokens.size()));
  if (full() && !(score > sequences_.back().score)) return;
  const auto at = std::find_if(sequences_.begin(), sequences_.end(), [&](const Sequence& s) { return s.score < score; });
  sequences_.insert(at, {std::move(tokens), score});
  if (sequences_.size() > size_) sequences_.pop_back();
}

float FinishedSequences::penalized(float sum, int64_t length) const { return sum / std::pow(static_cast<float>(length), length_penalty_); }

}  // namespace rh::cpu
