#include "ops/nn/embed_layer_normalization.h"

#include <algorithm>
#include <optional>

#include "compute/row_math.h"
#include "compute/vector_math.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class EmbedLayerNormalizationKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t>;

  explicit EmbedLayerNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::EmbedLayerNormalization>()) {}

  Status run(RunContext& context) const override {
    const Shape& ids = context.input(0).shape();
    if (ids.rank() != 2 || context.input(2).rank() != 2) {
      return error_status(ErrorCode::invalid_argument,
                          "EmbedLayerNormalization: input_ids has shape {} and word_embedding {}, expected [batch, "
                          "length] and [count, hidden size]",
                          ids.to_string(), context.input(2).shape().to_string());
    }
    const int64_t length = ids[1], size = context.input(2).shape()[1];
    for (int i : {5, 6}) {
      if (context.input(i).shape() == Shape{size}) continue;
      return error_status(ErrorCode::invalid_argument, "EmbedLayerNormalization: input {} has shape {}, expected [{}]", i,
                          context.input(i).shape().to_string(), size);
    }
    const Rows words = rows(context, 2, 0, "input_ids"), positions = rows(context, 3, 8, "position_ids"),
               segments = rows(context, 4, 1, "segment_ids");
    const DType dtype = context.input(2).dtype();
    const Shape shape{ids[0], length, size};
    const ConvertedOutput y(context, context.output(0, dtype, shape), DType::float32);
    std::optional<ConvertedOutput> sum;
    if (context.has_output(2)) sum.emplace(context, context.output(2, dtype, shape), DType::float32);
    if (context.has_output(1)) count_mask(context, ids);
    const float* gamma = converted(context, context.input(5), DType::float32).data<float>();
    const float* beta = converted(context, context.input(6), DType::float32).data<float>();
    const Cost cost{16.0 * static_cast<double>(size), 8.0 * static_cast<double>(size)};
    context.parallel().for_range(ids.elements(), cost, [&](Range part) {
      for (int64_t token = part.begin; token < part.end; ++token) {
        float* to = y.data<float>() + token * size;
        float* total = sum ? sum->data<float>() + token * size : to;
        compute::binary(compute::Binary::add, words.of(token, size), positions.of(token, size), total, size);
        if (segments.table) compute::binary(compute::Binary::add, total, segments.of(token, size), total, size);
        compute::layer_norm_rows(total, gamma, beta, op_.epsilon, to, nullptr, nullptr, 1, size);
      }
    });
    y.store(context.parallel());
    if (sum) sum->store(context.parallel());
    return {};
  }

 private:
  /// A table and which of its rows each token takes.
  struct Rows {
    const float* table = nullptr;
    const int32_t* ids = nullptr;  ///< null: in order, from the first on for each sequence
    int64_t period = 1;            ///< tokens after which the ids come again

    const float* of(int64_t token, int64_t size) const { return table + (ids ? ids[token % period] : token % period) * size; }
  };

  static Rows rows(RunContext& context, int table, int ids, const char* name) {
    if (!context.has_input(table)) return {};
    const Shape &tokens = context.input(0).shape(), &shape = context.input(table).shape();
    const int64_t size = context.input(2).shape()[1];
    if (shape.rank() != 2 || shape[1] != size || context.input(table).dtype() != context.input(2).dtype()) {
      fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: input {} has shape {}, expected [count, {}]", table, shape.to_string(),
           size);
    }
    Rows rows{.table = converted(context, context.input(table), DType::float32).data<float>(), .period = std::max<int64_t>(1, tokens[1])};
    if (!context.has_input(ids)) {
      if (tokens[1] > shape[0]) {
        fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: sequences have {} tokens, expected at most the {} rows of input {}",
             tokens[1], shape[0], table);
      }
      return rows;
    }
    const TensorView given = context.input(ids);
    const bool is_shared = ids == 8 && given.shape() == Shape{1, tokens[1]};
    if (!(given.shape() == tokens) && !is_shared) {
      fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: {} has shape {}, expected {}", name, given.shape().to_string(),
           tokens.to_string());
    }
    for (const int32_t id : given.span<int32_t>()) {
      if (id < 0 || id >= shape[0]) {
        fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: {} has {}, expected numbers in [0, {})", name, id, shape[0]);
      }
    }
    rows.ids = given.data<int32_t>();
    rows.period = std::max<int64_t>(1, given.elements());
    return rows;
  }

  static void count_mask(RunContext& context, const Shape& ids) {
    int32_t* counts = context.output(1, Shape{ids[0]}).data<int32_t>();
    std::fill_n(counts, ids[0], 0);
    if (!context.has_input(7)) return;
    if (!(context.input(7).shape() == ids)) {
      fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: mask has shape {}, expected {}", context.input(7).shape().to_string(),
           ids.to_string());
    }
    const int32_t* mask = context.input(7).data<int32_t>();
    for (int64_t i = 0; i < ids.elements(); ++i) counts[i / ids[1]] += mask[i] == 1;
  }

  ops::EmbedLayerNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(EmbedLayerNormalizationKernel)
