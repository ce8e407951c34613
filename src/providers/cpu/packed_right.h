#pragma once

#include <span>
#include <variant>
#include <vector>

#include "compute/gemm/gemm.h"
#include "providers/cpu/kernel.h"
#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// How the operands of a product lie.
struct ProductLayout {
  bool transposed_a = false;
  bool transposed_b = false;
  bool batches = false;   ///< a constant may be a batch of matrices, one behind the other
  bool any_rows = false;  ///< rows of the left operand are not those of input 0: only a run tells
};

/// A constant right operand of a product, packed at load in the form that the cost model or the session's tuning chooses: any floating
/// type, a matrix or a batch of them. Empty for everything else, and where it is read where it lies.
class PackedRight {
 public:
  PackedRight() = default;
  /// `b` is constant input 1 of the node, or null; input 0 is the left operand.
  PackedRight(const KernelInfo& info, const Tensor* b, const ProductLayout& layout);

  bool empty() const { return std::holds_alternative<std::monostate>(matrices_); }
  size_t bytes() const;
  /// Of the node; no problem where the operand is no such constant.
  const KernelVariant& variant() const { return variant_; }
  /// Of the operand as it was given.
  const Shape& shape() const { return shape_; }
  /// Of the packed elements: the operand's, but float32 for a half type that was packed for a left operand of floats, in 16 bits each.
  DType dtype() const { return dtype_; }
  /// T is the type that dtype() says; those of a batch in the order in which they lay.
  template <typename T>
  std::span<const compute::PackedMatrix<T>> matrices() const {
    return std::get<std::vector<compute::PackedMatrix<T>>>(matrices_);
  }
  template <typename T>
  const compute::PackedMatrix<T>& matrix() const {
    return matrices<T>()[0];
  }

 private:
  struct Matrices {
    int64_t k, n, count;
  };
  /// As floats in 16 bits, which hold most values of half types, and by which products are as fast as those of floats. False, with nothing
  /// done, where the values do not allow it.
  bool pack_widened(const Tensor& b, const Matrices& sizes, bool transposed, compute::ProductAccuracy accuracy);

  template <typename T>
  struct Choice;
  template <typename... T>
  struct Choice<Types<T...>> {
    using Variant = std::variant<std::monostate, std::vector<compute::PackedMatrix<T>>...>;
  };
  Shape shape_;
  DType dtype_ = DType::undefined;
  KernelVariant variant_;
  Choice<FloatingTypes>::Variant matrices_;
};

}  // namespace rh::cpu
