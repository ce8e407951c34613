#include "ops/tensor/constant_of_shape.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

class ConstantOfShapeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConstantOfShapeKernel(const KernelInfo& info) : op_(info.attributes<ops::ConstantOfShape>()) {}

  Status run(RunContext& context) const override {
    const auto dims = ints_of(op_.shape, context);
    if (!dims) return error_status(ErrorCode::invalid_argument, "ConstantOfShape: no shape is given");
    const Shape shape(dims->begin(), dims->end());
    check_elements(shape, "ConstantOfShape: input");
    const ElementInput element(context, op_.value.view());
    ElementOutput y(context, 0, op_.value.dtype(), shape);
    const double bytes = static_cast<double>(compute::element_bytes(y.kind()));
    context.parallel().for_range(y.elements(), {bytes, 0.1},
                                 [&](Range part) { compute::fill_elements(y.kind(), element.data(), y.at(part.begin), part.size()); });
    y.finish();
    return {};
  }

 private:
  ops::ConstantOfShape op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConstantOfShapeKernel)
