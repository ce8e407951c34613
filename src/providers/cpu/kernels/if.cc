#include "ops/control_flow/if.h"

#include <utility>

#include "base/inline_array.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/loop_values.h"

namespace rh::cpu {

class IfKernel final : public Kernel {
 public:
  using Types = rh::Types<bool>;

  explicit IfKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView condition = context.input(0);
    if (condition.elements() != 1 || condition.dtype() != DType::boolean) {
      return error_status(ErrorCode::invalid_argument, "If: the condition has {} elements of {}, expected 1 of bool", condition.elements(),
                          to_string(condition.dtype()));
    }
    SubgraphRunner& branch = context.subgraph(*condition.data<bool>() ? 1 : 0);
    const size_t count = static_cast<size_t>(branch.output_count());
    InlineArray<Value, 4> outputs(count);
    for (int i = 0; i < context.output_count() && i < branch.output_count(); ++i) outputs[static_cast<size_t>(i)] = context.spare_output(i);
    RH_RETURN_IF_ERROR(branch.run({}, outputs));
    for (int i = 0; i < context.output_count(); ++i) {
      if (context.has_output(i)) context.set_output(i, independent(context, std::move(outputs[static_cast<size_t>(i)])));
    }
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(IfKernel)
