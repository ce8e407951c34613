#include "ops/activation/prelu.h"

#include "providers/cpu/elementwise.h"

namespace rh::cpu {

class PReluKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int32_t, int64_t, uint32_t, uint64_t>>;

  explicit PReluKernel(const KernelInfo& info) : op_(info.attributes<ops::PRelu>()) {}

  Status run(RunContext& context) const override {
    ops::LegacyBroadcast legacy;
    if (op_.slope_by_channel && context.input(1).elements() > 1 && context.input(1).rank() == 1) legacy.axis = 1;
    return dispatch<Types>(context.input(0).dtype(), "PRelu", [&]<typename T>() {
      using Wide = std::conditional_t<sizeof(T) == 2, float, T>;
      const BinaryRow row = binary_row<T, T, T>([](T x, T slope) {
        const Wide value = x;
        if constexpr (std::is_integral_v<T>) {
          using U = std::make_unsigned_t<T>;
          return value < 0 ? static_cast<T>(static_cast<U>(value) * static_cast<U>(slope)) : value;
        } else {
          return value < 0 ? value * Wide(slope) : value;
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
