#include "ops/ml/binarizer.h"

#include "providers/cpu/elementwise.h"

namespace rh::cpu {

class BinarizerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit BinarizerKernel(const KernelInfo& info) : threshold_(info.attributes<ops::Binarizer>().threshold) {}

  Status run(RunContext& context) const override {
    return dispatch<Types>(context.input(0).dtype(), "Binarizer", [&]<typename T>() {
      // Numbers of 64 bits beside the threshold as double.
      using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
      const UnaryRow row =
          unary_row<T>([](T x, const float* threshold) { return static_cast<T>(static_cast<Compared>(x) > Compared(*threshold)); });
      run_unary(context, row, 1, &threshold_);
    });
  }
  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  float threshold_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BinarizerKernel)
