#include "ops/optional/optional_get_element.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class OptionalGetElementKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit OptionalGetElementKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const Value& x = context.input_value(0);
    if (x.is_none()) return error_status(ErrorCode::invalid_argument, "OptionalGetElement: the optional is empty");
    if (x.is_tensor()) {
      context.output_view(0, 0, x.tensor().shape());
    } else {
      context.set_output(0, x);
    }
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OptionalGetElementKernel)
