#include "ops/tensor/center_crop_pad.h"

#include <algorithm>

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class CenterCropPadKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit CenterCropPadKernel(const KernelInfo& info) : op_(info.attributes<ops::CenterCropPad>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const auto sizes = context.input_ints(1);
    Shape y_shape = x.shape(), both = x.shape();
    const size_t count = op_.axes ? op_.axes->size() : y_shape.size();
    if (sizes.size() != count) {
      return error_status(ErrorCode::invalid_argument, "CenterCropPad: shape has {} elements, expected {}", sizes.size(), count);
    }
    for (size_t i = 0; i < count; ++i) {
      y_shape[op_.axes ? normalize_axis((*op_.axes)[i], x.shape().rank(), "CenterCropPad: axes") : static_cast<int>(i)] = sizes[i];
    }
    check_elements(y_shape, "CenterCropPad: shape");
    const Shape x_strides = strides_of(x.shape()), y_strides = strides_of(y_shape);
    int64_t from = 0, to = 0;
    for (int k = 0; k < y_shape.rank(); ++k) {
      both[k] = std::min(x.shape()[k], y_shape[k]);
      from += (x.shape()[k] - both[k]) / 2 * x_strides[k];
      to += (y_shape[k] - both[k]) / 2 * y_strides[k];
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    if (!(both == y_shape)) {
      compute::dispatch_kind(y.kind(), [&]<typename T>() { std::fill_n(reinterpret_cast<T*>(y.data()), y.elements(), T()); });
    }
    if (both.elements() > 0) compute::strided_copy(x.kind(), both, x.at(from), x_strides, y.at(to), y_strides, context.parallel());
    y.finish();
    return {};
  }

 private:
  ops::CenterCropPad op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CenterCropPadKernel)
