#include "ops/text/word_conv_embedding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/run_packing.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class WordConvEmbeddingKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t>;

  explicit WordConvEmbeddingKernel(const KernelInfo& info) : op_(info.attributes<ops::WordConvEmbedding>()) {
    const Tensor* filters = info.constant_input(1);
    if (!filters || filters->dtype() != DType::float32 || filters->shape().rank() != 4 || filters->elements() == 0) return;
    filters_shape_ = filters->shape();
    filters_ = packed(filters->view());
  }

  bool owns_constant(int input) const override { return input == 1 && !filters_.empty(); }
  size_t packed_bytes() const override { return filters_.bytes(); }

  Status run(RunContext& context) const override {
    const Shape &words = context.input(0).shape(), &weights = filters_.empty() ? context.input(1).shape() : filters_shape_,
                &bias = context.input(2).shape(), &characters = context.input(3).shape();
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
    std::optional<RunPacking> packing;
    if (filters_.empty()) packing.emplace(context);
    const compute::PackedMatrix<float> of_run = packing ? packed(context.input(1)) : compute::PackedMatrix<float>();
    const compute::PackedMatrix<float>& filters = filters_.empty() ? of_run : filters_;
    context.parallel().for_range(words[0], Cost{.bytes = 0, .operations = work}, [&](Range range) {
      const std::span<float> memory = thread_list<float>(ThreadList::first, words[1] * weights[3]);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const std::span<const float> embedded = embed(context, i, words[1], weights[2], memory);
        pool(filters, context.input(2).data<float>(), weights[3], embedded, y + i * weights[0]);
      }
    });
    return {};
  }

 private:
  /// The embeddings of as many characters as word `i` has (as those that are not 0, at least `width`); none where it begins with 0.
  static std::span<const float> embed(const RunContext& context, int64_t i, int64_t characters, int64_t width, std::span<float> memory) {
    const int32_t* word = context.input(0).data<int32_t>() + i * characters;
    const TensorView table = context.input(3);
    const int64_t size = table.shape()[1];
    if (word[0] == 0) return {};
    const int64_t length = std::max<int64_t>(width, characters - std::count(word, word + characters, 0));
    for (int64_t k = 0; k < length; ++k) {
      if (word[k] < 0) fail(ErrorCode::invalid_argument, "WordConvEmbedding: character {} of word {} is {}", k, i, word[k]);
      const float* row = table.data<float>() + checked_index(word[k], table.shape()[0], "WordConvEmbedding: a character") * size;
      std::copy_n(row, size, memory.begin() + k * size);
    }
    return memory.first(static_cast<size_t>(length * size));
  }

  static compute::PackedMatrix<float> packed(const TensorView& filters) {
    const Shape& shape = filters.shape();
    return {filters.data<float>(), shape[2] * shape[3], shape[0], true};
  }

  /// The largest of the filters over all windows, each of which lies `step` floats behind the one before: of NaNs alone the lowest number.
  static void pool(const compute::PackedMatrix<float>& filters, const float* bias, int64_t step, std::span<const float> embedded,
                   float* y) {
    const int64_t count = filters.n(), length = static_cast<int64_t>(embedded.size());
    if (embedded.empty()) {
      std::fill_n(y, count, 0.0f);
      return;
    }
    const int64_t windows = (length - filters.k()) / step + 1, stride = (count + kAtOnce - 1) / kAtOnce * kAtOnce;
    const std::span<float> sums = thread_list<float>(ThreadList::second, windows * stride);
    compute::GemmArgs<float> args{.m = windows, .n = count, .k = filters.k(), .lda = step, .ldc = stride};
    args.epilogue.bias_kind = compute::BiasKind::per_column;
    args.epilogue.bias = bias;
    compute::gemm(args, embedded.data(), filters, sums.data(), Parallel());
    for (int64_t f = 0; f < count; f += kAtOnce) {
      float most[kAtOnce];
      largest(sums.data() + f, windows, stride, most);
      std::copy_n(most, std::min(kAtOnce, count - f), y + f);
    }
    compute::unary(compute::Unary::tanh, y, y, count);
    for (int64_t f = 0; f < count; ++f) {
      if (y[f] == -1 && is_nan(sums.data() + f, windows, stride)) y[f] = kLowest;
    }
  }

  /// Of kAtOnce columns, NaNs aside.
  static void largest(const float* x, int64_t rows, int64_t stride, float* most) {
    float found[kAtOnce];
    std::fill_n(found, kAtOnce, kLowest);
    for (int64_t i = 0; i < rows; ++i, x += stride) {
      for (int64_t j = 0; j < kAtOnce; ++j) found[j] = x[j] > found[j] ? x[j] : found[j];
    }
    std::copy_n(found, kAtOnce, most);
  }

  static bool is_nan(const float* x, int64_t rows, int64_t stride) {
    bool all = true;
    for (int64_t i = 0; i < rows; ++i) all &= std::isnan(x[i * stride]);
    return all;
  }

  static constexpr int64_t kAtOnce = 16;
  static constexpr float kLowest = std::numeric_limits<float>::lowest();
  Shape filters_shape_;
  compute::PackedMatrix<float> filters_;
  ops::WordConvEmbedding op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(WordConvEmbeddingKernel)
