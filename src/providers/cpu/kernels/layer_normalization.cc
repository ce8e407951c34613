#include <cmath>

#include "compute/row_math.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/kernel.h"
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
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    if (x.dtype() == DType::float32) {
      run_float(context, x, y, rows, length, normalized, means, deviations);
      return {};
    }
    return dispatch<Types>(x.dtype(), "LayerNormalization", [&]<typename T>() {
      using C = Real<T>;
      const std::vector<C> scale = parameter<C>(context, 1, normalized), bias = parameter<C>(context, 2, normalized);
      context.parallel().for_range(rows, {2.0 * sizeof(T) * length, 6.0 * length}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const auto [mean, inverse] = normalize(x.data<T>() + row * length, y.data<T>() + row * length, length, scale, bias);
          if (means) means[row] = static_cast<float>(mean);
          if (deviations) deviations[row] = static_cast<float>(inverse);
        }
      });
    });
  }

 private:
  template <typename T>
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;  // computed in

  struct Statistics {
    double mean, inverse_deviation;
  };

  template <typename T, typename C>
  Statistics normalize(const T* x, T* y, int64_t length, const std::vector<C>& scale, const std::vector<C>& bias) const {
    // Several partial sums: independent chains for the compiler's vectors, and a smaller error than one.
    constexpr int kLanes = 16;
    const auto sum = [&](auto&& term) {
      C partial[kLanes] = {};
      int64_t i = 0;
      for (; i + kLanes <= length; i += kLanes) {
        for (int k = 0; k < kLanes; ++k) partial[k] += term(i + k);
      }
      double total = 0;
      for (; i < length; ++i) total += term(i);
      for (C p : partial) total += p;
      return total;
    };
    const double mean = op_.rms ? 0 : sum([&](int64_t i) { return static_cast<C>(x[i]); }) / static_cast<double>(length);
    const C shift = static_cast<C>(mean);
    const double variance = sum([&](int64_t i) {
                              const C d = static_cast<C>(x[i]) - shift;
                              return d * d;
                            }) /
                            static_cast<double>(length);
    const double inverse = 1 / std::sqrt(variance + static_cast<double>(op_.epsilon));
    const C factor = static_cast<C>(inverse);
    if (bias.empty()) {
      for (int64_t i = 0; i < length; ++i) y[i] = T((static_cast<C>(x[i]) - shift) * factor * scale[static_cast<size_t>(i)]);
    } else {
      for (int64_t i = 0; i < length; ++i) {
        const size_t k = static_cast<size_t>(i);
        y[i] = T((static_cast<C>(x[i]) - shift) * factor * scale[k] + bias[k]);
      }
    }
    return {mean, inverse};
  }

  void run_float(RunContext& context, const TensorView& x, const MutableView& y, int64_t rows, int64_t length, const Shape& normalized,
                 float* means, float* deviations) const {
    std::vector<float> own_scale, own_bias;
    const float* scale = float_parameter(context, 1, normalized, own_scale);
    const float* bias = float_parameter(context, 2, normalized, own_bias);
    context.parallel().for_range(rows, {2.0 * sizeof(float) * static_cast<double>(length), 6.0 * static_cast<double>(length)},
                                 [&](Range part) {
                                   const float* from = x.data<float>() + part.begin * length;
                                   float* to = y.data<float>() + part.begin * length;
                                   if (op_.rms) {
                                     compute::rms_norm_rows(from, scale, op_.epsilon, to, part.size(), length);
                                   } else {
                                     compute::layer_norm_rows(from, scale, bias, op_.epsilon, to, means ? means + part.begin : nullptr,
                                                              deviations ? deviations + part.begin : nullptr, part.size(), length);
                                   }
                                 });
  }

  // The parameter itself where it has the normalised shape, else a broadcast copy in `own`; null where a bias is left out.
  static const float* float_parameter(RunContext& context, int input, const Shape& normalized, std::vector<float>& own) {
    if (context.has_input(input) && context.input(input).dtype() == DType::float32 &&
        context.input(input).elements() == normalized.elements()) {
      return context.input(input).data<float>();
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
