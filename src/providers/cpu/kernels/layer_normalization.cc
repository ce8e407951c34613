#include <cmath>

#include "compute/row_math.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/float_rows.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// LayerNormalization and RMSNormalization over rows formed by the axes from `axis` on.
class LayerNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit LayerNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::LayerNormalization>()) {}

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int axis = normalize_axis(op_.axis, x.rank());
    const int64_t rows = x.shape().product(0, axis), length = x.shape().product(axis, x.rank());
    Shape normalized(x.shape().begin() + axis, x.shape().end());
    for (int i = 1; i <= 2; ++i) {
      if (context.has_input(i) && !(broadcast(context.input(i).shape(), normalized) == normalized)) {
        return error_status(ErrorCode::invalid_argument, "LayerNormalization: input {} has shape {}, expected one that broadcasts to {}", i,
                            context.input(i).shape().to_string(), normalized.to_string());
      }
    }
    Shape statistics = x.shape();
    for (int i = axis; i < x.rank(); ++i) statistics[i] = 1;
    float* means = context.has_output(1) ? statistic(context, 1, statistics) : nullptr;
    float* deviations = context.has_output(2) ? statistic(context, 2, statistics) : nullptr;
    const MutableView result = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    // RMSNormalization gives the type of its scale, which may be another than the data's.
    const bool same = result.dtype() == x.dtype();
    const MutableView y = same ? result : MutableView(x.dtype(), x.shape(), context.scratch(x.bytes()));
    if (is_float_or_half(x.dtype()))
      run_float(context, x, y, rows, length, normalized, means, deviations);
    else
      run_double(context, x.data<double>(), y.data<double>(), rows, length, normalized, means, deviations);
    if (!same) convert(context.parallel(), y, result);
    return {};
  }

 private:
  void run_double(RunContext& context, const double* x, double* y, int64_t rows, int64_t length, const Shape& normalized, float* means,
                  float* deviations) const {
    const std::vector<double> scale = parameter<double>(context, 1, normalized), bias = parameter<double>(context, 2, normalized);
    context.parallel().for_range(rows, {16.0 * static_cast<double>(length), 6.0 * static_cast<double>(length)}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        const double inverse = normalize(x + row * length, y + row * length, length, scale, bias, means ? means + row : nullptr);
        if (deviations) deviations[row] = static_cast<float>(inverse);
      }
    });
  }

  // Returns 1 / deviation.
  double normalize(const double* x, double* y, int64_t length, const std::vector<double>& scale, const std::vector<double>& bias,
                   float* mean_out) const {
    double mean = 0, variance = 0;
    if (!op_.rms) {
      for (int64_t i = 0; i < length; ++i) mean += x[i];
      mean /= static_cast<double>(length);
    }
    for (int64_t i = 0; i < length; ++i) variance += (x[i] - mean) * (x[i] - mean);
    const double inverse = 1 / std::sqrt(variance / static_cast<double>(length) + static_cast<double>(op_.epsilon));
    for (int64_t i = 0; i < length; ++i) {
      const size_t k = static_cast<size_t>(i);
      y[i] = (x[i] - mean) * inverse * scale[k] + (bias.empty() ? 0 : bias[k]);
    }
    if (mean_out) *mean_out = static_cast<float>(mean);
    return inverse;
  }

  void run_float(RunContext& context, const TensorView& x, const MutableView& y, int64_t rows, int64_t length, const Shape& normalized,
                 float* means, float* deviations) const {
    std::vector<float> own_scale, own_bias;
    const float* scale = float_parameter(context, 1, normalized, own_scale);
    const float* bias = float_parameter(context, 2, normalized, own_bias);
    const Cost cost{2.0 * sizeof(float) * static_cast<double>(length), 6.0 * static_cast<double>(length)};
    for_float_rows(context.parallel(), x, y, rows, length, cost, [&](const float* from, float* to, Range part) {
      if (op_.rms) {
        compute::rms_norm_rows(from, scale, op_.epsilon, to, part.size(), length);
      } else {
        compute::layer_norm_rows(from, scale, bias, op_.epsilon, to, means ? means + part.begin : nullptr,
                                 deviations ? deviations + part.begin : nullptr, part.size(), length);
      }
    });
  }

  // The parameter itself where it has the normalised shape (widened if need be), else a broadcast copy in `own`; null where a bias is
  // left out.
  static const float* float_parameter(RunContext& context, int input, const Shape& normalized, std::vector<float>& own) {
    if (context.has_input(input) && is_float_or_half(context.input(input).dtype()) &&
        context.input(input).elements() == normalized.elements()) {
      return converted(context, context.input(input), DType::float32).data<float>();
    }
    own = parameter<float>(context, input, normalized);
    return own.empty() ? nullptr : own.data();
  }

  // Scale or bias, broadcast to the normalised shape; a scale that is left out is 1.
  template <typename C>
  static std::vector<C> parameter(RunContext& context, int input, const Shape& normalized) {
    const int64_t length = normalized.elements();
    if (!context.has_input(input)) return input == 1 ? std::vector<C>(static_cast<size_t>(length), C(1)) : std::vector<C>();
    const TensorView view = context.input(input);
    std::vector<C> values(static_cast<size_t>(length));
    if (view.elements() == length && view.dtype() == dtype_of<C>) {
      std::copy_n(view.data<C>(), length, values.begin());
      return values;
    }
    const Shape strides = strides_of(view.shape());
    const int offset = normalized.rank() - view.rank();
    for (int64_t i = 0; i < length; ++i) {
      int64_t rest = i, index = 0;
      for (int k = normalized.rank() - 1; k >= 0; --k) {
        const int64_t at = rest % normalized[k];
        rest /= normalized[k];
        if (k >= offset && view.shape()[k - offset] != 1) index += at * strides[k - offset];
      }
      values[static_cast<size_t>(i)] = static_cast<C>(element_as_double(view, index));
    }
    return values;
  }

  float* statistic(RunContext& context, int output, const Shape& shape) const {
    return context.output(output, DType::float32, shape).data<float>();
  }

  ops::LayerNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LayerNormalizationKernel)
