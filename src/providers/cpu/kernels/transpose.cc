#include "ops/tensor/transpose.h"

#include "compute/move/strided_copy.h"
#include "compute/move/transpose.h"
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
    Shape y_shape, permutation;
    for (int k = 0; k < rank; ++k) {
      permutation.push_back(op_.perm ? checked_index((*op_.perm)[k], rank, "Transpose: perm") : rank - 1 - k);
      y_shape.push_back(x.shape()[permutation.back()]);
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    if (x.kind() == compute::ElementKind::string) {
      Shape x_strides;
      for (int64_t from : permutation) x_strides.push_back(strides_of(x.shape())[from]);
      compute::strided_copy(x.kind(), y_shape, x.data(), x_strides, y.data(), strides_of(y_shape), context.parallel());
    } else {
      compute::transpose(x.data(), x.shape(), permutation, compute::element_bytes(x.kind()), y.data(), context.parallel());
    }
    y.finish();
    return {};
  }

 private:
  ops::Transpose op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TransposeKernel)
