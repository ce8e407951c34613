#include "ops/nn/skip_layer_normalization.h"

#include <algorithm>
#include <optional>

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class SkipLayerNormalizationKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit SkipLayerNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::SkipLayerNormalization>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), skip = context.input(1);
    RH_RETURN_IF_ERROR(check(context));
    const int64_t length = x.shape()[x.rank() - 1], rows = x.shape().product(0, x.rank() - 1);
    Shape statistics = x.shape();
    statistics[x.rank() - 1] = 1;
    const auto statistic = [&](int i) { return context.has_output(i) ? context.output(i, statistics).data<float>() : nullptr; };
    float *means = statistic(1), *deviations = statistic(2);
    if (op_.rms && means) std::fill_n(means, rows, 0.0f);
    const ConvertedOutput y(context, 0, x.shape(), DType::float32);
    std::optional<ConvertedOutput> sum;
    if (context.has_output(3)) sum.emplace(context, 3, x.shape(), DType::float32);
    if (x.elements() == 0) return {};
    const auto floats = [&](int i) {
      return i >= 0 && context.has_input(i) ? converted(context, context.input(i), DType::float32).data<float>() : nullptr;
    };
    const float *from = floats(0), *other = floats(1), *scale = floats(2), *beta = floats(op_.beta()), *bias = floats(op_.bias());
    const int64_t skip_rows = skip.elements() / length;
    const Cost cost{16.0 * static_cast<double>(length), 8.0 * static_cast<double>(length)};
    context.parallel().for_range(rows, cost, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        float* to = y.data<float>() + row * length;
        float* total = sum ? sum->data<float>() + row * length : to;
        compute::binary(compute::Binary::add, from + row * length, other + row % skip_rows * length, total, length);
        if (bias) compute::binary(compute::Binary::add, total, bias, total, length);
        if (op_.rms)
          compute::rms_norm_rows(total, scale, op_.epsilon, to, deviations ? deviations + row : nullptr, 1, length);
        else
          compute::layer_norm_rows(total, scale, beta, op_.epsilon, to, means ? means + row : nullptr,
                                   deviations ? deviations + row : nullptr, 1, length);
      }
    });
    y.store(context.parallel());
    if (sum) sum->store(context.parallel());
    return {};
  }

 private:
  Status check(const RunContext& context) const {
    const TensorView x = context.input(0), skip = context.input(1);
    const int rank = x.rank(), extra = rank - skip.rank();
    if (rank < 2) {
      return error_status(ErrorCode::invalid_argument, "SkipLayerNormalization: input has shape {}, expected at least two dimensions",
                          x.shape().to_string());
    }
    // Leading dimensions of the skip may be 1 or left out.
    bool fits = extra >= 0 && skip.rank() >= 2 && skip.dtype() == x.dtype(), stretched = true;
    for (int i = 0; fits && i < skip.rank(); ++i) {
      const int64_t size = skip.shape()[i];
      stretched = stretched && size == 1 && i < skip.rank() - 2;
      fits = size == x.shape()[i + extra] || stretched;
    }
    if (!fits) {
      return error_status(ErrorCode::invalid_argument,
                          "SkipLayerNormalization: skip has shape {}, expected that of the input {}, or its last "
                          "dimensions",
                          skip.shape().to_string(), x.shape().to_string());
    }
    for (int i : {2, op_.beta(), op_.bias()}) {
      if (i < 0 || !context.has_input(i) || context.input(i).shape() == Shape{x.shape()[rank - 1]}) continue;
      return error_status(ErrorCode::invalid_argument, "SkipLayerNormalization: input {} has shape {}, expected [{}]", i,
                          context.input(i).shape().to_string(), x.shape()[rank - 1]);
    }
    return {};
  }

  ops::SkipLayerNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SkipLayerNormalizationKernel)
