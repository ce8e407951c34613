#include "ops/tensor/flatten.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// A view of the input as a matrix.
class FlattenKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit FlattenKernel(const KernelInfo& info) : op_(info.attributes<ops::Flatten>()) {}

  std::span<const Alias> aliases() const override { return kViewOfFirstInput; }

  Status run(RunContext& context) const override {
    const Shape& x = context.input_tensor(0).shape();
    const int rank = x.rank();
    const int axis = op_.axis == rank ? rank : normalize_axis(op_.axis, rank, "Flatten: axis");
    context.output_view(0, 0, Shape{x.product(0, axis), x.product(axis, rank)});
    return {};
  }

 private:
  ops::Flatten op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FlattenKernel)
