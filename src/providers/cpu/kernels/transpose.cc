#include "ops/tensor/transpose.h"

#include "compute/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class TransposeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit TransposeKernel(const KernelInfo& info) : op_(info.attributes<ops::Transpose>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const int rank = x.shape().rank();
    if (op_.perm && static_cast<int>(op_.perm->size()) != rank) {
      return error_status(ErrorCode::invalid_argument, "Transpose: perm has {} entries, but the input has rank {}", op_.perm->size(), rank);
    }
    const Shape strides = strides_of(x.shape());
    Shape y_shape, x_strides;
    for (int k = 0; k < rank; ++k) {
      const int from = op_.perm ? static_cast<int>(checked_index((*op_.perm)[k], rank, "Transpose: perm")) : rank - 1 - k;
      y_shape.push_back(x.shape()[from]);
      x_strides.push_back(strides[from]);
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    compute::strided_copy(x.kind(), y_shape, x.data(), x_strides, y.data(), strides_of(y_shape), context.parallel());
    y.finish();
    return {};
  }

 private:
  ops::Transpose op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TransposeKernel)
