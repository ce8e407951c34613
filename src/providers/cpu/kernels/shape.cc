#include "ops/tensor/shape.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class ShapeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ShapeKernel(const KernelInfo& info) : op_(info.attributes<ops::Shape>()) {}

  Status run(RunContext& context) const override {
    const Shape& x = context.input_tensor(0).shape();
    const auto [first, last] = op_.range(x.rank());
    const MutableView y = context.output(0, DType::int64, Shape{last - first});
    std::copy(x.begin() + first, x.begin() + last, y.data<int64_t>());
    return {};
  }

 private:
  ops::Shape op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ShapeKernel)
