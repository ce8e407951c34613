#include "ops/tensor/expand.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Dimensions of 1 that grow are read with stride 0.
class ExpandKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ExpandKernel(const KernelInfo& info) : op_(info.attributes<ops::Expand>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const auto target = ints_of(op_.shape, context);
    if (!target) return error_status(ErrorCode::invalid_argument, "Expand: no shape is given");
    const Shape wanted(target->begin(), target->end());
    check_elements(wanted, "Expand: shape");
    const Shape y_shape = broadcast(x.shape(), wanted);
    check_elements(y_shape, "Expand: shape");
    const Shape strides = strides_of(x.shape());
    Shape x_strides(y_shape.size(), 0);
    const int offset = y_shape.rank() - x.shape().rank();
    for (int k = 0; k < x.shape().rank(); ++k) {
      if (x.shape()[k] != 1) x_strides[offset + k] = strides[k];
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    compute::strided_copy(x.kind(), y_shape, x.data(), x_strides, y.data(), strides_of(y_shape), context.parallel());
    y.finish();
    return {};
  }

 private:
  ops::Expand op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ExpandKernel)
