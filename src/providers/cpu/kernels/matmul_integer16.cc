#include "ops/math/matmul_integer16.h"

#include <algorithm>

#include "compute/quant/int16_gemm.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/matmul_problem.h"

namespace rh::cpu {

class MatMulInteger16Kernel final : public Kernel {
 public:
  using Types = rh::Types<int16_t, uint16_t>;

  explicit MatMulInteger16Kernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0), b = context.input(1);
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("MatMulInteger16", a.shape(), b.shape(), p));
    auto* y = static_cast<int32_t*>(context.output(0, p.result).raw());
    const int64_t count = p.batch.elements();
    auto *const a_offsets = context.scratch_array<int64_t>(2 * count), *const b_offsets = a_offsets + count;
    fill_batch_offsets(p.a_batch, p.batch, p.m * p.k, a_offsets);
    fill_batch_offsets(p.b_batch, p.batch, p.k * p.n, b_offsets);
    return dispatch<Types>(a.dtype(), "MatMulInteger16", [&]<typename A>() {
      return dispatch<Types>(b.dtype(), "MatMulInteger16", [&]<typename B>() {
        const int64_t rows = (p.m + kRows - 1) / kRows, columns = (p.n + kColumns - 1) / kColumns;
        const Cost cost{.bytes = 0, .operations = static_cast<double>(p.k) * static_cast<double>(kRows * kColumns)};
        context.parallel().for_range(count * rows * columns, cost, [&](Range range) {
          for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t batch = i / (rows * columns), row = i / columns % rows * kRows, column = i % columns * kColumns;
            compute::int16_gemm(std::min(kRows, p.m - row), p.k, p.n, column, std::min(column + kColumns, p.n),
                                a.data<A>() + a_offsets[batch] + row * p.k, b.data<B>() + b_offsets[batch], y + (batch * p.m + row) * p.n);
          }
        });
      });
    });
  }

 private:
  static constexpr int64_t kRows = 64, kColumns = 256;  // of what one thread does at once
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulInteger16Kernel)
