#include "ops/math/matmul.h"

#include "compute/gemm.h"
#include "compute/gemm_reference.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/packed_right.h"

namespace rh::cpu {

namespace {

/// A product of stacks of matrices as numpy.matmul sees it: 1-D operands became matrices, batch dimensions broadcast.
struct Problem {
  int64_t m, n, k;
  Shape batch;  ///< of the result
  Shape a_batch, b_batch;
  Shape result;  ///< with the dimensions that 1-D operands added left out again
};

Status plan(const Shape& a, const Shape& b, Problem& p) {
  const auto mismatch = [&] {
    return error_status(ErrorCode::invalid_argument, "MatMul: shapes {} and {} cannot be multiplied", a.to_string(), b.to_string());
  };
  if (a.empty() || b.empty()) return mismatch();
  p.k = a.back();
  p.m = a.size() == 1 ? 1 : a[a.size() - 2];
  p.n = b.size() == 1 ? 1 : b.back();
  if ((b.size() == 1 ? b[0] : b[b.size() - 2]) != p.k) return mismatch();
  p.a_batch.assign(a.begin(), a.size() > 2 ? a.end() - 2 : a.begin());
  p.b_batch.assign(b.begin(), b.size() > 2 ? b.end() - 2 : b.begin());
  p.batch = broadcast(p.a_batch, p.b_batch);
  p.result = p.batch;
  if (a.size() > 1) p.result.push_back(p.m);
  if (b.size() > 1) p.result.push_back(p.n);
  return {};
}

// Offset of each product's operand: its batch dimensions are stretched where they are 1.
void fill_offsets(const Shape& operand, const Shape& batch, int64_t matrix, int64_t* offsets) {
  Shape strides = strides_of(operand);
  Shape steps(batch.size(), 0);
  const int lead = batch.rank() - operand.rank();
  for (int i = 0; i < operand.rank(); ++i) steps[lead + i] = operand[i] == 1 ? 0 : strides[i] * matrix;
  Shape index(batch.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0, count = batch.elements(); i < count; ++i) {
    offsets[i] = offset;
    for (int d = batch.rank() - 1; d >= 0; --d) {
      offset += steps[d];
      if (++index[d] < batch[d]) break;
      offset -= steps[d] * batch[d];
      index[d] = 0;
    }
  }
}

}  // namespace

/// A constant 2-D right operand of a floating type is packed at load.
class MatMulKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit MatMulKernel(const KernelInfo& info) : packed_(info.constant_input(1), false) {}

  bool owns_constant(int input) const override { return input == 1 && !packed_.empty(); }

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0);
    Problem p;
    RH_RETURN_IF_ERROR(plan(a.shape(), packed_.empty() ? context.input(1).shape() : packed_.shape(), p));
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
  static void multiply(RunContext& context, const Problem& p, const T* a, const T* b, T* c) {
    compute::GemmArgs<T> args{.m = p.m, .n = p.n, .k = p.k};
    constexpr bool fast = !std::is_integral_v<T>;
    if (p.b_batch.elements() == 1) {  // one right operand: the batch is just more rows
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
    fill_offsets(p.a_batch, p.batch, p.m * p.k, offsets);
    fill_offsets(p.b_batch, p.batch, p.k * p.n, offsets + count);
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
