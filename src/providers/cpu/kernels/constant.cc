#include "ops/tensor/constant.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// The tensor of the attribute, shared.
class ConstantKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConstantKernel(const KernelInfo& info) : value_(info.attributes<ops::Constant>().dense()) {}

  Status run(RunContext& context) const override {
    context.set_output(0, value_);
    return {};
  }

 private:
  Tensor value_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConstantKernel)
