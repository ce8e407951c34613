#include "ops/nn/expand_depthwise.h"

#include <fmt/format.h>

#include <optional>

#include "compute/conv/blocked/blocked_expand_depthwise.h"
#include "compute/conv/expand_depthwise.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Weights and biases are constant and packed at load.
class ExpandDepthwiseKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit ExpandDepthwiseKernel(const KernelInfo& info) : op_(info.attributes<ops::ExpandDepthwise>()) {
    const Tensor *expand = weights(info, 1), *depthwise = weights(info, 2);
    const Shape &wide = expand->shape(), &filters = depthwise->shape();
    in_ = wide[1];
    hidden_ = wide[0];
    window_ = with_kernel(op_.window, {filters.begin() + 2, 2});
    compute::Window geometry;
    throw_if_wrong(conv_window(window_, ops::Sizes(2, 1), ops::Sizes(2, 1), ops::Sizes(2, 0), geometry));
    const bool fits = wide[2] == 1 && wide[3] == 1 && filters[0] == hidden_ && filters[1] == 1 && hidden_ > 0 && in_ > 0;
    if (!fits || !compute::ExpandDepthwise::fits(geometry)) {
      throw Error(
          ErrorCode::invalid_graph,
          fmt::format("ExpandDepthwise: the weights have shapes {} and {}, expected [M, C, 1, 1] and [M, 1, K, K], K 3, 5 or 7, "
                      "and the same stride and dilation in both directions: stride 1 with a dilation of up to {}, or stride 2 without",
                      wide.to_string(), filters.to_string(), compute::ExpandDepthwise::kMostDilation));
    }
    const compute::ExpandDepthwise::Stage widens{expand->data<float>(), bias(info, 3), compute_activation(op_.expand)};
    const compute::ExpandDepthwise::Stage slides{depthwise->data<float>(), bias(info, 4), compute_activation(op_.activation)};
    throw_if_wrong(check_slopes(op_.expand, hidden_));
    throw_if_wrong(check_slopes(op_.activation, hidden_));
    if (!op_.blocked) {
      planes_.emplace(in_, hidden_, geometry, widens, slides);
    } else if (compute::BlockedExpandDepthwise::fits(geometry)) {
      blocks_.emplace(in_, hidden_, geometry, widens, slides);
    } else {
      throw Error(ErrorCode::not_implemented, "ExpandDepthwise: in blocks, kernels are expected to be 3x3, 5x5 or 7x7, not dilated");
    }
  }

  KernelVariant variant() const override { return {.problem = "", .variant = planes_ ? "planes" : "blocked", .variants = {}}; }
  bool owns_constant(int input) const override { return input > 0; }
  size_t packed_bytes() const override { return planes_ ? planes_->weight_bytes() : blocks_->weight_bytes(); }

  bool fetches_ahead() const override { return blocks_ && blocks_->fetches_ahead(); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int64_t second = op_.blocked ? compute::channel_blocks(in_) : in_;
    if (x.rank() != (op_.blocked ? 5 : 4) || x.shape()[1] != second || (op_.blocked && x.shape()[4] != compute::kChannelBlock)) {
      return error_status(ErrorCode::invalid_argument, "ExpandDepthwise: input has shape {}, expected [N, {}, height, width{}]",
                          x.shape().to_string(), second, op_.blocked ? ", 16" : "");
    }
    const std::span<const int64_t> sizes(x.shape().begin() + 2, 2);
    const ops::Sizes pads = window_.pads_for(sizes);
    Shape shape{x.shape()[0], op_.blocked ? compute::channel_blocks(hidden_) : hidden_};
    for (size_t i = 0; i < 2; ++i) {
      if (pads[i] < 0 || pads[i] >= window_.effective_kernel(i) || pads[i + 2] >= window_.effective_kernel(i))
        return error_status(ErrorCode::invalid_argument, "ExpandDepthwise: pads are {} and {}, expected 0 to {}", pads[i], pads[i + 2],
                            window_.effective_kernel(i) - 1);
      shape.push_back(std::max<int64_t>(0, window_.output_size(i, sizes[i])));
    }
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(window_, sizes, {shape.begin() + 2, 2}, pads, geometry));
    if (planes_) {
      const MutableView y = context.output(0, shape);
      if (y.elements() > 0) planes_->run(geometry, x.shape()[0], x.data<float>(), y.data<float>(), context.parallel());
      return {};
    }
    const Shape channels{shape[0], shape[1] * compute::kChannelBlock};
    shape.push_back(compute::kChannelBlock);
    const MutableView y = context.output(0, shape);
    float* means = context.has_output(1) ? context.output(1, channels).data<float>() : nullptr;
    if (y.elements() > 0)
      blocks_->run(geometry, x.shape()[0], x.data<float>(), y.data<float>(), means, context.parallel(), context.ahead());
    return {};
  }

 private:
  static const Tensor* weights(const KernelInfo& info, int input) {
    const Tensor* given = info.constant_input(input);
    if (!given || given->dtype() != DType::float32 || given->shape().rank() != 4)
      throw Error(ErrorCode::not_implemented,
                  fmt::format("ExpandDepthwise: input {} is expected to be constant float32 weights of rank 4", input));
    return given;
  }

  const float* bias(const KernelInfo& info, int input) const {
    if (!info.node().has_input(input)) return nullptr;
    const Tensor* given = info.constant_input(input);
    if (!given || given->dtype() != DType::float32 || given->elements() != hidden_)
      throw Error(ErrorCode::not_implemented,
                  fmt::format("ExpandDepthwise: input {} is expected to be a constant bias of {} float32 values", input, hidden_));
    return given->data<float>();
  }

  ops::ExpandDepthwise op_;
  ops::Window window_;
  int64_t in_ = 0, hidden_ = 0;
  std::optional<compute::ExpandDepthwise> planes_;
  std::optional<compute::BlockedExpandDepthwise> blocks_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ExpandDepthwiseKernel)
