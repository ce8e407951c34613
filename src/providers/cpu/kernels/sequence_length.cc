#include "ops/sequence/sequence_length.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class SequenceLengthKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceLengthKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    *context.output(0, DType::int64, Shape{}).data<int64_t>() = static_cast<int64_t>(context.input_value(0).sequence().elements.size());
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceLengthKernel)
