#include "ops/text/word_conv_embedding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class WordConvEmbeddingKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t>;

  explicit WordConvEmbeddingKernel(const KernelInfo& info) : op_(info.attributes<ops::WordConvEmbedding>()) {}

  Status run(RunContext& context) const override {
    const Shape &words = context.input(0).shape(), &weights = context.input(1).shape(), &bias = context.input(2).shape(),
                &characters = context.input(3).shape();
    const bool fits = words.rank() == 2 && weights.rank() == 4 && weights[1] == 1 && bias == Shape{weights[0]} && characters.rank() == 2 &&
                      characters[1] == weights[3] && weights[2] >= 1 && weights[2] <= words[1] &&
                      (op_.filters == 0 || op_.filters == weights[0]) && (op_.width == 0 || op_.width == weights[2]) &&
                      (op_.embedding == 0 || op_.embedding == weights[3]);
    if (!fits) {
      return error_status(
          ErrorCode::invalid_argument,
          "WordConvEmbedding: the inputs have shapes {}, {}, {} and {}, expected words [count, characters], weights [filters, 1, "
          "width, embedding] no wider than a word and as the attributes say, a bias [filters] and [vocabulary, embedding]",
          words.to_string(), weights.to_string(), bias.to_string(), characters.to_string());
    }
    float* y = context.output(0, DType::float32, Shape{words[0], weights[0]}).data<float>();
    const double work = 2.0 * static_cast<double>(words[1]) * static_cast<double>(weights.elements());
    context.parallel().for_range(words[0], Cost{.bytes = 0, .operations = work}, [&](Range range) {
      std::vector<float> embedded;
      for (int64_t i = range.begin; i < range.end; ++i) {
        embed(context, i, words[1], weights[2], embedded);
        pool(context, embedded, y + i * weights[0]);
      }
    });
    return {};
  }

 private:
  /// The embeddings of as many characters as word `i` has (as those that are not 0, at least `width`); none where it begins with 0.
  static void embed(const RunContext& context, int64_t i, int64_t characters, int64_t width, std::vector<float>& embedded) {
    const int32_t* word = context.input(0).data<int32_t>() + i * characters;
    const TensorView table = context.input(3);
    const int64_t size = table.shape()[1];
    embedded.clear();
    if (word[0] == 0) return;
    const int64_t length = std::max<int64_t>(width, characters - std::count(word, word + characters, 0));
    for (int64_t k = 0; k < length; ++k) {
      if (word[k] < 0) fail(ErrorCode::invalid_argument, "WordConvEmbedding: character {} of word {} is {}", k, i, word[k]);
      const float* row = table.data<float>() + checked_index(word[k], table.shape()[0], "WordConvEmbedding: a character") * size;
      embedded.insert(embedded.end(), row, row + size);
    }
  }

  static void pool(const RunContext& context, const std::vector<float>& embedded, float* y) {
    const Shape& weights = context.input(1).shape();
    const float *filter = context.input(1).data<float>(), *bias = context.input(2).data<float>();
    const int64_t window = weights[2] * weights[3], length = static_cast<int64_t>(embedded.size());
    for (int64_t f = 0; f < weights[0]; ++f, filter += window) {
      float most = embedded.empty() ? 0 : std::numeric_limits<float>::lowest();
      for (int64_t at = 0; at + window <= length; at += weights[3]) {
        double sum = static_cast<double>(bias[f]);
        for (int64_t k = 0; k < window; ++k)
          sum += static_cast<double>(filter[k]) * static_cast<double>(embedded[static_cast<size_t>(at + k)]);
        most = std::max(most, static_cast<float>(std::tanh(sum)));
      }
      y[f] = most;
    }
  }

  ops::WordConvEmbedding op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(WordConvEmbeddingKernel)
