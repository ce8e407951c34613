#include "ops/ml/binarizer.h"

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class BinarizerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit BinarizerKernel(const KernelInfo& info) : threshold_(info.attributes<ops::Binarizer>().threshold) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, x.dtype(), x.shape());
    return dispatch<Types>(x.dtype(), "Binarizer", [&]<typename T>() {
      for (int64_t i = 0; i < x.elements(); ++i)
        y.data<T>()[i] = static_cast<T>(static_cast<double>(x.data<T>()[i]) > static_cast<double>(threshold_));
    });
  }
  std::span<const Alias> aliases() const override {
    static constexpr Alias kAliases[] = {{0, 0, Alias::Kind::in_place}};
    return kAliases;
  }

 private:
  float threshold_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BinarizerKernel)
