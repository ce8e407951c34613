#include "ops/random/bernoulli.h"

#include <algorithm>
#include <array>

#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/random_source.h"

namespace rh::cpu {

class BernoulliKernel final : public Kernel {
 public:
  using Types = FloatingTypes;
  using NumericAndBool = Concat<NumericTypes, rh::Types<bool>>;

  explicit BernoulliKernel(const KernelInfo& info) : op_(info.attributes<ops::Bernoulli>()), source_(info, op_.seed) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const DType dtype = op_.dtype == DType::undefined ? x.dtype() : op_.dtype;
    const MutableView y = context.output(0, dtype, x.shape());
    const compute::RandomStream random = source_.next();
    bool* drawn = context.scratch_array<bool>(x.elements());
    RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "Bernoulli", [&]<typename T>() {
      context.parallel().for_range(x.elements(), Cost{.bytes = sizeof(T), .operations = 40}, [&](Range range) {
        std::array<double, kRandomBlock> numbers;
        const T* limits = x.data<T>();
        for (int64_t i = range.begin, count = 0; i < range.end; i += count) {
          count = std::min<int64_t>(kRandomBlock, range.end - i);
          random.uniform(static_cast<uint64_t>(i), count, 53, numbers.data());
          for (int64_t k = 0; k < count; ++k) drawn[i + k] = numbers[static_cast<size_t>(k)] < static_cast<double>(limits[i + k]);
        }
      });
    }));
    return dispatch<NumericAndBool>(dtype, "Bernoulli", [&]<typename T>() {
      T* out = y.data<T>();
      const std::array<T, 2> values{static_cast<T>(0.0f), static_cast<T>(1.0f)};  // no branch, which would be guessed wrong
      context.parallel().for_range(y.elements(), Cost{.bytes = sizeof(T) + 1, .operations = 1}, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) out[i] = values[drawn[i]];
      });
    });
  }

 private:
  ops::Bernoulli op_;
  RandomSource source_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BernoulliKernel)
