#include "ops/optional/optional_has_element.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class OptionalHasElementKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit OptionalHasElementKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    *context.output(0, DType::boolean, Shape{}).data<bool>() = context.has_input(0) && !context.input_value(0).is_none();
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OptionalHasElementKernel)
