#include "ops/logic/bitwise.h"

#include "providers/cpu/elementwise.h"

namespace rh::cpu {

namespace {

using F = ops::Bitwise::Function;

template <typename T>
BinaryRow bitwise_row(F function) {
  using U = std::make_unsigned_t<T>;
  constexpr U kBits = 8 * sizeof(T);
  switch (function) {
    case F::bit_and: return binary_row<T, T, T>([](T a, T b) { return a & b; });
    case F::bit_or: return binary_row<T, T, T>([](T a, T b) { return a | b; });
    case F::bit_xor: return binary_row<T, T, T>([](T a, T b) { return a ^ b; });
    case F::shift_left:
      return binary_row<T, T, T>(
          [](T a, T b) { return static_cast<U>(b) >= kBits ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << b); });
    default:
      return binary_row<T, T, T>(
          [](T a, T b) { return static_cast<U>(b) >= kBits ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> b); });
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
