#include "ops/random/bernoulli.h"

#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/random_source.h"

namespace rh::cpu {

class BernoulliKernel final : public Kernel {
 public:
  using Types = FloatingTypes;
  using NumericAndBool = Concat<NumericTypes, rh::Types<bool>>;

  explicit BernoulliKernel(const KernelInfo& info) : op_(info.attributes<ops::Bernoulli>()), source_(op_.seed) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const DType dtype = op_.dtype == DType::undefined ? x.dtype() : op_.dtype;
    const MutableView y = context.output(0, dtype, x.shape());
    const compute::RandomStream random = source_.next();
    bool* drawn = context.scratch_array<bool>(x.elements());
    RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "Bernoulli", [&]<typename T>() {
      context.parallel().for_range(x.elements(), Cost{.bytes = sizeof(T), .operations = 40}, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          drawn[i] = random.uniform(static_cast<uint64_t>(i)) < static_cast<double>(x.data<T>()[i]);
        }
      });
    }));
    return dispatch<NumericAndBool>(dtype, "Bernoulli", [&]<typename T>() {
      for (int64_t i = 0; i < y.elements(); ++i) y.data<T>()[i] = static_cast<T>(drawn[i] ? 1.0f : 0.0f);
    });
  }

 private:
  ops::Bernoulli op_;
  RandomSource source_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BernoulliKernel)
