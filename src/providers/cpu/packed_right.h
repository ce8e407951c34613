#pragma once

#include <variant>

#include "compute/gemm.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// A constant right operand of MatMul or Gemm, packed at load: any floating type, two dimensions. Empty for everything else.
class PackedRight {
 public:
  PackedRight(const Tensor* b, bool transposed) {
    if (!b || b->shape().rank() != 2 || b->elements() == 0 || !FloatingTypes::set.contains(b->dtype())) return;
    shape_ = b->shape();
    dispatch_or_throw<FloatingTypes>(b->dtype(), "right operand", [&]<typename T>() {
      matrix_.emplace<compute::PackedMatrix<T>>(b->data<T>(), shape_[transposed ? 1 : 0], shape_[transposed ? 0 : 1], transposed);
    });
  }

  bool empty() const { return std::holds_alternative<std::monostate>(matrix_); }
  size_t bytes() const {
    return std::visit(
        [](const auto& matrix) -> size_t {
          if constexpr (requires { matrix.bytes(); }) return matrix.bytes();
          return 0;
        },
        matrix_);
  }
  /// Of the operand as it was given.
  const Shape& shape() const { return shape_; }
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
  Choice<FloatingTypes>::Variant matrix_;
};

}  // namespace rh::cpu
