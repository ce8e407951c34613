#include "ops/tensor/cast.h"

#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

Conversion conversion_of(const ops::Cast& op) {
  using Rounding = ops::Cast::Rounding;
  return {.saturate = op.saturate,
          .rounding = op.rounding == Rounding::up     ? Conversion::Rounding::up
                      : op.rounding == Rounding::down ? Conversion::Rounding::down
                                                      : Conversion::Rounding::nearest};
}

}  // namespace

class CastKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit CastKernel(const KernelInfo& info) : op_(info.attributes<ops::Cast>()), conversion_(conversion_of(op_)) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, op_.to != DType::undefined ? op_.to : context.input(1).dtype(), x.shape());
    if (x.dtype() == y.dtype()) {
      copy_elements(x, y);
      return {};
    }
    convert(context.parallel(), x, y, conversion_);
    return {};
  }

 private:
  ops::Cast op_;
  Conversion conversion_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CastKernel)
