#include "ops/nn/blocked_conv.h"

#include <fmt/format.h>

#include <optional>

#include "compute/conv/blocked/conv_blocked.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Weights and bias are constant and packed at load.
class BlockedConvKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit BlockedConvKernel(const KernelInfo& info) : op_(info.attributes<ops::BlockedConv>()) {
    const Tensor *weights = info.constant_input(1), *bias = info.constant_input(2);
    const bool given = weights && weights->dtype() == DType::float32 && weights->shape().rank() == 4 && weights->elements() > 0;
    if (!given || (info.node().has_input(2) && (!bias || bias->dtype() != DType::float32 || bias->elements() != weights->shape()[0]))) {
      throw Error(ErrorCode::not_implemented,
                  "BlockedConv: inputs 1 and 2 are expected to be constant weights [M, C/group, h, w] and bias [M]");
    }
    const Shape& w = weights->shape();
    throw_if_wrong(check_slopes(op_.conv.activation, w[0]));
    channels_ = {w[1] * op_.conv.group, w[0], op_.conv.group};
    window_ = with_kernel(op_.conv.window, {w.begin() + 2, 2});
    const compute::Window window = likely_windows(info.node().input_type(0), window_).front();
    const auto input = op_.from_planes ? compute::BlockedInput::planes : compute::BlockedInput::blocks;
    if (!compute::BlockedConvolution::fits(channels_, window, input)) {
      throw Error(
          ErrorCode::not_implemented,
          fmt::format(
              "BlockedConv: {} channels in {} groups, expected one group, groups of blocks, of one channel, or of 4 or 8 under 3x3 taps",
              channels_.in, channels_.groups));
    }
    packed_.emplace(channels_, window, weights->data<float>(), bias ? bias->data<float>() : nullptr,
                    compute_activation(op_.conv.activation), input, conv_accuracy(info.precision()));
    if ((info.node().has_input(4) && !packed_->takes_gates()) || (info.node().has_output(1) && !packed_->gives_means())) {
      throw Error(ErrorCode::invalid_graph,
                  "BlockedConv: input 4 goes with kernels of one pixel, output 1 with depthwise ones of 3x3, 5x5 or 7x7 taps, not dilated");
    }
  }

  KernelVariant variant() const override { return {.problem = "", .variant = packed_->variant(), .variants = {}}; }
  bool owns_constant(int input) const override { return input == 1 || input == 2; }
  size_t packed_bytes() const override { return packed_->weight_bytes(); }
  bool fetches_ahead() const override { return packed_->fetches_ahead(); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& d = x.shape();
    const bool planes = op_.from_planes;
    const int64_t first = planes ? channels_.in : compute::channel_blocks(channels_.in);
    if (d.rank() != (planes ? 4 : 5) || d[1] != first || (!planes && d[4] != compute::kChannelBlock)) {
      return error_status(ErrorCode::invalid_argument, "BlockedConv: input has shape {}, expected {} of {} channels", d.to_string(),
                          planes ? "[N, C, H, W]" : "[N, blocks, H, W, 16]", channels_.in);
    }
    const std::span<const int64_t> sizes(d.begin() + 2, 2);
    Shape shape{d[0], compute::channel_blocks(channels_.out)};
    for (size_t i = 0; i < 2; ++i) shape.push_back(std::max<int64_t>(0, window_.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(window_, sizes, {shape.begin() + 2, 2}, window_.pads_for(sizes), geometry));
    shape.push_back(compute::kChannelBlock);
    if (context.has_input(3) && !(context.input(3).shape() == shape)) {
      return error_status(ErrorCode::invalid_argument, "Z has shape {}, expected the result's, {}", context.input(3).shape().to_string(),
                          shape.to_string());
    }
    const Shape scaled{d[0], first * compute::kChannelBlock}, of_y{d[0], shape[1] * compute::kChannelBlock};
    if (context.has_input(4) && !(context.input(4).shape() == scaled)) {
      return error_status(ErrorCode::invalid_argument, "input 4 has shape {}, expected {}", context.input(4).shape().to_string(),
                          scaled.to_string());
    }
    const MutableView y = context.output(0, shape);
    const compute::BlockedScales scales{.gates = context.has_input(4) ? context.input(4).data<float>() : nullptr,
                                        .means = context.has_output(1) ? context.output(1, of_y).data<float>() : nullptr};
    if (y.elements() == 0) return {};
    const float* sum = context.has_input(3) ? context.input(3).data<float>() : nullptr;
    const bool last = op_.conv.sum_last;
    packed_->run(geometry, d[0], x.data<float>(), last ? nullptr : sum, y.data<float>(), context.parallel(), scales, context.ahead(),
                 last ? sum : nullptr);
    return {};
  }

 private:
  ops::BlockedConv op_;
  compute::ConvChannels channels_;
  ops::Window window_;
  std::optional<compute::BlockedConvolution> packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BlockedConvKernel)
