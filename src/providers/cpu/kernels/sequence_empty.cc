#include "ops/sequence/sequence_empty.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class SequenceEmptyKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceEmptyKernel(const KernelInfo& info) : op_(info.attributes<ops::SequenceEmpty>()) {}

  Status run(RunContext& context) const override {
    context.set_output(0, Sequence{op_.dtype, {}});
    return {};
  }

 private:
  ops::SequenceEmpty op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceEmptyKernel)
