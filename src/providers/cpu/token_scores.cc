#include "providers/cpu/token_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rh::cpu {

namespace {

constexpr float kNever = std::numeric_limits<float>::lowest();

void forbid(std::span<float> scores, int64_t first, int64_t last) {
  const int64_t size = static_cast<int64_t>(scores.size());
  for (int64_t i = std::clamp<int64_t>(first, 0, size); i < std::clamp<int64_t>(last, 0, size); ++i)
    scores[static_cast<size_t>(i)] = kNever;
}

void forbid_token(std::span<float> scores, int64_t token) {
  if (token >= 0 && token < static_cast<int64_t>(scores.size())) scores[static_cast<size_t>(token)] = kNever;
}

void forbid_masked(std::span<const int32_t> mask, std::span<float> scores) {
  for (size_t i = 0; i < scores.size(); ++i) {
    if (mask[i] == 0) scores[i] = kNever;
  }
}

void penalize_repetition(std::span<const int32_t> sequence, float penalty, std::span<float> scores) {
  std::vector<int32_t> tokens(sequence.begin(), sequence.end());
  std::sort(tokens.begin(), tokens.end());
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (int32_t token : tokens) {
    if (token < 0 || static_cast<size_t>(token) >= scores.size()) continue;
    float& score = scores[static_cast<size_t>(token)];
    score = score < 0 ? score * penalty : score / penalty;
  }
}

// Tokens that followed the last `ngram` - 1 ones before.
void forbid_repeated(std::span<const int32_t> sequence, int64_t ngram, std::span<float> scores) {
  if (ngram <= 0 || ngram > static_cast<int64_t>(sequence.size())) return;
  const size_t prefix = static_cast<size_t>(ngram - 1);
  const std::span<const int32_t> last = sequence.last(prefix);
  for (size_t i = 0; i + prefix < sequence.size(); ++i) {
    if (std::equal(last.begin(), last.end(), sequence.begin() + static_cast<std::ptrdiff_t>(i))) {
      forbid_token(scores, sequence[i + prefix]);
    }
  }
}

// The logarithm of the sum of the exponentials of what is not forbidden.
float log_sum(std::span<const float> scores) {
  if (scores.empty()) return kNever;
  const float largest = *std::max_element(scores.begin(), scores.end());
  float sum = 0;
  for (float score : scores) {
    if (score > kNever) sum += std::exp(score - largest);
  }
  return sum > 0 ? std::log(sum) + largest : kNever;
}

void apply_timestamps(const ops::Timestamps& rules, std::span<const int32_t> sequence, int64_t eos, std::span<float> scores) {
  constexpr int64_t kLatestFirst = 50;  // the first time is at most that many steps from the beginning
  const auto is_time = [&](int32_t token) { return token >= rules.first; };
  const int64_t size = static_cast<int64_t>(scores.size()), length = static_cast<int64_t>(sequence.size());
  const auto first = std::find_if(sequence.begin(), sequence.end(), is_time);
  const int64_t begin = std::min<int64_t>(first - sequence.begin() + 1, length);
  for (int64_t token : {rules.no_timestamps, rules.start_of_lm}) forbid_token(scores, token);
  for (int64_t token : {rules.start, rules.transcribe, rules.translate}) {
    if (length > begin) forbid_token(scores, token);
  }
  const bool last = length > 0 && is_time(sequence.back());
  const bool before = length <= begin || is_time(sequence[static_cast<size_t>(length - 2)]);
  if (last && before) forbid(scores, rules.first, size);
  if (last && !before) forbid(scores, 0, eos);
  const auto latest = std::find_if(sequence.rbegin(), sequence.rend(), is_time);
  if (latest != sequence.rend()) forbid(scores, rules.first, last && !before ? *latest : static_cast<int64_t>(*latest) + 1);
  if (length == begin) forbid(scores, rules.first + kLatestFirst + 1, size);
  const size_t times = static_cast<size_t>(std::clamp<int64_t>(rules.first, 0, size));
  const std::span<float> texts = scores.first(times);
  if (!texts.empty() && log_sum(scores.subspan(times)) > *std::max_element(texts.begin(), texts.end())) forbid(scores, 0, rules.first);
}

}  // namespace

void ScoreRules::apply(std::span<const int32_t> sequence, int64_t batch, bool is_first_step, std::span<float> scores) const {
  const size_t row = static_cast<size_t>(batch) * scores.size();
  if (repetition_penalty != 1) penalize_repetition(sequence, repetition_penalty, scores);
  forbid_repeated(sequence, no_repeat_ngram, scores);
  if (!vocabulary_mask.empty()) forbid_masked(vocabulary_mask, scores);
  if (is_first_step && !prefix_mask.empty()) forbid_masked(prefix_mask.subspan(row), scores);
  if (static_cast<int64_t>(sequence.size()) < min_length) forbid_token(scores, eos);
  if (temperature != 1) {
    for (float& score : scores) score /= temperature;
  }
  if (!presence_mask.empty()) {
    for (size_t i = 0; i < scores.size(); ++i) scores[i] -= static_cast<float>(presence_mask[row + i]) * presence_penalty;
  }
  if (timestamps) apply_timestamps(*timestamps, sequence, eos, scores);
  std::replace_if(scores.begin(), scores.end(), [](float score) { return std::isnan(score); }, kNever);
}

}  // namespace rh::cpu
