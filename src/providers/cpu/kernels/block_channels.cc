#include "ops/nn/block_channels.h"

#include "compute/conv/blocked/conv_blocked.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class BlockChannelsKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit BlockChannelsKernel(const KernelInfo& info) : op_(info.attributes<ops::BlockChannels>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& d = x.shape();
    const int64_t blocks = compute::channel_blocks(op_.channels);
    const bool fits = op_.back ? d.rank() == 5 && d[1] == blocks && d[4] == compute::kChannelBlock : d.rank() == 4 && d[1] == op_.channels;
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "{}: the input has shape {}, expected {} with {} channels",
                          op_.back ? "UnblockChannels" : "BlockChannels", d.to_string(),
                          op_.back ? "[N, blocks, H, W, 16]" : "[N, C, H, W]", op_.channels);
    }
    const MutableView y = context.output(0, op_.back ? Shape{d[0], op_.channels, d[2], d[3]} : Shape{d[0], blocks, d[2], d[3], 16});
    if (y.elements() == 0) return {};
    const auto copy = op_.back ? compute::from_blocked : compute::to_blocked;
    copy(x.data<float>(), d[0], op_.channels, d[2] * d[3], y.data<float>(), context.parallel());
    return {};
  }

 private:
  ops::BlockChannels op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BlockChannelsKernel)
