#include "ops/sequence/sequence_insert.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class SequenceInsertKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SequenceInsertKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const Sequence& sequence = context.input_value(0).sequence();
    const Tensor& x = context.input_tensor(1);
    if (x.dtype() != sequence.element_dtype) {
      return error_status(ErrorCode::invalid_argument, "SequenceInsert: the tensor is {}, the sequence of {}", to_string(x.dtype()),
                          to_string(sequence.element_dtype));
    }
    const int64_t size = static_cast<int64_t>(sequence.elements.size());
    int64_t at = context.has_input(2) ? scalar_int(context, 2, "SequenceInsert: position") : size;
    if (at < -size || at > size) {
      return error_status(ErrorCode::invalid_argument, "SequenceInsert: position is {}, expected a value in [{}, {}]", at, -size, size);
    }
    if (at < 0) at += size;
    // A copy with room for the new element, so that none is moved once more.
    Sequence longer{sequence.element_dtype, {}};
    longer.elements.reserve(sequence.elements.size() + 1);
    longer.elements.assign(sequence.elements.begin(), sequence.elements.begin() + at);
    longer.elements.emplace_back(x.clone());
    longer.elements.insert(longer.elements.end(), sequence.elements.begin() + at, sequence.elements.end());
    context.set_output(0, std::move(longer));
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SequenceInsertKernel)
