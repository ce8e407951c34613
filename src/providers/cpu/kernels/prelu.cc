#include "ops/activation/prelu.h"

#include "providers/cpu/elementwise.h"
#include "providers/cpu/float_rows.h"

namespace rh::cpu {

class PReluKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit PReluKernel(const KernelInfo& info) : op_(info.attributes<ops::PRelu>()) {}

  Status run(RunContext& context) const override {
    ops::LegacyBroadcast legacy;
    if (op_.slope_by_channel && context.input(1).elements() > 1 && context.input(1).rank() == 1) legacy.axis = 1;
    if (is_float_or_half(context.input(0).dtype())) {
      run_binary(context, float_binary_row<compute::Binary::prelu>(context.input(0).dtype()), legacy, context.input(0).dtype(), 2);
      return {};
    }
    return dispatch<rh::Types<double, int32_t, int64_t, uint32_t, uint64_t>>(context.input(0).dtype(), "PRelu", [&]<typename T>() {
      const BinaryRow row = binary_row<T, T, T>([](T x, T slope) {
        if constexpr (std::is_integral_v<T>) {
          using U = std::make_unsigned_t<T>;
          return x < 0 ? static_cast<T>(static_cast<U>(x) * static_cast<U>(slope)) : x;
        } else {
          return x < 0 ? x * slope : x;
        }
      });
      run_binary(context, row, legacy, dtype_of<T>, 2);
    });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  ops::PRelu op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(PReluKernel)
