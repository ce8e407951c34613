#include "ops/control_flow/greedy_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "compute/reduce/row_math.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/generation_request.h"
#include "providers/cpu/random_source.h"
#include "providers/cpu/token_decoder.h"

namespace rh::cpu {

class GreedySearchKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t>;

  explicit GreedySearchKernel(const KernelInfo& info) : op_(info.attributes<ops::GreedySearch>()), source_(info, std::nullopt) {}

  Status run(RunContext& context) const override {
    const GenerationRequest request(op_.generation, context,
                                    {.max_length = 1, .min_length = 2, .repetition_penalty = 3, .vocabulary_mask = 4});
    Draws draws(draw_seed(context));
    const int64_t batch = request.batch;
    TokenDecoder decoder(op_.generation, context, batch, 1, request.max_length);
    std::vector<std::vector<int32_t>> sequences = request.sequences(1);
    std::vector<int32_t> tokens(static_cast<size_t>(batch));
    std::vector<int64_t> rows(static_cast<size_t>(batch));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<bool> ended(static_cast<size_t>(batch));
    std::vector<float> scores;
    for (int64_t length = request.length(); length < request.max_length; ++length) {
      const bool is_first = length == request.length();
      RH_RETURN_IF_ERROR(is_first ? decoder.start(request.prompt, request.mask) : decoder.advance(tokens, rows, sequences));
      const int64_t width = request.vocabulary(decoder.width());
      const ScoreRules rules = score_rules(context, request, width);
      scores.resize(static_cast<size_t>(checked_product(batch, width, "scores")));
      for (int64_t i = 0; i < batch; ++i) {
        const size_t row = static_cast<size_t>(i);
        const std::span<float> row_scores = std::span(scores).subspan(row * static_cast<size_t>(width), static_cast<size_t>(width));
        std::copy_n(decoder.logits(i), width, row_scores.begin());
        rules.apply(sequences[row], i, is_first, row_scores);
        tokens[row] = static_cast<int32_t>(op_.samples ? draw(row_scores, draws) : likeliest(row_scores));
        if (ended[row] || tokens[row] == op_.generation.eos) {
          ended[row] = true;
          tokens[row] = static_cast<int32_t>(op_.generation.pad);
        }
      }
      if (std::find(ended.begin(), ended.end(), false) == ended.end()) break;
      for (size_t i = 0; i < sequences.size(); ++i) sequences[i].push_back(tokens[i]);
    }
    if (context.has_output(1)) {
      std::copy(scores.begin(), scores.end(), context.output(1, {batch, static_cast<int64_t>(scores.size()) / batch}).data<float>());
    }
    const MutableView y = context.output(0, {batch, request.max_length});
    for (int64_t i = 0; i < batch; ++i) request.write(sequences[static_cast<size_t>(i)], y.data<int32_t>() + i * request.max_length);
    return {};
  }

 private:
  // The generator and the distribution that ONNX Runtime draws from, so that a seed gives the same tokens.
  struct Draws {
    explicit Draws(uint32_t seed) : generator(seed) {}
    // In [0, 1): two numbers of 31 bits make one of 53.
    double next() {
      constexpr double kRange = static_cast<double>(std::minstd_rand0::max() - std::minstd_rand0::min()) + 1;
      const double low = static_cast<double>(generator() - std::minstd_rand0::min());
      const double high = static_cast<double>(generator() - std::minstd_rand0::min());
      return std::min((low + high * kRange) / (kRange * kRange), std::nextafter(1.0, 0.0));
    }
    std::minstd_rand0 generator;
  };

  uint32_t draw_seed(const RunContext& context) const {
    if (!op_.samples) return 1;
    return context.has_input(8) ? static_cast<uint32_t>(scalar_int(context, 8, "Sampling: seed")) : source_.next_seed();
  }

  ScoreRules score_rules(const RunContext& context, const GenerationRequest& request, int64_t width) const {
    ScoreRules rules = request.rules(context, width);
    if (!op_.samples) return rules;
    if (op_.min_tokens < 0 || op_.min_tokens >= width) {
      fail(ErrorCode::invalid_argument, "min_tokens_to_keep is {}, expected 0 to {}", op_.min_tokens, width - 1);
    }
    if (op_.temperature > 0) rules.temperature = op_.temperature;
    rules.presence_mask = mask_input(context, 7, {request.batch, width}, "presence_mask");
    rules.presence_penalty = op_.presence_penalty;
    return rules;
  }

  static int64_t likeliest(std::span<const float> scores) {
    float largest = 0;
    compute::reduce_rows(compute::Reduction::max, scores.data(), &largest, 1, static_cast<int64_t>(scores.size()));
    return std::find(scores.begin(), scores.end(), largest) - scores.begin();
  }

  int64_t draw(std::span<float> scores, Draws& draws) const {
    filter(scores);
    const int64_t count = static_cast<int64_t>(scores.size());
    std::vector<float> weights(scores.size());
    compute::softmax_rows(scores.data(), weights.data(), 1, count, false);
    std::vector<double> sums(scores.size());
    std::partial_sum(weights.begin(), weights.end(), sums.begin(), [](double sum, double weight) { return sum + weight; });
    const auto at = std::upper_bound(sums.begin(), sums.end(), draws.next() * sums.back());
    return std::min<int64_t>(at - sums.begin(), count - 1);
  }

  // Leaves the likeliest tokens that have the probability top_p together.
  void filter(std::span<float> scores) const {
    const size_t count = scores.size();
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    const bool falls = op_.keeps_crossing;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return falls ? scores[a] > scores[b] : scores[a] < scores[b]; });
    std::vector<float> weights(count);
    for (size_t i = 0; i < count; ++i) weights[i] = scores[order[i]];
    compute::softmax_rows(weights.data(), weights.data(), 1, static_cast<int64_t>(count), false);
    float sum = 0;
    const int64_t removable = static_cast<int64_t>(count) - op_.min_tokens;
    for (size_t i = 0; i < count; ++i) {
      if (falls && i > 0 && sum > op_.top_p) scores[order[i]] = op_.filter_value;
      sum += weights[i];
      if (!falls && static_cast<int64_t>(i) < removable && sum <= 1 - op_.top_p) scores[order[i]] = op_.filter_value;
    }
  }

  ops::GreedySearch op_;
  RandomSource source_;  ///< where no seed is given
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GreedySearchKernel)
