#include "ops/math/fused_matmul.h"

#include <algorithm>

#include "compute/gemm/gemm.h"
#include "providers/cpu/float_rows.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/matmul_problem.h"
#include "providers/cpu/packed_left.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

namespace {

/// One side of the product, as it lies.
struct Factor {
  Shape shape;           ///< as the product sees it: [batch..., rows, columns]
  int64_t leading = 0;   ///< elements from row to row of what lies there; 0: rows are contiguous
  int64_t matrix = 0;    ///< elements from one matrix of the batch to the next
  bool strided = false;  ///< rows of all the batch do not follow each other

  Factor(const Shape& lies, bool transposes_batch, bool transposes) : shape(lies) {
    const int rank = lies.rank();
    matrix = rank < 2 ? lies.elements() : lies[rank - 2] * lies[rank - 1];
    if (rank < 2) return;
    if (transposes_batch && rank > 2) {
      std::rotate(shape.begin(), shape.begin() + 1, shape.end() - 1);
      matrix = lies[rank - 1];
      leading = lies.product(1, rank);
      strided = true;
    }
    if (transposes) std::swap(shape[rank - 1], shape[rank - 2]);
    strided = strided || transposes;
  }
};

}  // namespace

/// A constant operand is packed at load: a right one, or a left one of floats. In our own domain a right one may be of a half type where
/// the left one is of float.
class FusedMatMulKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit FusedMatMulKernel(const KernelInfo& info)
      : op_(info.attributes<ops::FusedMatMul>()),
        packed_(info, info.constant_input(1), {op_.transpose_a || op_.transpose_batch_a, op_.transpose_b, !op_.transpose_batch_b}),
        left_(info, takes_left(info.node()) ? info.constant_input(0) : nullptr, op_.transpose_a,
              {.activation = compute_activation(op_.activation)}) {}

  bool owns_constant(int input) const override { return input == 1 ? !packed_.empty() : input == 0 && !left_.empty(); }
  KernelVariant variant() const override { return left_.empty() ? packed_.variant() : left_.variant(); }
  size_t packed_bytes() const override { return packed_.bytes() + left_.bytes(); }
  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 3, Alias::Kind::in_place}};
    const bool sums_in_c = packed_.variant().variant == "amx" || is_half(packed_.dtype());
    const int64_t block = sums_in_c ? compute::kBlockK : compute::kDeepK;
    const bool one_block = !packed_.empty() && packed_.shape()[packed_.shape().rank() - (op_.transpose_b ? 1 : 2)] <= block;
    return one_block ? list : std::span<const Alias>{};
  }

  Status run(RunContext& context) const override {
    const bool is_left = !left_.empty();
    const DType type = is_left ? DType::float32 : context.input(0).dtype();
    const Factor left = is_left ? Factor(left_.shape(), false, false)
                                : Factor(context.input(0).shape(), op_.transpose_batch_a, op_.transpose_a && context.input(0).rank() > 1);
    const Shape& right_shape = packed_.empty() ? context.input(1).shape() : packed_.shape();
    const Factor right(right_shape, op_.transpose_batch_b, op_.transpose_b && right_shape.rank() > 1);
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("FusedMatMul", left.shape, right.shape, p));
    if (context.has_input(2) && context.input(2).elements() != p.n) {
      return error_status(ErrorCode::invalid_argument, "bias has shape {}, expected [{}]", context.input(2).shape().to_string(), p.n);
    }
    if (context.has_input(3) && !(context.input(3).shape() == p.result)) {
      return error_status(ErrorCode::invalid_argument, "the sum has shape {}, expected the result's, {}",
                          context.input(3).shape().to_string(), p.result.to_string());
    }
    const DType right_type = packed_.empty() ? context.input(1).dtype() : packed_.dtype();
    const bool is_mixed = type == DType::float32 && !packed_.empty() && is_half(right_type);
    if (right_type != type && !is_mixed) {
      return error_status(ErrorCode::invalid_argument, "element types are {} and {}, expected the same", to_string(type),
                          to_string(right_type));
    }
    const MutableView c = context.output(0, p.result);
    if (c.elements() == 0) return {};
    if (is_left) {
      const float* const residual = context.has_input(3) ? context.input(3).data<float>() : nullptr;
      left_.multiply(context, p, context.input(1).data<float>(), residual, c.data<float>());
      return {};
    }
    return dispatch<Types>(type, "FusedMatMul",
                           [&]<typename T>() { multiply<T>(context, p, left, right, context.input(0).data<T>(), c.data<T>()); });
  }

 private:
  /// Whether a convolution makes all that this asks for.
  bool takes_left(const NodeView& node) const {
    return op_.alpha == 1 && !op_.transpose_b && !op_.transpose_batch_a && !op_.transpose_batch_b && !node.has_input(2);
  }

  template <typename T>
  void multiply(RunContext& context, const MatMulProblem& p, const Factor& left, const Factor& right, const T* a, T* c) const {
    compute::GemmArgs<T> args{.m = p.m, .n = p.n, .k = p.k, .lda = left.leading, .ldb = right.leading};
    args.transpose_a = op_.transpose_a && left.shape.rank() > 1;
    args.transpose_b = op_.transpose_b && right.shape.rank() > 1;
    args.alpha = T(op_.alpha);
    if (context.has_input(2)) {
      args.epilogue.bias_kind = compute::BiasKind::per_column;
      args.epilogue.bias = context.input(2).data<T>();
    }
    if (context.has_input(3)) args.epilogue.residual = context.input(3).data<T>();
    args.epilogue.activation = compute_activation(op_.activation);
    const T* b = packed_.empty() ? context.input(1).data<T>() : nullptr;
    if (p.is_one_product() && (!left.strided || p.batch.elements() == 1)) {
      args.m *= p.batch.elements();
      if (b) return compute::gemm(args, a, b, c, context.parallel());
      return multiply_packed(context, args, {1, nullptr, nullptr, nullptr}, a, c);
    }
    const int64_t count = p.batch.elements();
    int64_t* offsets = context.scratch_array<int64_t>(3 * count);
    fill_batch_offsets(p.a_batch, p.batch, left.matrix, offsets);
    fill_batch_offsets(p.b_batch, p.batch, b ? right.matrix : 1, offsets + count);
    for (int64_t i = 0; i < count; ++i) offsets[2 * count + i] = i * p.m * p.n;
    const compute::GemmBatch<T> batch{count, offsets, offsets + count, offsets + 2 * count};
    if (b) return compute::gemm_batched(args, batch, a, b, c, context.parallel());
    multiply_packed(context, args, batch, a, c);
  }

  /// `batch` without offsets: one product.
  template <typename T>
  void multiply_packed(RunContext& context, const compute::GemmArgs<T>& args, const compute::GemmBatch<T>& batch, const T* a, T* c) const {
    if constexpr (std::is_same_v<T, float>) {
      if (packed_.dtype() == DType::float16) return multiply_narrow<Float16>(context, args, batch, a, c);
      if (packed_.dtype() == DType::bfloat16) return multiply_narrow<BFloat16>(context, args, batch, a, c);
    }
    if (batch.a_offsets) return compute::gemm_batched(args, batch, a, packed_.matrices<T>(), c, context.parallel());
    compute::gemm(args, a, packed_.matrix<T>(), c, context.parallel());
  }

  template <typename S>
  void multiply_narrow(RunContext& context, const compute::GemmArgs<float>& args, const compute::GemmBatch<float>& batch, const float* a,
                       float* c) const {
    if (!batch.a_offsets) return compute::gemm_narrow_right(args, a, packed_.matrix<S>(), c, context.parallel());
    for (int64_t i = 0; i < batch.count; ++i) {
      compute::GemmArgs<float> one = args;
      if (one.epilogue.residual) one.epilogue.residual += batch.c_offsets[i];
      const auto& b = packed_.matrices<S>()[static_cast<size_t>(batch.b_offsets[i])];
      compute::gemm_narrow_right(one, a + batch.a_offsets[i], b, c + batch.c_offsets[i], context.parallel());
    }
  }

  ops::FusedMatMul op_;
  PackedRight packed_;
  PackedLeft left_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(FusedMatMulKernel)
