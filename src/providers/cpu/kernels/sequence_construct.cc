#include "ops/sequence/sequence_construct.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Elements are copies: a sequence outlives the memory that the plan gave to its inputs.
class SequenceConstructKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceConstructKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    Sequence sequence{context.input_tensor(0).dtype(), {}};
    for (int i = 0; i < context.input_count(); ++i) {
      const Tensor& x = context.input_tensor(i);
      if (x.dtype() != sequence.element_dtype) {
        return error_status(ErrorCode::invalid_argument, "SequenceConstruct: input {} is {}, expected {} as the first", i,
                            to_string(x.dtype()), to_string(sequence.element_dtype));
      }
      sequence.elements.emplace_back(x.clone());
    }
    context.set_output(0, std::move(sequence));
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceConstructKernel)
