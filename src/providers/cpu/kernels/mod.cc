#include "ops/math/mod.h"

#include <cmath>

#include "compute/elementwise/double_math.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

namespace {

template <typename T>
T remainder_of(T a, T b) {
  if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1))) return 0;
  return static_cast<T>(a % b);
}

// The rest of a division of floats, which is exact: quotients of at most 2^28 times a divisor fit a double.
float rest_of(float a, float b) {
  const double dividend = std::fabs(static_cast<double>(a)), divisor = std::fabs(static_cast<double>(b)), quotient = dividend / divisor;
  if (!(quotient < 0x1p28) || std::isinf(divisor)) return std::fmod(a, b);  // no numbers among them, too
  double rest = dividend - static_cast<double>(static_cast<int64_t>(quotient)) * divisor;
  if (rest < 0) rest += divisor;
  if (rest >= divisor) rest -= divisor;
  return std::copysign(static_cast<float>(rest), a);
}
double rest_of(double a, double b) { return std::fmod(a, b); }

// A divisor of 0 gives 0 for integers, NaN for floats.
template <typename T>
BinaryRow mod_row(bool fmod) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return fmod ? division_row<compute::Division::rest> : division_row<compute::Division::floor_rest>;
  } else if constexpr (std::is_integral_v<T>) {
    if (fmod) return binary_row<T, T, T>([](T a, T b) { return remainder_of(a, b); });
    return binary_row<T, T, T>([](T a, T b) {
      const T rest = remainder_of(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    });
  } else {
    if constexpr (std::is_same_v<T, double>) {
      if (fmod) {
        return [](const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
          compute::double_fmod(static_cast<const double*>(a), step_a, static_cast<const double*>(b), step_b, static_cast<double*>(out),
                               count);
        };
      }
    }
    using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
    if (fmod) return binary_row<T, T, T>([](T a, T b) { return rest_of(Wide(a), Wide(b)); });
    return binary_row<T, T, T>([](T a, T b) {
      const Wide divisor = b, rest = rest_of(Wide(a), divisor);
      if (rest == 0) return std::copysign(rest, divisor);
      return (rest < 0) != (divisor < 0) ? rest + divisor : rest;
    });
  }
}

}  // namespace

class ModKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit ModKernel(const KernelInfo& info) : op_(info.attributes<ops::Mod>()) {}

  Status run(RunContext& context) const override {
    return dispatch<Types>(context.input(0).dtype(), "Mod",
                           [&]<typename T>() { run_binary(context, mod_row<T>(op_.fmod), {}, dtype_of<T>, 10); });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfEither; }

 private:
  ops::Mod op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ModKernel)
