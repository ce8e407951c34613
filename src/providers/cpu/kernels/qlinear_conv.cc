#include "ops/quant/qlinear_conv.h"

#include <optional>
#include <span>

#include "compute/quant/int8_conv.h"
#include "compute/quant/quantize.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/few_terms.h"
#include "providers/cpu/int8_product.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

/// Constant weights are packed at load.
class QLinearConvKernel final : public Kernel {
 public:
  using Types = rh::Types<int8_t, uint8_t>;

  explicit QLinearConvKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearConv>()) {
    const Tensor* weights = info.constant_input(op_.weights());
    const auto is_known = [&](int input) { return input < 0 || !info.node().has_input(input) || info.constant_input(input); };
    const int zero = w_zero_input(), bias = bias_input();
    if (!weights || !is_known(zero) || !is_known(bias) || weights->shape().rank() < 3 || weights->shape().rank() > 5) return;
    if (weights->elements() == 0) return;
    const auto integers = [&](int input) {
      std::vector<int32_t> values;
      const Tensor* tensor = input < 0 ? nullptr : info.constant_input(input);
      for (int64_t i = 0; tensor && i < tensor->elements(); ++i) values.push_back(static_cast<int32_t>(element_as_int(tensor->view(), i)));
      return values;
    };
    const std::vector<int32_t> zeros = integers(zero), biases = integers(bias);
    if (!check_counts(weights->shape(), zeros.size(), biases.size()).ok()) return;  // run() says what is wrong
    weights_shape_ = weights->shape();
    if (has_few_terms()) {
      keep_few_terms(weights->view(), zeros);
    } else {
      packed_.emplace(pack(weights->view(), zeros, biases));
    }
  }

  bool owns_constant(int input) const override { return is_packed() && input == op_.weights(); }
  size_t packed_bytes() const override { return packed_ ? packed_->weight_bytes() : few_terms_ ? few_terms_->weight_bytes() : 0; }
  KernelVariant variant() const override {
    if (few_terms_) return {.problem = "", .variant = "few_terms", .variants = {}};
    if (!packed_) return packing_variant(false);
    return {.problem = "", .variant = packed_->is_depthwise() ? "depthwise" : "direct", .variants = {}};
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& w = is_packed() ? weights_shape_ : context.input(op_.weights()).shape();
    const int rank = x.rank(), channel_axis = op_.x_channels_last ? rank - 1 : 1;
    if (rank != w.rank() || rank < 3 || x.shape()[channel_axis] % op_.group != 0 || x.shape()[channel_axis] / op_.group != w[1] ||
        w[0] % op_.group != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "input has shape {} and the weights {}, expected [N, C, ...] and [M, C/group, ...] with group {}",
                          x.shape().to_string(), w.to_string(), op_.group);
    }
    const size_t spatial = static_cast<size_t>(rank - 2), first = op_.x_channels_last ? 1 : 2;
    const ops::Window window = with_kernel(op_.window, {w.begin() + 2, spatial});
    const std::span<const int64_t> sizes(x.shape().begin() + first, spatial);
    Shape out_sizes;
    for (size_t i = 0; i < spatial; ++i) out_sizes.push_back(std::max<int64_t>(0, window.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(window, sizes, {out_sizes.begin(), spatial}, window.pads_for(sizes), geometry));
    Shape shape{x.shape()[0]};
    if (!op_.y_channels_last) shape.push_back(w[0]);
    for (const int64_t size : out_sizes) shape.push_back(size);
    if (op_.y_channels_last) shape.push_back(w[0]);
    const MutableView y = op_.integer ? context.output(0, shape) : context.output(0, context.input(7).dtype(), shape);
    if (y.elements() == 0) return {};
    int32_t x_zero = 0;
    if (context.has_input(2)) RH_RETURN_IF_ERROR(scalar_of(context.input(2), "the zero point of x", x_zero));
    if (few_terms_) return convolve_few(context, geometry, x_zero, y);
    if (packed_) return convolve(context, *packed_, geometry, x_zero, y);
    const std::span<const int32_t> zeros = int32_values(context, w_zero_input()), biases = int32_values(context, bias_input());
    RH_RETURN_IF_ERROR(check_counts(w, zeros.size(), biases.size()));
    return convolve(context, pack(context.input(op_.weights()), zeros, biases, &context), geometry, x_zero, y);
  }

 private:
  int w_zero_input() const { return op_.integer ? 3 : 5; }
  int bias_input() const { return op_.integer ? -1 : 8; }
  bool is_packed() const { return packed_ || few_terms_; }

  /// Of groups of a few channels, but those of one: sums so short that what prepares them costs more.
  bool has_few_terms() const {
    constexpr int64_t kTerms = 16;
    const Shape& w = weights_shape_;
    return op_.integer && !op_.x_channels_last && !op_.y_channels_last && op_.group > 1 && w[1] > 1 && w.product(1, w.rank()) <= kTerms;
  }

  void keep_few_terms(const TensorView& weights, std::span<const int32_t> zeros) {
    const int64_t filters = weights_shape_[0], terms = weights.elements() / filters;
    std::vector<int16_t> words;
    for (int64_t i = 0; i < weights.elements(); ++i) {
      const int32_t zero = zeros.empty() ? 0 : zeros[zeros.size() > 1 ? static_cast<size_t>(i / terms) : 0];
      words.push_back(static_cast<int16_t>(element_as_int(weights, i) - zero));
    }
    few_terms_.emplace(compute::ConvChannels{weights_shape_[1] * op_.group, filters, op_.group}, std::move(words));
  }

  Status convolve_few(RunContext& context, const compute::Window& geometry, int32_t x_zero, const MutableView& y) const {
    const TensorView x = context.input(0);
    auto* const words = context.scratch_array<int16_t>(x.elements());
    const auto centre = [&]<typename T>(const T* from) {
      context.parallel().for_range(x.elements(), {3, 1}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) words[i] = static_cast<int16_t>(from[i] - x_zero);
      });
    };
    x.dtype() == DType::int8 ? centre(x.data<int8_t>()) : centre(x.data<uint8_t>());
    few_terms_->run(geometry, x.shape()[0], words, y.data<int32_t>(), context.parallel());
    return {};
  }

  static Status check_counts(const Shape& w, size_t zeros, size_t biases) {
    const size_t filters = static_cast<size_t>(w[0]);
    if (zeros > 1 && zeros != filters) {
      return error_status(ErrorCode::invalid_argument, "the zero point of the weights has {} elements, expected 1 or {}", zeros, filters);
    }
    if (biases > 0 && biases != filters) {
      return error_status(ErrorCode::invalid_argument, "the bias has {} elements, expected {}", biases, filters);
    }
    return {};
  }

  /// In memory of its own, or, where `context` is given, of the run.
  compute::Int8Convolution pack(const TensorView& weights, std::span<const int32_t> zeros, std::span<const int32_t> biases,
                                RunContext* context = nullptr) const {
    const Shape& w = weights.shape();
    const size_t spatial = w.size() - 2;
    const ops::Window window = with_kernel(op_.window, {w.begin() + 2, spatial});
    const Shape ones(spatial, 1), pads(spatial, 0);
    compute::Window geometry;
    throw_if_wrong(conv_window(window, ones, ones, pads, geometry));  // sizes do not matter for packing
    const compute::ConvChannels channels{w[1] * op_.group, w[0], op_.group};
    const compute::ZeroPoints zero_points{zeros.empty() ? nullptr : zeros.data(), zeros.size() > 1};
    const int32_t* bias = biases.empty() ? nullptr : biases.data();
    if (!context) return {channels, geometry, int8_matrix(weights), zero_points, bias};
    void* const memory = context->scratch(compute::Int8Convolution::memory_bytes(channels, geometry));
    return {channels, geometry, int8_matrix(weights), zero_points, bias, memory, context->parallel()};
  }

  Status convolve(RunContext& context, const compute::Int8Convolution& convolution, const compute::Window& geometry, int32_t x_zero,
                  const MutableView& y) const {
    const TensorView x = context.input(0);
    const int64_t batch = x.shape()[0], pixels = geometry.output_size(), channels = y.elements() / batch / pixels;
    const compute::Int8Image image{int8_matrix(x), x_zero, op_.x_channels_last};
    compute::Int8ConvResult result{.data = y.data<uint8_t>(), .channels_last = op_.y_channels_last};
    if (!op_.integer) {
      auto* factors = context.scratch_array<float>(channels);
      int32_t y_zero = 0;
      RH_RETURN_IF_ERROR(read_factors(context, {factors, static_cast<size_t>(channels)}, y_zero));
      result.factors = factors;
      result.range = y.dtype() == DType::int8 ? compute::QuantRange::of<int8_t>(y_zero) : compute::QuantRange::of<uint8_t>(y_zero);
    }
    convolution.run(geometry, batch, image, result, context.parallel());
    return {};
  }

  /// x's scale times the weights' over y's, of each output channel.
  static Status read_factors(RunContext& context, std::span<float> factors, int32_t& y_zero) {
    float x_scale, y_scale;
    RH_RETURN_IF_ERROR(scalar_of(context.input(1), "the scale of x", x_scale));
    RH_RETURN_IF_ERROR(scalar_of(context.input(6), "the scale of y", y_scale));
    RH_RETURN_IF_ERROR(scalar_of(context.input(7), "the zero point of y", y_zero));
    const TensorView w_scale = context.input(4);
    if (w_scale.elements() != 1 && w_scale.elements() != static_cast<int64_t>(factors.size())) {
      return error_status(ErrorCode::invalid_argument, "the scale of the weights has {} elements, expected 1 or {}", w_scale.elements(),
                          factors.size());
    }
    if (w_scale.dtype() == DType::float32 && w_scale.elements() > 1) {
      const float* scales = w_scale.data<float>();
      for (size_t i = 0; i < factors.size(); ++i) factors[i] = x_scale * scales[i] / y_scale;
      return {};
    }
    for (size_t i = 0; i < factors.size(); ++i) {
      factors[i] = x_scale * element_as_float(w_scale, w_scale.elements() > 1 ? static_cast<int64_t>(i) : 0) / y_scale;
    }
    return {};
  }

  ops::QLinearConv op_;
  Shape weights_shape_;
  std::optional<compute::Int8Convolution> packed_;
  std::optional<FewTermConvolution> few_terms_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearConvKernel)
