#include "ops/tensor/depth_to_space.h"

#include "compute/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Both directions are a transposition of six dimensions.
class DepthToSpaceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit DepthToSpaceKernel(const KernelInfo& info) : op_(info.attributes<ops::DepthToSpace>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape& d = x.shape();
    const int64_t b = op_.block;
    if (d.rank() != 4 || (op_.inverse ? d[2] % b != 0 || d[3] % b != 0 : d[1] % (b * b) != 0)) {
      return error_status(ErrorCode::invalid_argument, "{}: the input has shape {}, expected rank 4 and {} divisible by {}",
                          op_.inverse ? "SpaceToDepth" : "DepthToSpace", d.to_string(), op_.inverse ? "height and width" : "channels",
                          op_.inverse ? b : b * b);
    }
    Shape from, order, y_shape;  // the input in six dimensions, and where each dimension of the output comes from
    if (op_.inverse) {
      from = {d[0], d[1], d[2] / b, b, d[3] / b, b};
      order = op_.column_row_depth ? Shape{0, 1, 3, 5, 2, 4} : Shape{0, 3, 5, 1, 2, 4};
      y_shape = {d[0], d[1] * b * b, d[2] / b, d[3] / b};
    } else {
      const int64_t channels = d[1] / (b * b);
      from = op_.column_row_depth ? Shape{d[0], channels, b, b, d[2], d[3]} : Shape{d[0], b, b, channels, d[2], d[3]};
      order = op_.column_row_depth ? Shape{0, 1, 4, 2, 5, 3} : Shape{0, 3, 4, 1, 5, 2};
      y_shape = {d[0], channels, d[2] * b, d[3] * b};
    }
    const Shape strides = strides_of(from);
    Shape shape, x_strides;
    for (int64_t k : order) {
      shape.push_back(from[k]);
      x_strides.push_back(strides[k]);
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    compute::strided_copy(x.kind(), shape, x.data(), x_strides, y.data(), strides_of(shape), context.parallel());
    y.finish();
    return {};
  }

 private:
  ops::DepthToSpace op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DepthToSpaceKernel)
