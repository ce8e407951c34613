#include "ops/logic/is_nan.h"

#include <cmath>
#include <limits>

#include "providers/cpu/elementwise.h"

namespace rh::cpu {

class IsNaNKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, Float8Types>;

  explicit IsNaNKernel(const KernelInfo& info) : op_(info.attributes<ops::IsNaN>()) {}

  Status run(RunContext& context) const override {
    constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();
    const float wanted[] = {op_.positive ? kInfinity : kNone, op_.negative ? -kInfinity : kNone};
    return dispatch<Types>(context.input(0).dtype(), "IsNaN", [&]<typename T>() {
      using Wide = std::conditional_t<sizeof(T) <= 2, float, T>;
      const UnaryRow row =
          op_.nan ? unary_row<T, bool>([](T x) { return std::isnan(Wide(x)); }) : unary_row<T, bool>([](T x, const float* p) {
            const Wide value = x;
            return static_cast<int>(value == Wide(p[0])) | static_cast<int>(value == Wide(p[1]));
          });
      run_unary(context, row, 1, wanted);
    });
  }

 private:
  ops::IsNaN op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(IsNaNKernel)
