#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/reduce/row_math.h"
#include "compute/scratch.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/float_rows.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// LayerNormalization and RMSNormalization over rows formed by the axes from `axis` on, ChannelNormalization over columns.
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
    if (op_.of_channels) return run_channels(context, x);
    const int axis = normalize_axis(op_.axis, x.rank());
    const int64_t rows = x.shape().product(0, axis), length = x.shape().product(axis, x.rank());
    // Parameters of the normalised axes serve every row; others are spread over all of them.
    const Shape normalized(x.shape().begin() + axis, x.shape().end());
    Parameters shape{normalized, 0};
    for (int i = 1; i <= 2; ++i) {
      if (!context.has_input(i) || broadcast(context.input(i).shape(), normalized) == normalized) continue;
      if (!(broadcast(context.input(i).shape(), x.shape()) == x.shape())) {
        return error_status(ErrorCode::invalid_argument, "LayerNormalization: input {} has shape {}, expected one that broadcasts to {}", i,
                            context.input(i).shape().to_string(), x.shape().to_string());
      }
      shape = {x.shape(), length};
    }
    Shape statistics = x.shape();
    for (int i = axis; i < x.rank(); ++i) statistics[i] = 1;
    // Without a mean, 1 / deviation comes first.
    const int deviation_output = op_.rms ? 1 : 2;
    float* means = !op_.rms && context.has_output(1) ? statistic(context, 1, statistics) : nullptr;
    float* deviations = context.has_output(deviation_output) ? statistic(context, deviation_output, statistics) : nullptr;
    const auto finish = [&] {
      if (op_.stash_type == DType::float32) return;
      if (means) convert(context.parallel(), {DType::float32, statistics, means}, context.output(1, op_.stash_type, statistics));
      if (deviations)
        convert(context.parallel(), {DType::float32, statistics, deviations}, context.output(deviation_output, op_.stash_type, statistics));
    };
    const MutableView result = context.output(0, x.shape());
    if (x.elements() == 0) {
      // Rows of nothing: a mean and a variance of 0.
      if (means) std::fill_n(means, rows, 0.0f);
      if (deviations) std::fill_n(deviations, rows, 1 / std::sqrt(op_.epsilon));
      finish();
      return {};
    }
    // RMSNormalization gives the type of its scale, which may be another than the data's.
    const bool same = result.dtype() == x.dtype();
    const MutableView y = same ? result : MutableView(x.dtype(), x.shape(), context.scratch(x.bytes()));
    if (is_float_or_half(x.dtype()))
      run_float(context, x, y, rows, length, shape, means, deviations);
    else
      run_double(context, x.data<double>(), y.data<double>(), rows, length, shape, means, deviations);
    if (!same) convert(context.parallel(), y, result);
    finish();
    return {};
  }

 private:
  Status run_channels(RunContext& context, const TensorView& x) const {
    const int64_t channels = x.rank() > 1 ? x.shape()[1] : 0, plane = x.rank() > 1 ? x.shape().product(2, x.rank()) : 0;
    const auto fits = [&](int i) { return context.input(i).dtype() == DType::float32 && context.input(i).elements() == channels; };
    if (x.dtype() != DType::float32 || x.rank() < 2 || !fits(1) || (context.has_input(2) && !fits(2))) {
      return error_status(ErrorCode::invalid_argument,
                          "ChannelNormalization: X is {} {}, expected [N, C, ...] of floats with a scale [C] and a bias [C]",
                          to_string(x.dtype()), x.shape().to_string());
    }
    RH_RETURN_IF_ERROR(check_slopes(op_.activation, channels));
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    const compute::Activation activation = compute_activation(op_.activation);
    const float *scale = context.input(1).data<float>(), *bias = context.has_input(2) ? context.input(2).data<float>() : nullptr;
    const int64_t width = compute::layer_norm_columns_width(), strips = (plane + width - 1) / width;
    const double values = static_cast<double>(channels * std::min(plane, width));
    const double operations = activation.kind == compute::ActivationKind::none ? 6 : 26;
    context.parallel().for_range(x.shape()[0] * strips, {2.0 * sizeof(float) * values, operations * values}, [&](Range part) {
      float* memory = compute::scratch_floats(compute::ScratchSlot::row, channels * width);
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t column = i % strips * width, at = i / strips * channels * plane + column;
        compute::layer_norm_columns(x.data<float>() + at, scale, bias, op_.epsilon, activation, y.data<float>() + at, plane, channels,
                                    std::min(width, plane - column), memory);
      }
    });
    return {};
  }

  /// The shape that scale and bias are broadcast to, and how far those of one row lie from those of the next.
  struct Parameters {
    Shape shape;
    int64_t row_stride;
  };

  void run_double(RunContext& context, const double* x, double* y, int64_t rows, int64_t length, const Parameters& parameters, float* means,
                  float* deviations) const {
    const double *scale = parameter<double>(context, 1, parameters.shape), *bias = parameter<double>(context, 2, parameters.shape);
    context.parallel().for_range(rows, {16.0 * static_cast<double>(length), 6.0 * static_cast<double>(length)}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        const int64_t at = row * parameters.row_stride;
        const double inverse =
            normalize(x + row * length, y + row * length, length, scale + at, bias ? bias + at : nullptr, means ? means + row : nullptr);
        if (deviations) deviations[row] = static_cast<float>(inverse);
      }
    });
  }

  // Returns 1 / deviation.
  double normalize(const double* x, double* y, int64_t length, const double* scale, const double* bias, float* mean_out) const {
    double mean = 0, variance = 0;
    if (!op_.rms) {
      for (int64_t i = 0; i < length; ++i) mean += x[i];
      mean /= static_cast<double>(length);
    }
    for (int64_t i = 0; i < length; ++i) variance += (x[i] - mean) * (x[i] - mean);
    const double inverse = 1 / std::sqrt(variance / static_cast<double>(length) + static_cast<double>(op_.epsilon));
    for (int64_t i = 0; i < length; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + (bias ? bias[i] : 0);
    if (mean_out) *mean_out = static_cast<float>(mean);
    return inverse;
  }

  void run_float(RunContext& context, const TensorView& x, const MutableView& y, int64_t rows, int64_t length, const Parameters& parameters,
                 float* means, float* deviations) const {
    const float *scale = float_parameter(context, 1, parameters.shape), *bias = float_parameter(context, 2, parameters.shape);
    const Cost cost{2.0 * sizeof(float) * static_cast<double>(length), 6.0 * static_cast<double>(length)};
    for_float_rows(context.parallel(), x, y, rows, length, cost, [&](const float* from, float* to, Range part) {
      // Rows with parameters of their own go one by one.
      const int64_t stride = parameters.row_stride, step = stride == 0 ? part.size() : 1;
      for (int64_t row = part.begin; row < part.end; row += step, from += step * length, to += step * length) {
        const float *row_scale = scale ? scale + row * stride : nullptr, *row_bias = bias ? bias + row * stride : nullptr;
        if (op_.rms) {
          compute::rms_norm_rows(from, row_scale, op_.epsilon, to, deviations ? deviations + row : nullptr, step, length);
        } else {
          compute::layer_norm_rows(from, row_scale, row_bias, op_.epsilon, to, means ? means + row : nullptr,
                                   deviations ? deviations + row : nullptr, step, length);
        }
      }
    });
  }

  // The parameter itself where it has the shape asked for (widened if need be), else a broadcast copy; null where a bias is left out.
  static const float* float_parameter(RunContext& context, int input, const Shape& shape) {
    if (context.has_input(input) && is_float_or_half(context.input(input).dtype()) && context.input(input).elements() == shape.elements()) {
      return converted(context, context.input(input), DType::float32).data<float>();
    }
    return parameter<float>(context, input, shape);
  }

  // Scale or bias, broadcast to the shape, in memory of the run; a scale that is left out is 1, a bias null.
  template <typename C>
  static const C* parameter(RunContext& context, int input, const Shape& shape) {
    const int64_t length = shape.elements();
    if (!context.has_input(input) && input != 1) return nullptr;
    C* const values = context.scratch_array<C>(length);
    if (!context.has_input(input)) return std::fill_n(values, length, C(1)) - length;
    const TensorView view = context.input(input);
    if (view.elements() == length && view.dtype() == dtype_of<C>) return std::copy_n(view.data<C>(), length, values) - length;
    const Shape strides = strides_of(view.shape());
    const int offset = shape.rank() - view.rank();
    for (int64_t i = 0; i < length; ++i) {
      int64_t rest = i, index = 0;
      for (int k = shape.rank() - 1; k >= 0; --k) {
        const int64_t at = rest % shape[k];
        rest /= shape[k];
        if (k >= offset && view.shape()[k - offset] != 1) index += at * strides[k - offset];
      }
      values[i] = static_cast<C>(element_as_double(view, index));
    }
    return values;
  }

  /// Where to write an output of `shape` in float; `run` gives it the type that the model asks for.
  float* statistic(RunContext& context, int output, const Shape& shape) const {
    if (op_.stash_type != DType::float32) return context.scratch_array<float>(shape.elements());
    return context.output(output, DType::float32, shape).data<float>();
  }

  ops::LayerNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LayerNormalizationKernel)
