#include "ops/tensor/identity.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// A view of the input; sequences and the like are shared.
class IdentityKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit IdentityKernel(const KernelInfo&) {}

  std::span<const Alias> aliases() const override { return kViewOfFirstInput; }

  Status run(RunContext& context) const override {
    const Value& x = context.input_value(0);
    if (x.is_tensor()) {
      context.output_view(0, 0, x.tensor().shape());
    } else {
      context.set_output(0, x);
    }
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(IdentityKernel)
