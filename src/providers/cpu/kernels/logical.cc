#include "ops/logic/logical.h"

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
  BinaryRow row() const {
    switch (op_.function) {
      case ops::Logical::Function::logical_and: return binary_row<bool, bool, bool>([](bool a, bool b) { return a & b; });
      case ops::Logical::Function::logical_or: return binary_row<bool, bool, bool>([](bool a, bool b) { return a | b; });
      default: return binary_row<bool, bool, bool>([](bool a, bool b) { return a != b; });
    }
  }

  ops::Logical op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LogicalKernel)
