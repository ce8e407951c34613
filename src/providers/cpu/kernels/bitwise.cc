#include "ops/logic/bitwise.h"

#include "compute/elementwise/bitwise.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

namespace {

using F = ops::Bitwise::Function;

template <compute::Bitwise kOp, typename T>
void integer_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  compute::bitwise(kOp, sizeof(T), a, step_a, b, step_b, out, count);
}

template <typename T>
BinaryRow bitwise_row(F function) {
  using compute::Bitwise;
  switch (function) {
    case F::bit_and: return integer_row<Bitwise::bit_and, T>;
    case F::bit_or: return integer_row<Bitwise::bit_or, T>;
    case F::bit_xor: return integer_row<Bitwise::bit_xor, T>;
    case F::shift_left: return integer_row<Bitwise::shift_left, T>;
    default:
      if constexpr (std::is_unsigned_v<T>) {
        return integer_row<Bitwise::shift_right, T>;
      } else {
        return binary_row<T, T, T>([](T a, T b) {
          return static_cast<std::make_unsigned_t<T>>(b) >= 8 * sizeof(T) ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> b);
        });
      }
  }
}

}  // namespace

class BitwiseKernel final : public Kernel {
 public:
  using Types = IntegerTypes;

  explicit BitwiseKernel(const KernelInfo& info) : op_(info.attributes<ops::Bitwise>()) {}

  Status run(RunContext& context) const override {
    return dispatch<Types>(context.input(0).dtype(), "bitwise operator",
                           [&]<typename T>() { run_binary(context, bitwise_row<T>(op_.function), {}, dtype_of<T>); });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfEither; }

 private:
  ops::Bitwise op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BitwiseKernel)
