#include "ops/logic/logical.h"

#include "compute/elementwise/bitwise.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

class LogicalKernel final : public Kernel {
 public:
  using Types = rh::Types<bool>;

  explicit LogicalKernel(const KernelInfo& info) : op_(info.attributes<ops::Logical>()) {}

  Status run(RunContext& context) const override {
    run_binary(context, row(), op_.legacy, DType::boolean);
    return {};
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfEither; }

 private:
  template <compute::Bitwise kOp>
  static void bytes_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
    compute::bitwise(kOp, sizeof(bool), a, step_a, b, step_b, out, count);
  }

  BinaryRow row() const {
    using compute::Bitwise;
    switch (op_.function) {
      case ops::Logical::Function::logical_and: return bytes_row<Bitwise::bit_and>;
      case ops::Logical::Function::logical_or: return bytes_row<Bitwise::bit_or>;
      default: return bytes_row<Bitwise::bit_xor>;
    }
  }

  ops::Logical op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LogicalKernel)
