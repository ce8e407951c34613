#include "ops/sequence/sequence_erase.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class SequenceEraseKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceEraseKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    Sequence sequence = context.input_value(0).sequence();
    const int64_t size = static_cast<int64_t>(sequence.elements.size());
    const int64_t given = context.has_input(1) ? scalar_int(context, 1, "SequenceErase: position") : -1;
    sequence.elements.erase(sequence.elements.begin() + checked_index(given, size, "SequenceErase: position"));
    context.set_output(0, std::move(sequence));
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceEraseKernel)
