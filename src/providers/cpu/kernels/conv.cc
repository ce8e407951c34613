#include "ops/nn/conv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "compute/conv/conv.h"
#include "compute/conv/conv_pooled.h"
#include "compute/elementwise/vector_math.h"
#include "compute/image/pool.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/run_packing.h"

namespace rh::cpu {

/// Constant weights are packed at load, others each run. Input 3 of FusedConv is a sum of the result's shape, behind
/// the activation of float or double alone. The input of PreactivatedConv
/// is scaled while it is gathered where the convolution can do so. PooledConv has constant weights of floats.
class ConvKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit ConvKernel(const KernelInfo& info)
      : op_(info.attributes<ops::Conv>()), accuracy_(conv_accuracy(info.precision())), lean_(info.lean_memory()) {
    const Tensor* weights = info.constant_input(1);
    const bool bias_known = !info.node().has_input(2) || info.constant_input(2);
    const bool pools = !op_.pool || (weights && bias_known && weights->dtype() == DType::float32 && weights->shape().rank() == 4 &&
                                     op_.pool->dilations == ops::Sizes(2, 1) && op_.pool->auto_pad == ops::AutoPad::notset &&
                                     std::ranges::all_of(op_.pool->pads, [](int64_t pad) { return pad >= 0; }));
    if (!pools) {
      throw Error(ErrorCode::not_implemented,
                  "PooledConv: weights [M, C/group, h, w] and bias [M] are expected to be constant float32, and pools without dilation or "
                  "negative pads");
    }
    if (!weights || !Types::set.contains(weights->dtype()) || !bias_known || weights->shape().rank() < 3 || weights->shape().rank() > 5)
      return;
    const Tensor* bias = info.constant_input(2);
    if (bias && (bias->elements() != weights->shape()[0] || bias->dtype() != weights->dtype())) return;  // run() says what is wrong
    if (!check_slopes(op_.activation, weights->shape()[0]).ok()) return;
    weights_shape_ = weights->shape();
    dispatch_or_throw<Types>(weights->dtype(), "Conv", [&]<typename T>() {
      const compute::ConvChannels channels = channels_of(weights_shape_);
      const ops::Window known = with_kernel(op_.window, {weights_shape_.begin() + 2, weights_shape_.size() - 2});
      const ValueType& input = info.node().input_type(0);
      const ops::Sizes sizes = spatial_sizes(input, weights_shape_.size());
      std::vector<compute::Window> windows = likely_windows(input, known);
      turned_ = !op_.pool && !lean_ && is_column(windows.front()) && is_one_wide(input);
      if (turned_) std::ranges::transform(windows, windows.begin(), turned);
      const compute::Window& window = windows.front();
      variant_ = {conv_problem("Conv", weights->dtype(), channels, window, !sizes.empty()),
                  {},
                  compute::Convolution<T>::variants(channels, window, accuracy_, lean_)};
      const T* bias_values = bias ? bias->data<T>() : nullptr;
      auto& made =
          packed_.emplace<compute::Convolution<T>>(channels, std::span<const compute::Window>(windows), weights->data<T>(), bias_values,
                                                   compute_activation(op_.activation), info.tuned(variant_.problem), accuracy_, lean_);
      variant_.variant = made.variant();
      in_place_ = made.adds_residual_last() && !op_.sum_last;
      // How many threads there are decides where bands begin, and that, rarely, in which order their sums are made.
      if constexpr (std::is_same_v<T, float>) in_bands_ = info.precision() != Precision::strict && compute::pools_in_bands(made);
    });
  }

