#include "providers/cpu/beams.h"

#include <algorithm>
#include <cmath>

namespace rh::cpu {

std::vector<Continuation> best_continuations(std::span<const float> scores, int64_t tokens, int64_t count) {
  std::vector<Continuation> best;
  best.reserve(static_cast<size_t>(count) + 1);
  const int64_t all = static_cast<int64_t>(scores.size());
  for (int64_t i = 0; i < all; ++i) {
    const float score = scores[static_cast<size_t>(i)];
    const bool full = static_cast<int64_t>(best.size()) == count;
    if (full && score <= best.back().score) continue;
    const auto at = std::find_if(best.begin(), best.end(), [&](const Continuation& c) { return c.score < score; });
    best.insert(at, {score, i / tokens, static_cast<int32_t>(i % tokens)});
    if (full) best.pop_back();
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
