#include "ops/math/matmul.h"

#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_reference.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/matmul_problem.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

/// A constant 2-D right operand of a floating type is packed at load.
class MatMulKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit MatMulKernel(const KernelInfo& info) : packed_(info, info.constant_input(1), false) {}

  bool owns_constant(int input) const override { return input == 1 && !packed_.empty(); }
  KernelVariant variant() const override { return packed_.variant(); }
  size_t packed_bytes() const override { return packed_.bytes(); }

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0);
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("MatMul", a.shape(), packed_.empty() ? context.input(1).shape() : packed_.shape(), p));
    const MutableView c = context.output(0, p.result);
    if (c.elements() == 0) return {};
    if (!packed_.empty()) {
      return dispatch<FloatingTypes>(a.dtype(), "MatMul", [&]<typename T>() {
        const compute::GemmArgs<T> args{.m = a.elements() / p.k, .n = p.n, .k = p.k};
        compute::gemm(args, a.data<T>(), packed_.matrix<T>(), c.data<T>(), context.parallel());
      });
    }
    const TensorView b = context.input(1);
    if (b.dtype() != a.dtype()) {
      return error_status(ErrorCode::invalid_argument, "MatMul: element types are {} and {}, expected the same", to_string(a.dtype()),
                          to_string(b.dtype()));
    }
    return dispatch<Types>(a.dtype(), "MatMul", [&]<typename T>() { multiply<T>(context, p, a.data<T>(), b.data<T>(), c.data<T>()); });
  }

 private:
  template <typename T>
  static void multiply(RunContext& context, const MatMulProblem& p, const T* a, const T* b, T* c) {
    compute::GemmArgs<T> args{.m = p.m, .n = p.n, .k = p.k};
    constexpr bool fast = !std::is_integral_v<T>;
    if (p.is_one_product()) {
      args.m *= p.batch.elements();
      if constexpr (fast) {
        compute::gemm(args, a, b, c, context.parallel());
      } else {
        compute::gemm_reference(args, a, b, c, context.parallel());
      }
      return;
    }
    const int64_t count = p.batch.elements();
    int64_t* offsets = context.scratch_array<int64_t>(3 * count);
    fill_batch_offsets(p.a_batch, p.batch, p.m * p.k, offsets);
    fill_batch_offsets(p.b_batch, p.batch, p.k * p.n, offsets + count);
    for (int64_t i = 0; i < count; ++i) offsets[2 * count + i] = i * p.m * p.n;
    if constexpr (fast) {
      compute::gemm_batched(args, {count, offsets, offsets + count, offsets + 2 * count}, a, b, c, context.parallel());
    } else {
      for (int64_t i = 0; i < count; ++i) {
        compute::gemm_reference(args, a + offsets[i], b + offsets[count + i], c + offsets[2 * count + i], context.parallel());
      }
    }
  }

  PackedRight packed_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulKernel)
