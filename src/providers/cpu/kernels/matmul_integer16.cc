#include "ops/math/matmul_integer16.h"

#include <vector>

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
    auto* y = static_cast<uint32_t*>(context.output(0, p.result).raw());
    const int64_t count = p.batch.elements();
    std::vector<int64_t> offsets(static_cast<size_t>(2 * count));
    fill_batch_offsets(p.a_batch, p.batch, p.m * p.k, offsets.data());
    fill_batch_offsets(p.b_batch, p.batch, p.k * p.n, offsets.data() + count);
    return dispatch<Types>(a.dtype(), "MatMulInteger16", [&]<typename A>() {
      return dispatch<Types>(b.dtype(), "MatMulInteger16", [&]<typename B>() {
        const Cost cost{.bytes = 0, .operations = static_cast<double>(p.k) * static_cast<double>(p.n)};
        context.parallel().for_range(count * p.m, cost, [&](Range range) {
          for (int64_t row = range.begin; row < range.end; ++row) {
            const auto batch = static_cast<size_t>(row / p.m);
            const A* left = a.data<A>() + offsets[batch] + row % p.m * p.k;
            const B* right = b.data<B>() + offsets[batch + static_cast<size_t>(count)];
            multiply(left, right, y + row * p.n, p);
          }
        });
      });
    });
  }

 private:
  /// A row of the product; sums wrap as the result's type does.
  template <typename A, typename B>
  static void multiply(const A* left, const B* right, uint32_t* y, const MatMulProblem& p) {
    std::fill_n(y, p.n, 0u);
    for (int64_t k = 0; k < p.k; ++k, right += p.n) {
      const auto factor = static_cast<int64_t>(left[k]);
      for (int64_t j = 0; j < p.n; ++j) y[j] += static_cast<uint32_t>(factor * static_cast<int64_t>(right[j]));
    }
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulInteger16Kernel)
