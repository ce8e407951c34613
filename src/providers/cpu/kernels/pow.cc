#include "ops/math/pow.h"

#include <algorithm>
#include <cmath>

#include "compute/elementwise/power.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

namespace {

// Wraps around; a negative exponent truncates 1 / base^-exponent.
template <typename T>
T integer_power(T base, int64_t exponent) {
  using U = std::make_unsigned_t<T>;
  if (exponent < 0) return base == 1 ? T(1) : base == T(-1) && std::is_signed_v<T> ? T(exponent % 2 ? -1 : 1) : T(0);
  U result = 1, square = static_cast<U>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

template <typename T>
T truncate(double value) {
  constexpr double kLimit = sizeof(T) == 8 ? 0x1p63 : 0x1p31;
  return value >= -kLimit && value < kLimit ? static_cast<T>(value) : std::numeric_limits<T>::min();
}

// Exponents come as int64 or double (exact for every type but the ends of uint64), or as the base's own type.
template <typename T, typename E>
BinaryRow power_row() {
  if constexpr (std::is_same_v<T, E> && std::is_floating_point_v<T> && sizeof(T) >= sizeof(float)) {
    return [](const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
      compute::power(static_cast<const T*>(a), step_a, static_cast<const T*>(b), step_b, static_cast<T*>(out), count);
    };
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_integral_v<E>) {
      return binary_row<T, E, T>([](T x, E e) { return integer_power(x, e); });
    } else {
      return binary_row<T, E, T>([](T x, E e) { return truncate<T>(std::pow(static_cast<double>(x), e)); });
    }
  } else {
    using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
    return binary_row<T, E, T>([](T x, E e) { return std::pow(Wide(x), static_cast<Wide>(e)); });
  }
}

// Of integers to a power of 2 or 3 that is a floating number: as doubles, which are exact as far as the result fits.
template <typename T, int kPower>
BinaryRow whole_power_row() {
  return binary_row<T, double, T>([](T x, double) {
    const double value = static_cast<double>(x), square = value * value;
    return truncate<T>(kPower == 2 ? square : square * value);
  });
}

// Third powers of floats by way of doubles, which hold the product but for its last bits, a fixed number at a time for vectors.
void cube_row(const void* x, void* y, int64_t count, const float*) {
  constexpr int kAtOnce = 16;
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  const auto cube = [](float value) {
    const auto wide = static_cast<double>(value);
    return static_cast<float>(wide * wide * wide);
  };
  int64_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    float cubes[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k) cubes[k] = cube(from[i + k]);
    std::copy_n(cubes, kAtOnce, to + i);
  }
  for (; i < count; ++i) to[i] = cube(from[i]);
}

template <typename T>
BinaryRow square_row() {
  using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
  return binary_row<T, double, T>([](T x, double) { return Wide(x) * Wide(x); });
}

// The product that is the second or third power, of floats the third; null for other exponents.
template <typename T>
UnaryRow product_row(const TensorView& exponents) {
  if constexpr (std::is_same_v<T, float>) return exponents.elements() == 1 && element_as_double(exponents, 0) == 3 ? cube_row : nullptr;
  if constexpr (kHasNumberRows<T>) {
    using compute::PlainUnary;
    if (exponents.elements() != 1 || (std::is_integral_v<T> && !is_integer(exponents.dtype()))) return nullptr;
    const double exponent = element_as_double(exponents, 0);
    if (exponent == 2) return number_unary_row<PlainUnary::square, dtype_of<T>>;
    if (exponent == 3) return number_unary_row<PlainUnary::cube, dtype_of<T>>;
  }
  return nullptr;
}

}  // namespace

class PowKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t>>;

  explicit PowKernel(const KernelInfo& info) : op_(info.attributes<ops::Pow>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), exponent = context.input(1);
    Shape aligned = exponent.shape();
    aligned.resize(aligned.size() + static_cast<size_t>(op_.legacy.trailing_ones(x.rank(), exponent.rank())), 1);
    const MutableView y = context.output(0, x.dtype(), broadcast(x.shape(), aligned));
    const TensorView exponents(exponent.dtype(), aligned, exponent.raw());
    return dispatch<Types>(x.dtype(), "Pow", [&]<typename T>() {
      if (const UnaryRow row = product_row<T>(exponents); row && y.shape() == x.shape()) {
        return context.parallel().for_range(x.elements(), {2.0 * sizeof(T), 2}, [&](Range part) {
          row(x.data<T>() + part.begin, y.data<T>() + part.begin, part.size(), nullptr);
        });
      }
      if (std::is_floating_point_v<T> && exponents.elements() == 1 && element_as_double(exponents, 0) == 2) {
        const double two = 2;
        return run_binary(context.parallel(), square_row<T>(), x, TensorView(DType::float64, aligned, &two), y);
      }
      if constexpr (std::is_floating_point_v<T> && sizeof(T) >= sizeof(float)) {
        const TensorView own = converted(context, exponents, dtype_of<T>);
        return run_binary(context.parallel(), power_row<T, T>(), x, own, y, sizeof(T) == 4 ? 10 : 20);
      } else if (std::is_floating_point_v<T> && exponents.dtype() == x.dtype()) {
        return run_binary(context.parallel(), power_row<T, T>(), x, exponents, y, 50);
      } else if constexpr (std::is_integral_v<T>) {
        const double power = exponents.elements() == 1 && !is_integer(exponents.dtype()) ? element_as_double(exponents, 0) : 0;
        if (power == 2 || power == 3) {
          const BinaryRow row = power == 2 ? whole_power_row<T, 2>() : whole_power_row<T, 3>();
          return run_binary(context.parallel(), row, x, TensorView(DType::float64, aligned, &power), y, 4);
        }
      }
      run_converted<T>(context, x, exponents, y);
    });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  template <typename T>
  static void run_converted(RunContext& context, const TensorView& x, const TensorView& exponents, const MutableView& y) {
    const int64_t count = exponents.elements();
    if (is_integer(exponents.dtype())) {
      int64_t* whole = context.scratch_array<int64_t>(count);
      for (int64_t i = 0; i < count; ++i) whole[i] = element_as_int(exponents, i);
      run_binary(context.parallel(), power_row<T, int64_t>(), x, TensorView(DType::int64, exponents.shape(), whole), y, 50);
    } else {
      double* real = context.scratch_array<double>(count);
      for (int64_t i = 0; i < count; ++i) real[i] = element_as_double(exponents, i);
      run_binary(context.parallel(), power_row<T, double>(), x, TensorView(DType::float64, exponents.shape(), real), y, 50);
    }
  }

  ops::Pow op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(PowKernel)
