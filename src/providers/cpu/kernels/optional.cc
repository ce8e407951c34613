#include "ops/optional/optional.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class OptionalKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit OptionalKernel(const KernelInfo& info) : op_(info.attributes<ops::Optional>()) {}

  Status run(RunContext& context) const override {
    if (!context.has_input(0)) {
      const ValueType& held = op_.type.kind() == ValueType::Kind::sequence ? op_.type.element() : op_.type;
      context.set_output(0, NoneValue{held.tensor().dtype});
    } else if (const Value& x = context.input_value(0); x.is_tensor()) {
      context.set_output(0, x.tensor().clone());
    } else {
      context.set_output(0, x);
    }
    return {};
  }

 private:
  ops::Optional op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OptionalKernel)
