#include "ops/sequence/sequence_at.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Shares the element.
class SequenceAtKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceAtKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const Sequence& sequence = context.input_value(0).sequence();
    const int64_t size = static_cast<int64_t>(sequence.elements.size());
    const int64_t at = checked_index(scalar_int(context, 1, "SequenceAt: position"), size, "SequenceAt: position");
    context.set_output(0, sequence.elements[static_cast<size_t>(at)]);
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceAtKernel)
