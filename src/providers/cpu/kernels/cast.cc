#include "ops/tensor/cast.h"

#include <algorithm>

#include "providers/cpu/elements.h"
#include "tensor/convert.h"

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
    const int64_t count = x.elements(), blocks = (count + kConversionBlock - 1) / kConversionBlock;
    const double bytes = bits_of(x.dtype()) / 8.0 + bits_of(y.dtype()) / 8.0;
    const bool text = is_string(x.dtype()) || is_string(y.dtype());
    const bool direct = bits_of(x.dtype()) >= 32 && bits_of(y.dtype()) >= 32;
    const double operations = text ? 200 : direct ? 1 : 8;
    context.parallel().for_range(blocks, {bytes * kConversionBlock, operations * kConversionBlock}, [&](Range part) {
      convert_elements(x, y, part.begin * kConversionBlock, std::min(part.end * kConversionBlock, count), conversion_);
    });
    return {};
  }

 private:
  ops::Cast op_;
  Conversion conversion_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CastKernel)
