#pragma once

#include <variant>

#include "compute/gemm/gemm.h"
#include "providers/cpu/kernel.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// A constant right operand of a product, packed at load in the form that the cost model or the session's tuning chooses: any floating
/// type, two dimensions. Empty for everything else, and where it is read where it lies.
class PackedRight {
 public:
  PackedRight() = default;
  /// `b` is constant input 1 of the node, or null; input 0 is the left operand.
  PackedRight(const KernelInfo& info, const Tensor* b, bool transposed_b, bool transposed_a = false);

  bool empty() const { return std::holds_alternative<std::monostate>(matrix_); }
  size_t bytes() const {
    return std::visit(
        [](const auto& matrix) -> size_t {
          if constexpr (requires { matrix.bytes(); }) return matrix.bytes();
          return 0;
        },
        matrix_);
  }
  /// Of the node; no problem where the operand is no such constant.
  const KernelVariant& variant() const { return variant_; }
  /// Of the operand as it was given.
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  /// T is the operand's type.
  template <typename T>
  const compute::PackedMatrix<T>& matrix() const {
    return std::get<compute::PackedMatrix<T>>(matrix_);
  }

 private:
  template <typename T>
  struct Choice;
  template <typename... T>
  struct Choice<Types<T...>> {
    using Variant = std::variant<std::monostate, compute::PackedMatrix<T>...>;
  };
  Shape shape_;
  DType dtype_ = DType::undefined;
  KernelVariant variant_;
  Choice<FloatingTypes>::Variant matrix_;
};

}  // namespace rh::cpu
