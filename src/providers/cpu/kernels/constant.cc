#include "ops/tensor/constant.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// The tensor of the attribute, shared.
class ConstantKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConstantKernel(const KernelInfo& info) : op_(info.attributes<ops::Constant>()) {}

  Status run(RunContext& context) const override {
    context.set_output(0, op_.value);
    return {};
  }

 private:
  ops::Constant op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConstantKernel)
