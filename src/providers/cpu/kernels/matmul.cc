#include "ops/math/matmul.h"

#include "compute/gemm/gemm.h"
#include "compute/gemm/integer_gemm.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/matmul_problem.h"
#include "providers/cpu/packed_left.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

/// A constant operand is packed at load: a right one of a floating type, a left one of floats.
class MatMulKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit MatMulKernel(const KernelInfo& info)
      : packed_(info, info.constant_input(1), {.batches = true}), left_(info, info.constant_input(0), false, {}) {}

  bool owns_constant(int input) const override { return input == 1 ? !packed_.empty() : input == 0 && !left_.empty(); }
  KernelVariant variant() const override { return left_.empty() ? packed_.variant() : left_.variant(); }
  size_t packed_bytes() const override { return packed_.bytes() + left_.bytes(); }

  Status run(RunContext& context) const override {
    if (!left_.empty()) return run_left(context);
    const TensorView a = context.input(0);
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("MatMul", a.shape(), packed_.empty() ? context.input(1).shape() : packed_.shape(), p));
    const MutableView c = context.output(0, p.result);
    if (c.elements() == 0) return {};
    if (!packed_.empty()) {
      return dispatch<FloatingTypes>(a.dtype(), "MatMul",
                                     [&]<typename T>() { multiply<T>(context, p, a.data<T>(), packed_.matrices<T>(), c.data<T>()); });
    }
    const TensorView b = context.input(1);
    RH_RETURN_IF_ERROR(check_types(a.dtype(), b.dtype()));
    return dispatch<Types>(a.dtype(), "MatMul", [&]<typename T>() { multiply<T>(context, p, a.data<T>(), b.data<T>(), c.data<T>()); });
  }

 private:
  static Status check_types(DType a, DType b) {
    if (a == b) return {};
    return error_status(ErrorCode::invalid_argument, "MatMul: element types are {} and {}, expected the same", to_string(a), to_string(b));
  }

  Status run_left(RunContext& context) const {
    const TensorView b = context.input(1);
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("MatMul", left_.shape(), b.shape(), p));
    RH_RETURN_IF_ERROR(check_types(DType::float32, b.dtype()));
    const MutableView c = context.output(0, p.result);
    if (c.elements() > 0) left_.multiply(context, p, b.data<float>(), nullptr, c.data<float>());
    return {};
  }

  template <typename T>
  static void multiply(RunContext& context, const MatMulProblem& p, const T* a, std::span<const compute::PackedMatrix<T>> b, T* c) {
    compute::GemmArgs<T> args{.m = p.m, .n = p.n, .k = p.k};
    if (p.is_one_product()) {
      args.m *= p.batch.elements();
      return compute::gemm(args, a, b[0], c, context.parallel());
    }
    const int64_t count = p.batch.elements();
    const int64_t* const offsets = fill_offsets(context, p, 1);
    compute::gemm_batched(args, {count, offsets, offsets + count, offsets + 2 * count}, a, b, c, context.parallel());
  }

  /// Of A, B and C for each product; those of B in matrices of so many elements.
  static const int64_t* fill_offsets(RunContext& context, const MatMulProblem& p, int64_t right) {
    const int64_t count = p.batch.elements();
    int64_t* const offsets = context.scratch_array<int64_t>(3 * count);
    fill_batch_offsets(p.a_batch, p.batch, p.m * p.k, offsets);
    fill_batch_offsets(p.b_batch, p.batch, right, offsets + count);
    for (int64_t i = 0; i < count; ++i) offsets[2 * count + i] = i * p.m * p.n;
    return offsets;
  }

  /// Unsigned ones wrap around to the same bits.
  template <typename T>
  static void multiply_integers(RunContext& context, const compute::GemmArgs<T>& args, const T* a, const T* b, T* c) {
    using I = std::make_signed_t<T>;
    compute::integer_gemm(reinterpret_cast<const I*>(a), reinterpret_cast<const I*>(b), reinterpret_cast<I*>(c), args.m, args.n, args.k,
                          context.parallel());
  }

  template <typename T>
  static void multiply(RunContext& context, const MatMulProblem& p, const T* a, const T* b, T* c) {
    compute::GemmArgs<T> args{.m = p.m, .n = p.n, .k = p.k};
    constexpr bool fast = !std::is_integral_v<T>;
    if (p.is_one_product()) {
      args.m *= p.batch.elements();
      if constexpr (fast) {
        compute::gemm(args, a, b, c, context.parallel());
      } else {
        multiply_integers(context, args, a, b, c);
      }
      return;
    }
    const int64_t count = p.batch.elements();
    const int64_t* const offsets = fill_offsets(context, p, p.k * p.n);
    if constexpr (fast) {
      compute::gemm_batched(args, {count, offsets, offsets + count, offsets + 2 * count}, a, b, c, context.parallel());
    } else {
      for (int64_t i = 0; i < count; ++i) {
        multiply_integers(context, args, a + offsets[i], b + offsets[count + i], c + offsets[2 * count + i]);
      }
    }
  }

  PackedRight packed_;
  PackedLeft left_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulKernel)
