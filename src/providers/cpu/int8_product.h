#pragma once

#include "compute/quant/int8_gemm.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/matmul_problem.h"

namespace rh::cpu {

inline bool is_signed(const TensorView& view) { return view.dtype() == DType::int8; }
inline compute::Int8Matrix int8_matrix(const TensorView& view) { return {view.raw(), is_signed(view)}; }

/// Integers of an optional input in memory of the run, empty where it is left out.
std::span<const int32_t> int32_values(RunContext& context, int input);

/// A right operand [k, n] that comes with the run, packed into memory of the run.
compute::PackedInt8Matrix packed_for_run(RunContext& context, const compute::Int8Matrix& b, int64_t k, int64_t n, bool transposed);

/// Whether a right operand was packed when the kernel was made, or is to be in each run.
inline KernelVariant packing_variant(bool is_packed) {
  return {.problem = "", .variant = is_packed ? "prepacked" : "packed_per_run", .variants = {}};
}

/// The product of 8-bit operands in the manner of numpy.matmul, with zero points: what the quantised matrix products share. A constant 2-D
/// right operand is packed at load.
class Int8Product {
 public:
  /// The inputs of the operator, -1 where it has none.
  struct Inputs {
    int a = 0, b = 1, a_zero = -1, b_zero = -1;
  };
  Int8Product(const KernelInfo& info, const Inputs& inputs);

  bool owns_right() const { return !packed_.empty(); }
  size_t packed_bytes() const { return packed_.bytes(); }
  KernelVariant variant() const { return packing_variant(owns_right()); }
  const Shape& right_shape(const RunContext& context) const { return owns_right() ? packed_shape_ : context.input(inputs_.b).shape(); }

  /// `tile.row` counts the rows of the whole result [batch * m, n]. `a` is the left operand, whose zero point is `a_zero`.
  Status run(RunContext& context, const MatMulProblem& problem, const compute::Int8Matrix& a, std::span<const int32_t> a_zero,
             compute::Int8Epilogue epilogue) const;
  Status run(RunContext& context, const MatMulProblem& problem, compute::Int8Epilogue epilogue) const {
    return run(context, problem, int8_matrix(context.input(inputs_.a)), int32_values(context, inputs_.a_zero), epilogue);
  }

 private:
  Inputs inputs_;
  compute::PackedInt8Matrix packed_;
  Shape packed_shape_;
};

}  // namespace rh::cpu
