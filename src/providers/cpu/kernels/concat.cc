#include "ops/tensor/concat.h"

#include "compute/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Each input is copied into its columns of the output, seen as a matrix with one row for each index before the axis.
class ConcatKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ConcatKernel(const KernelInfo& info) : op_(info.attributes<ops::Concat>()) {}

  Status run(RunContext& context) const override {
    Shape y_shape = context.input(0).shape();
    const int axis = normalize_axis(op_.axis, y_shape.rank(), "Concat: axis");
    for (int i = 1; i < context.input_count(); ++i) {
      const Shape& x = context.input(i).shape();
      bool fits = x.rank() == y_shape.rank();
      for (int k = 0; fits && k < x.rank(); ++k) fits = k == axis || x[k] == y_shape[k];
      if (!fits) {
        return error_status(ErrorCode::invalid_argument, "Concat: input {} has shape {}, input 0 {}: expected the same off axis {}", i,
                            x.to_string(), context.input(0).shape().to_string(), axis);
      }
      y_shape[axis] += x[axis];
    }
    ElementOutput y(context, 0, context.input(0).dtype(), y_shape);
    const int64_t rows = y_shape.product(0, axis), inner = y_shape.product(axis + 1, y_shape.rank());
    const int64_t row_length = y_shape[axis] * inner;
    int64_t column = 0;
    for (int i = 0; i < context.input_count(); ++i) {
      const ElementInput x(context, i);
      const int64_t length = x.shape()[axis] * inner;
      compute::strided_copy(x.kind(), Shape{rows, length}, x.data(), Shape{length, 1}, y.at(column), Shape{row_length, 1},
                            context.parallel());
      column += length;
    }
    y.finish();
    return {};
  }

 private:
  ops::Concat op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConcatKernel)
