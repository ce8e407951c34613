#include "ops/nn/embed_layer_normalization.h"

#include <algorithm>
#include <optional>

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "compute/scratch.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/quantization.h"

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
    const Rows words = rows(context, 2, 0, "input_ids"), positions = rows(context, 3, op_.position_ids(), "position_ids"),
               segments = rows(context, 4, 1, "segment_ids");
    const DType dtype = op_.quantized ? DType::float32 : context.input(2).dtype();
    const Shape shape{ids[0], length, size};
    const ConvertedOutput y(context, context.output(0, dtype, shape), DType::float32);
    std::optional<ConvertedOutput> sum;
    if (context.has_output(2)) sum.emplace(context, context.output(2, dtype, shape), DType::float32);
    if (context.has_output(1)) count_mask(context, ids);
    const float *gamma = parameters(context, 5), *beta = parameters(context, 6);
    const Cost cost{16.0 * static_cast<double>(size), 8.0 * static_cast<double>(size)};
    context.parallel().for_range(ids.elements(), cost, [&](Range part) {
      auto* row = op_.quantized
                      ? static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(size) * sizeof(float)))
                      : nullptr;
      for (int64_t token = part.begin; token < part.end; ++token) {
        float* to = y.data<float>() + token * size;
        float* total = sum ? sum->data<float>() + token * size : to;
        std::copy_n(words.of(token, size, total), size, total);
        compute::binary(compute::Binary::add, total, positions.of(token, size, row), total, size);
        if (segments.is_given) compute::binary(compute::Binary::add, total, segments.of(token, size, row), total, size);
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
    bool is_given = false;
    const float* table = nullptr;  ///< null: codes
    TensorView codes;
    TensorScale scale;
    const int32_t* ids = nullptr;  ///< null: in order, from the first on for each sequence
    int64_t period = 1;            ///< tokens after which the ids come again

    /// The token's row; that of codes is made in `own`.
    const float* of(int64_t token, int64_t size, float* own) const {
      const int64_t at = (ids ? ids[token % period] : token % period) * size;
      if (table) return table + at;
      dequantize(codes, scale, at, size, own);
      return own;
    }
  };

  static void dequantize(const TensorView& codes, const TensorScale& scale, int64_t first, int64_t count, float* out) {
    if (codes.dtype() == DType::int8) {
      compute::dequantize(codes.data<int8_t>() + first, scale.scale, scale.zero_point, out, count);
    } else {
      compute::dequantize(codes.data<uint8_t>() + first, scale.scale, scale.zero_point, out, count);
    }
  }

  TensorScale scale_of(const RunContext& context, int input) const {
    TensorScale scale;
    const Status status = TensorScale::read(context, op_.scale(input), op_.zero_point(input), "a scale or zero point", scale);
    if (!status.ok()) throw Error(status.code(), std::string(status.message()));
    return scale;
  }

  const float* parameters(RunContext& context, int input) const {
    const TensorView view = context.input(input);
    if (!op_.quantized) return converted(context, view, DType::float32).data<float>();
    float* floats = context.scratch_array<float>(view.elements());
    dequantize(view, scale_of(context, input), 0, view.elements(), floats);
    return floats;
  }

  Rows rows(RunContext& context, int table, int ids, const char* name) const {
    if (!context.has_input(table)) return {};
    const Shape &tokens = context.input(0).shape(), &shape = context.input(table).shape();
    const int64_t size = context.input(2).shape()[1];
    if (shape.rank() != 2 || shape[1] != size || context.input(table).dtype() != context.input(2).dtype()) {
      fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: input {} has shape {}, expected [count, {}]", table, shape.to_string(),
           size);
    }
    Rows rows{.is_given = true, .codes = context.input(table), .period = std::max<int64_t>(1, tokens[1])};
    if (op_.quantized) {
      rows.scale = scale_of(context, table);
    } else {
      rows.table = converted(context, rows.codes, DType::float32).data<float>();
    }
    if (!context.has_input(ids)) {
      if (tokens[1] > shape[0]) {
        fail(ErrorCode::invalid_argument, "EmbedLayerNormalization: sequences have {} tokens, expected at most the {} rows of input {}",
             tokens[1], shape[0], table);
      }
      return rows;
    }
    const TensorView given = context.input(ids);
    const bool is_shared = ids == op_.position_ids() && given.shape() == Shape{1, tokens[1]};
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
