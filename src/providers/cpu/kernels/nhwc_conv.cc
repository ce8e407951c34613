#include "ops/nn/nhwc_conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "compute/nhwc_depthwise.h"
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
    if (const Status status = conv_window(window_, one, one, none, window); !status.ok())
      throw Error(status.code(), std::string(status.message()));
    if (!compute::NhwcDepthwise::fits(channels_, window)) {
      throw Error(ErrorCode::not_implemented,
                  fmt::format("NhwcConv: {} channels in {} groups, expected one a channel, of at least 4", channels_.in, channels_.groups));
    }
    packed_.emplace(channels_.in, window, weights->data<float>(), bias ? bias->data<float>() : nullptr,
                    compute_activation(op_.conv.activation));
  }

  bool owns_constant(int input) const override { return input == 1 || input == 2; }
  size_t packed_bytes() const override { return packed_->weight_bytes(); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& d = x.shape();
    const size_t spatial = window_.kernel.size();
    if (d.size() != spatial + 2 || d[d.size() - 1] != channels_.in) {
      return error_status(ErrorCode::invalid_argument, "NhwcConv: input has shape {}, expected [N, {} spatial ones, {}]", d.to_string(),
                          spatial, channels_.in);
    }
    const std::span<const int64_t> sizes(d.begin() + 1, spatial);
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
    const float* residual = context.has_input(3) ? context.input(3).data<float>() : nullptr;
    packed_->run(geometry, d[0], x.data<float>(), residual, y.data<float>(), context.parallel());
    return {};
  }

 private:
  ops::NhwcConv op_;
  compute::ConvChannels channels_;
  ops::Window window_;
  std::optional<compute::NhwcDepthwise> packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NhwcConvKernel)
