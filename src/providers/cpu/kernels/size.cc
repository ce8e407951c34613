#include "ops/tensor/size.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class SizeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SizeKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    *context.output(0, DType::int64, Shape{}).data<int64_t>() = context.input_tensor(0).elements();
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SizeKernel)
