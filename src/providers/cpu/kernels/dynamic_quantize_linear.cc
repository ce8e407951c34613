#include "ops/quant/dynamic_quantize_linear.h"

#include "providers/cpu/quantization.h"

namespace rh::cpu {

class DynamicQuantizeLinearKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit DynamicQuantizeLinearKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, DType::uint8, x.shape());
    const DynamicRange range = dynamic_range(context.parallel(), x);
    quantize(context.parallel(), x, range, y.data<uint8_t>());
    if (context.has_output(1)) *context.output(1, DType::float32, {}).data<float>() = range.scale;
    if (context.has_output(2)) *context.output(2, DType::uint8, {}).data<uint8_t>() = range.zero_point;
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DynamicQuantizeLinearKernel)
