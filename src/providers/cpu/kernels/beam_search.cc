#include "ops/control_flow/beam_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compute/reduce/row_math.h"
#include "providers/cpu/beams.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/generation_request.h"
#include "providers/cpu/token_decoder.h"

namespace rh::cpu {

class BeamSearchKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t, float, Float16>;

  explicit BeamSearchKernel(const KernelInfo& info) : op_(info.attributes<ops::BeamSearch>()) {}

  Status run(RunContext& context) const override {
    constexpr GenerationRequest::Inputs kInputs{
        .max_length = 1, .min_length = 2, .repetition_penalty = 6, .vocabulary_mask = 7, .decoder_tokens = 10};
    const GenerationRequest request(op_.generation, context, kInputs);
    Search search(*this, context, request);
    TokenDecoder decoder(op_.generation, context, request.batch, search.beams, request.max_length);
    RH_RETURN_IF_ERROR(decoder.start(request.prompt, request.mask));
    search.prepare(context, decoder.width());
    if (context.has_output(4)) write_no_speech(context, request, decoder, search.beams);
    for (int64_t length = request.length();; ++length) {
      search.score(context, decoder, length);
      search.choose(length);
      if (search.done() || length + 1 == request.max_length) break;
      RH_RETURN_IF_ERROR(decoder.advance(search.tokens, search.from, search.sequences));
    }
    search.write(context);
    return {};
  }

 private:
  static constexpr int64_t kMostBeams = 128;

  // One run's beams. Rows are [batch, beams].
  struct Search {
    Search(const BeamSearchKernel& kernel, const RunContext& context, const GenerationRequest& request)
        : op(kernel.op_),
          request(request),
          beams(scalar_int(context, 3, "num_beams")),
          returned(scalar_int(context, 4, "num_return_sequences")) {
      if (beams < 1 || beams > kMostBeams) fail(ErrorCode::invalid_argument, "num_beams is {}, expected 1 to {}", beams, kMostBeams);
      if (returned < 1 || returned > beams) {
        fail(ErrorCode::invalid_argument, "num_return_sequences is {}, expected 1 to num_beams, which is {}", returned, beams);
      }
      const size_t rows = static_cast<size_t>(checked_product(request.batch, beams, "the rows of all beams"));
      sequences = request.sequences(beams);
      tokens.resize(rows);
      from.resize(rows);
      sums.resize(rows);
      // Beams of an item are equal at first: only one may win.
      for (size_t row = 0; row < rows; ++row) sums[row] = row % static_cast<size_t>(beams) == 0 ? 0 : -1e9f;
      ended.resize(static_cast<size_t>(request.batch));
      const float length_penalty = float_input(context, 5, 1, "length_penalty");
      finished.assign(static_cast<size_t>(request.batch), FinishedSequences(beams, length_penalty));
    }

    void prepare(RunContext& context, int64_t logits) {
      width = request.vocabulary(logits);
      if (width < 2) fail(ErrorCode::invalid_argument, "the decoder gives scores of {} tokens, expected 2 or more", width);
      const Shape shape{request.max_length - request.length(), request.batch, beams, width};
      scores.resize(static_cast<size_t>(checked_product(request.batch * beams, width, "scores")));
      if (context.has_output(2)) {
        all_scores = context.output(2, shape).data<float>();
        std::fill_n(all_scores, shape.elements(), 0.0f);
      }
      rules = request.rules(context, width);
      const float temperature = op.is_whisper ? float_input(context, 14, 1, "temperature") : 1;
      if (temperature > 0) rules.temperature = temperature;
      if (op.generation.model == ops::Generation::Model::whisper && context.has_input(11) &&
          scalar_int(context, 11, "logits_processor") == 1) {
        if (op.timestamps.first < 1 || op.timestamps.first >= width) {
          fail(ErrorCode::invalid_argument, "beginning_timestamp_token_id is {}, expected 1 to {}", op.timestamps.first, width - 1);
        }
        rules.timestamps = op.timestamps;
      }
    }

