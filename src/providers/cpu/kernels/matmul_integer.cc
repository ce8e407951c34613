#include "ops/quant/matmul_integer.h"

#include <cstring>

#include "providers/cpu/int8_product.h"

namespace rh::cpu {

class MatMulIntegerKernel final : public Kernel {
 public:
  using Types = rh::Types<int8_t, uint8_t>;

  explicit MatMulIntegerKernel(const KernelInfo& info) : product_(info, {.a = 0, .b = 1, .a_zero = 2, .b_zero = 3}) {}

  bool owns_constant(int input) const override { return input == 1 && product_.owns_right(); }
  size_t packed_bytes() const override { return product_.packed_bytes(); }
  KernelVariant variant() const override { return product_.variant(); }

  Status run(RunContext& context) const override {
    MatMulProblem p;
    RH_RETURN_IF_ERROR(MatMulProblem::make("MatMulInteger", context.input(0).shape(), product_.right_shape(context), p));
    int32_t* y = context.output(0, p.result).data<int32_t>();
    return product_.run(context, p, [&](const compute::Int8Tile& tile) {
      for (int64_t i = 0; i < tile.rows; ++i) {
        std::memcpy(y + (tile.row + i) * p.n + tile.column, tile.sums + i * tile.stride,
                    static_cast<size_t>(tile.columns) * sizeof(int32_t));
      }
    });
  }

 private:
  Int8Product product_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MatMulIntegerKernel)
