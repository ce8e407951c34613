#include "ops/tensor/non_zero.h"

#include "base/interruptible.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

// Types wider than a byte are compared by value, so that a negative zero counts as zero.
template <typename T>
bool is_nonzero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return !value.empty();
  } else {
    return value != T(0);
  }
}

}  // namespace

/// Counts first, then writes one row of indices for each dimension.
class NonZeroKernel final : public Kernel {
 public:
  using Types = Concat<RealTypes, rh::Types<std::complex<float>, std::complex<double>, std::string>>;

  explicit NonZeroKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    return dispatch<Types>(x.dtype(), "NonZero", [&]<typename T>() {
      const T* values = x.data<T>();
      const int64_t elements = x.elements();
      int64_t* found = context.scratch_array<int64_t>(elements);
      int64_t count = 0;
      in_order(elements, [&](int64_t begin, int64_t end) {
        int64_t n = count;
        for (int64_t i = begin; i < end; ++i) {
          found[n] = i;
          n += is_nonzero(values[i]);
        }
        count = n;
      });
      write(context, x.shape(), found, count);
    });
  }

 private:
  static void write(RunContext& context, const Shape& shape, const int64_t* found, int64_t count) {
    int64_t* y = context.output(0, DType::int64, Shape{shape.rank(), count}).data<int64_t>();
    const Shape strides = strides_of(shape);
    for (int k = 0; k < shape.rank(); ++k) {
      in_order(count, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[k * count + i] = found[i] / strides[k] % shape[k];
      });
    }
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NonZeroKernel)