    void score(const RunContext& context, const TokenDecoder& decoder, int64_t length) {
      const double work = static_cast<double>(width) * 4;
      context.parallel().for_range(request.batch * beams, {work, work}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const std::span<float> row_scores(scores.data() + row * width, static_cast<size_t>(width));
          compute::softmax_rows(decoder.logits(row), row_scores.data(), 1, width, true);
          rules.apply(sequences[static_cast<size_t>(row)], row / beams, length == request.length(), row_scores);
          for (float& value : row_scores) value += sums[static_cast<size_t>(row)];
        }
      });
      if (!all_scores) return;
      const int64_t size = beams * width;
      for (int64_t item = 0; item < request.batch; ++item) {
        if (ended[static_cast<size_t>(item)]) continue;
        std::copy_n(scores.data() + item * size, size, all_scores + ((length - request.length()) * request.batch + item) * size);
      }
    }

    // Gives each beam its next token, and keeps what ends here.
    void choose(int64_t length) {
      for (int64_t item = 0; item < request.batch; ++item) {
        if (ended[static_cast<size_t>(item)]) {
          for (int64_t row = item * beams; row < (item + 1) * beams; ++row) set(row, row, static_cast<int32_t>(op.generation.pad), 0);
        } else {
          choose(item, length);
        }
      }
      std::vector<std::vector<int32_t>> next;
      for (size_t row = 0; row < from.size(); ++row) {
        next.push_back(sequences[static_cast<size_t>(from[row])]);
        next.back().push_back(tokens[row]);
      }
      sequences = std::move(next);
    }

    void choose(int64_t item, int64_t length) {
      const std::span<const float> item_scores(scores.data() + item * beams * width, static_cast<size_t>(beams * width));
      const std::vector<Continuation> best = best_continuations(item_scores, width, 2 * beams);
      FinishedSequences& done = finished[static_cast<size_t>(item)];
      int64_t chosen = 0;
      for (size_t rank = 0; rank < best.size() && chosen < beams; ++rank) {
        const int64_t row = item * beams + best[rank].beam;
        if (best[rank].token != op.generation.eos) {
          set(item * beams + chosen++, row, best[rank].token, best[rank].score);
        } else if (static_cast<int64_t>(rank) < beams) {
          done.add(sequences[static_cast<size_t>(row)], best[rank].score);
        }
      }
      ended[static_cast<size_t>(item)] = done.full() && (op.early_stopping || !done.can_improve(best.front().score, length));
    }

    void set(int64_t row, int64_t source, int32_t token, float sum) {
      const size_t i = static_cast<size_t>(row);
      from[i] = source;
      tokens[i] = token;
      sums[i] = sum;
    }

    bool done() const { return std::find(ended.begin(), ended.end(), false) == ended.end(); }

    void write(RunContext& context) {
      const MutableView y = context.output(0, {request.batch, returned, request.max_length});
      float* scores_out = context.has_output(1) ? context.output(1, {request.batch, returned}).data<float>() : nullptr;
      for (int64_t item = 0; item < request.batch; ++item) {
        FinishedSequences& done = finished[static_cast<size_t>(item)];
        for (int64_t row = item * beams; row < (item + 1) * beams && !ended[static_cast<size_t>(item)]; ++row) {
          done.add(sequences[static_cast<size_t>(row)], sums[static_cast<size_t>(row)]);
        }
        for (int64_t k = 0; k < returned; ++k) {
          const FinishedSequences::Sequence& sequence = done.sequences()[static_cast<size_t>(k)];
          request.write(sequence.tokens, y.data<int32_t>() + (item * returned + k) * request.max_length);
          if (scores_out) scores_out[item * returned + k] = sequence.score;
        }
      }
    }

    const ops::BeamSearch& op;
    const GenerationRequest& request;
    int64_t beams, returned, width = 0;
    std::vector<std::vector<int32_t>> sequences;
    std::vector<int32_t> tokens;
    std::vector<int64_t> from;
    std::vector<float> sums, scores;
    std::vector<bool> ended;
    std::vector<FinishedSequences> finished;
    ScoreRules rules;
    float* all_scores = nullptr;
  };

  // How likely it is after the first step that nobody speaks.
  void write_no_speech(RunContext& context, const GenerationRequest& request, const TokenDecoder& decoder, int64_t beams) const {
    const int64_t width = decoder.width();
    if (op_.no_speech < 0 || op_.no_speech >= width) {
      fail(ErrorCode::invalid_argument, "no_speech_token_id is {}, expected 0 to {} for output non_speech_probs", op_.no_speech, width - 1);
    }
    const MutableView y = context.output(4, {request.batch});
    std::vector<float> weights(static_cast<size_t>(width));
    for (int64_t item = 0; item < request.batch; ++item) {
      compute::softmax_rows(decoder.logits(item * beams), weights.data(), 1, width, false);
      y.data<float>()[item] = weights[static_cast<size_t>(op_.no_speech)];
    }
  }

  ops::BeamSearch op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BeamSearchKernel)
