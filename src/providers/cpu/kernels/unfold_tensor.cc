#include "ops/tensor/unfold_tensor.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// A strided copy whose last axis steps as the unfolded one does.
class UnfoldTensorKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit UnfoldTensorKernel(const KernelInfo& info) : op_(info.attributes<ops::UnfoldTensor>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const int axis = normalize_axis(op_.axis, x.shape().rank(), "UnfoldTensor: dim");
    if (op_.windows(x.shape()[axis]) < 1) {
      return error_status(ErrorCode::invalid_argument, "UnfoldTensor: size is {}, expected at most dimension {} of {}", op_.size, axis,
                          x.shape().to_string());
    }
    Shape shape = x.shape(), strides = strides_of(shape);
    shape[axis] = op_.windows(shape[axis]);
    shape.push_back(op_.size);
    strides.push_back(strides[axis]);
    strides[axis] *= op_.step;
    check_elements(shape, "UnfoldTensor: the windows");
    ElementOutput y(context, 0, x.dtype(), shape);
    if (y.elements() > 0) compute::strided_copy(x.kind(), shape, x.data(), strides, y.data(), strides_of(shape), context.parallel());
    y.finish();
    return {};
  }

 private:
  ops::UnfoldTensor op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UnfoldTensorKernel)
