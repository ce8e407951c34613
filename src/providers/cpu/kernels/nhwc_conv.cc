#include "ops/nn/nhwc_conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "compute/conv/nhwc/nhwc_depthwise.h"
#include "compute/conv/nhwc/nhwc_patches.h"
#include "compute/gemm/gemm_variants.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Weights and bias are constant and packed at load.
class NhwcConvKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit NhwcConvKernel(const KernelInfo& info) : op_(info.attributes<ops::NhwcConv>()) {
    const Tensor *weights = info.constant_input(1), *bias = info.constant_input(2);
    const bool given = weights && weights->dtype() == DType::float32 && (weights->shape().rank() == 3 || weights->shape().rank() == 4) &&
                       weights->elements() > 0;
    if (!given || (info.node().has_input(2) && (!bias || bias->dtype() != DType::float32 || bias->elements() != weights->shape()[0]))) {
      throw Error(ErrorCode::not_implemented,
                  "NhwcConv: inputs 1 and 2 are expected to be constant weights [M, C/group, kernel...] and bias [M]");
    }
    const Shape& w = weights->shape();
    const size_t spatial = w.size() - 2;
    channels_ = {w[1] * op_.conv.group, w[0], op_.conv.group};
    window_ = with_kernel(op_.conv.window, {w.begin() + 2, spatial});
    const ops::Sizes one(spatial, 1), none(2 * spatial, 0);
    compute::Window window;
    throw_if_wrong(conv_window(window_, one, one, none, window));
    if (op_.conv.activation.function == ops::FusedActivation::Function::prelu)
      throw Error(ErrorCode::not_implemented, "NhwcConv: the activation PRelu is not supported, expected PRelu as a node of its own");
    const float* values = weights->data<float>();
    const float* shift = bias ? bias->data<float>() : nullptr;
    const compute::Activation activation = compute_activation(op_.conv.activation);
    if (!op_.from_planes && compute::NhwcDepthwise::fits(channels_, window)) {
      packed_.emplace<compute::NhwcDepthwise>(channels_.in, window, values, shift, activation);
    } else if (compute::NhwcPatches::fits(channels_, window)) {
      const auto input = op_.from_planes ? compute::ChannelsOfInput::first : compute::ChannelsOfInput::last;
      packed_.emplace<compute::NhwcPatches>(channels_, window, values, shift, activation, input, product_of(info, w));
    } else {
      throw Error(
          ErrorCode::not_implemented,
          fmt::format("NhwcConv: {} channels in {} groups, expected one group without dilation, or one a channel, of at least 4, of X "
                      "with channels last",
                      channels_.in, channels_.groups));
    }
  }

  KernelVariant variant() const override {
    return {.problem = "", .variant = std::holds_alternative<compute::NhwcDepthwise>(packed_) ? "depthwise" : "patches", .variants = {}};
  }
  bool owns_constant(int input) const override { return input == 1 || input == 2; }
  size_t packed_bytes() const override { return weight_bytes(packed_); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& d = x.shape();
    const size_t spatial = window_.kernel.size();
    if (d.size() != spatial + 2 || d[op_.from_planes ? 1 : d.size() - 1] != channels_.in) {
      return error_status(ErrorCode::invalid_argument, "NhwcConv: input has shape {}, expected {} spatial dimensions and {} channels {}",
                          d.to_string(), spatial, channels_.in, op_.from_planes ? "before them" : "behind them");
    }
    const std::span<const int64_t> sizes(d.begin() + (op_.from_planes ? 2 : 1), spatial);
    Shape shape{d[0]};
    for (size_t i = 0; i < spatial; ++i) shape.push_back(std::max<int64_t>(0, window_.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(window_, sizes, {shape.begin() + 1, spatial}, window_.pads_for(sizes), geometry));
    shape.push_back(channels_.out);
    if (context.has_input(3) && !(context.input(3).shape() == shape)) {
      return error_status(ErrorCode::invalid_argument, "Z has shape {}, expected the result's, {}", context.input(3).shape().to_string(),
                          shape.to_string());
    }
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    const float* sum = context.has_input(3) ? context.input(3).data<float>() : nullptr;
    const bool last = op_.conv.sum_last;
    const auto run = [&](const auto& convolution) {
      if constexpr (requires { convolution.weight_bytes(); })
        convolution.run(geometry, d[0], x.data<float>(), last ? nullptr : sum, y.data<float>(), context.parallel(), last ? sum : nullptr);
    };
    std::visit(run, packed_);
    return {};
  }

 private:
  /// The product of patches: as many rows as the result is expected to have pixels.
  compute::PackedUse product_of(const KernelInfo& info, const Shape& weights) const {
    const TensorType& x = info.node().input_type(0).tensor();
    compute::ProductSizes sizes{.n = weights[0], .k = weights.product(1, weights.rank())};
    if (x.is_static() && x.shape().elements() > 0) sizes.m = x.shape().elements() / sizes.k;
    // Not by pairs: sums of patches round most (see kPatchFold).
    return {.amx = compute::choose_gemm_variant(sizes, {}).name == "amx", .rows = info.lean_memory() ? 0 : sizes.m};
  }

  ops::NhwcConv op_;
  compute::ConvChannels channels_;
  ops::Window window_;
  std::variant<std::monostate, compute::NhwcDepthwise, compute::NhwcPatches> packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NhwcConvKernel)
