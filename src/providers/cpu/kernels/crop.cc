#include "ops/vision/crop.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class CropKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit CropKernel(const KernelInfo& info) : op_(info.attributes<ops::Crop>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    if (x.shape().rank() != 4) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, C, H, W]", x.shape().to_string());
    }
    Shape y_shape = x.shape();
    const Shape strides = strides_of(x.shape());
    int64_t from = 0;
    for (int axis = 0; axis < 2; ++axis) {
      const int64_t length = op_.length(axis, x.shape()[axis + 2]);
      if (length < 0) {
        return error_status(ErrorCode::invalid_argument, "input has shape {}, which is smaller than what the border and the size ask for",
                            x.shape().to_string());
      }
      y_shape[axis + 2] = length;
      from += op_.begin(axis) * strides[axis + 2];
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    if (y.elements() > 0) {
      compute::strided_copy(x.kind(), y_shape, x.at(from), strides, y.data(), strides_of(y_shape), context.parallel());
    }
    y.finish();
    return {};
  }

 private:
  ops::Crop op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CropKernel)