  KernelVariant variant() const override { return variant_; }
  /// Of a column by its type weights stay, for runs whose input has another width all the same.
  bool owns_constant(int input) const override { return is_packed() && !turned_ && (input == 1 || input == 2); }
  size_t packed_bytes() const override { return weight_bytes(packed_); }
  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 3, Alias::Kind::in_place}};
    return in_place_ ? list : std::span<const Alias>{};
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& w = is_packed() ? weights_shape_ : context.input(1).shape();
    if (x.rank() != w.rank() || x.rank() < 3 || x.shape()[1] % op_.group != 0 || x.shape()[1] / op_.group != w[1] ||
        w[0] % op_.group != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "input has shape {} and the weights {}, expected [N, C, ...] and [M, C/group, ...] with group {}",
                          x.shape().to_string(), w.to_string(), op_.group);
    }
    if (!is_packed() && context.has_input(2) && context.input(2).elements() != w[0]) {
      return error_status(ErrorCode::invalid_argument, "bias has shape {}, expected [{}]", context.input(2).shape().to_string(), w[0]);
    }
    const size_t spatial = static_cast<size_t>(x.rank() - 2);
    RH_RETURN_IF_ERROR(check_slopes(op_.activation, w[0]));
    const ops::Window window = with_kernel(op_.window, {w.begin() + 2, spatial});
    const std::span<const int64_t> sizes(x.shape().begin() + 2, spatial);
    Shape shape{x.shape()[0], w[0]};
    for (size_t i = 0; i < spatial; ++i) shape.push_back(std::max<int64_t>(0, window.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(window, sizes, {shape.begin() + 2, spatial}, window.pads_for(sizes), geometry));
    if (context.has_input(3) && !(context.input(3).shape() == shape)) {
      return error_status(ErrorCode::invalid_argument, "Z has shape {}, expected the result's, {}", context.input(3).shape().to_string(),
                          shape.to_string());
    }
    if (op_.sum_last && context.has_input(3) && x.dtype() != DType::float32 && x.dtype() != DType::float64)
      return error_status(ErrorCode::invalid_argument, "sum_last: X is {}, expected float32 or float64", to_string(x.dtype()));
    if (context.has_input(4)) RH_RETURN_IF_ERROR(check_input_scale(context, x));
    if (op_.pool) return run_pooled(context, geometry, x, shape);
    const bool packed = is_packed() && (!turned_ || is_column(geometry));
    if (packed ? turned_ : is_column(geometry)) geometry = turned(geometry);
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "Conv", [&]<typename T>() {
      if (packed) return convolve(context, std::get<compute::Convolution<T>>(packed_), geometry, x, y);
      const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
      const RunPacking packing(context);
      const compute::Convolution<T> convolution(channels_of(w), geometry, context.input(1).data<T>(), bias,
                                                compute_activation(op_.activation), {}, accuracy_, lean_);
      convolve(context, convolution, geometry, x, y);
    });
  }

 private:
  bool is_packed() const { return !std::holds_alternative<std::monostate>(packed_); }

  /// Whether the type says that the last of several spatial dimensions is 1.
  static bool is_one_wide(const ValueType& input) {
    return input.is_tensor() && input.tensor().dims && input.tensor().dims->size() > 3 && input.tensor().dims->back().is_constant(1);
  }

  compute::ConvChannels channels_of(const Shape& weights) const { return {weights[1] * op_.group, weights[0], op_.group}; }

  /// "Conv float32 64>128 groups 1, kernel 1x3x3 strides 1x2x2 dilations 1x1x1 pads 0x1x1, 1x56x56>1x28x28".
  /// `shape` is that of the convolution's result.
  Status run_pooled(RunContext& context, const compute::Window& geometry, const TensorView& x, const Shape& shape) const {
    const auto* convolution = std::get_if<compute::Convolution<float>>(&packed_);
    if (!convolution || x.dtype() != DType::float32 || context.has_input(3))
      return error_status(ErrorCode::invalid_argument, "PooledConv: X is {}, expected float32 with a bias [M] and no sum",
                          to_string(x.dtype()));
    const std::span<const int64_t> sizes(shape.begin() + 2, 2);
    Shape pooled{shape[0], shape[1]};
    for (size_t i = 0; i < 2; ++i) pooled.push_back(std::max<int64_t>(0, op_.pool->output_size(i, sizes[i])));
    compute::Window window;
    RH_RETURN_IF_ERROR(conv_window(*op_.pool, sizes, {pooled.begin() + 2, 2}, op_.pool->pads, window));
    const MutableView y = context.output(0, pooled);
    if (y.elements() == 0) return {};
    if (in_bands_) {
      compute::convolve_and_pool(*convolution, geometry, channels_of(weights_shape_), window, shape[0], x.data<float>(), y.data<float>(),
                                 context.parallel());
      return {};
    }
    const int64_t planes = shape[0] * shape[1];
    float* whole = context.scratch_array<float>(planes * geometry.output_size());
    convolution->run(geometry, shape[0], x.data<float>(), nullptr, whole, context.parallel());
    compute::max_pool<float>(window, planes, whole, y.data<float>(), nullptr, false, context.parallel());
    return {};
  }

  template <typename T>
  void convolve(RunContext& context, const compute::Convolution<T>& convolution, const compute::Window& geometry, const TensorView& x,
                const MutableView& y) const {
    const T* sum = context.has_input(3) ? context.input(3).data<T>() : nullptr;
    const T* values = x.data<T>();
    compute::InputScale scale;
    if constexpr (std::is_same_v<T, float>) {
      if (context.has_input(4)) scale = {context.input(4).data<float>(), context.input(5).data<float>()};
      if (scale.scale && !convolution.scales_input()) {
        values = preactivated(context, x, scale);
        scale = {};
      }
    }
    convolution.run(geometry, x.shape()[0], values, op_.sum_last ? nullptr : sum, y.data<T>(), context.parallel(), scale,
                    op_.sum_last ? sum : nullptr);
  }

  static Status check_input_scale(const RunContext& context, const TensorView& x) {
    for (int i = 4; i < 6; ++i) {
      const bool is_float = context.has_input(i) && context.input(i).dtype() == DType::float32 && x.dtype() == DType::float32;
      if (is_float && context.input(i).elements() == x.shape()[1]) continue;
      return error_status(ErrorCode::invalid_argument, "PreactivatedConv: input {} is {}, expected {} floats for X of {}", i,
                          context.has_input(i) ? context.input(i).shape().to_string() : "left out", x.shape()[1], to_string(x.dtype()));
    }
    return {};
  }

  /// relu(scale x + shift), in working memory.
  static const float* preactivated(RunContext& context, const TensorView& x, const compute::InputScale& scale) {
    float* values = context.scratch_array<float>(x.elements());
    const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank());
    const float* from = x.data<float>();
    const double size = static_cast<double>(inner);
    context.parallel().for_range(x.shape()[0] * channels, {2.0 * sizeof(float) * size, 3.0 * size}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t c = i % channels;
        compute::relu_scaled_rows(from + i * inner, inner, scale.scale + c, scale.shift + c, values + i * inner, inner, 1, inner);
      }
    });
    return values;
  }

  ops::Conv op_;
  const compute::ConvAccuracy accuracy_;
  const bool lean_;
  Shape weights_shape_;
  KernelVariant variant_;
  bool in_place_ = false, in_bands_ = false;
  bool turned_ = false;  ///< windows of columns are taken as those of rows
  std::variant<std::monostate, compute::Convolution<float>, compute::Convolution<double>, compute::Convolution<Float16>,
               compute::Convolution<BFloat16>>
      packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConvKernel)
