#include "ops/logic/not.h"

#include "compute/elementwise/bitwise.h"
#include "compute/elementwise/comparison.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

class NotKernel final : public Kernel {
 public:
  using Types = Concat<IntegerTypes, rh::Types<bool>>;

  explicit NotKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    return dispatch<Types>(context.input(0).dtype(), "Not", [&]<typename T>() {
      if constexpr (std::is_same_v<T, bool>) {
        const UnaryRow row = [](const void* x, void* y, int64_t count, const float*) {
          const uint8_t zero = 0;
          compute::compare(compute::Comparison::equal, DType::uint8, x, 1, &zero, 0, static_cast<bool*>(y), count);
        };
        run_unary(context, row, 1);
      } else {
        const UnaryRow row = [](const void* x, void* y, int64_t count, const float*) {
          compute::complement(x, y, count * static_cast<int64_t>(sizeof(T)));
        };
        run_unary(context, row, 1);
      }
    });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NotKernel)
