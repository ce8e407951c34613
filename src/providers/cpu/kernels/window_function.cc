#include "ops/signal/window_function.h"

#include <cmath>
#include <numbers>

#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class WindowFunctionKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t, int64_t>;

  explicit WindowFunctionKernel(const KernelInfo& info) : op_(info.attributes<ops::WindowFunction>()) {}

  Status run(RunContext& context) const override {
    const int64_t size = scalar_int(context, 0, "the size of the window");
    const Shape shape{size};
    check_elements(shape, "the window");
    const MutableView y = context.output(0, op_.dtype, shape);
    const MutableView wide(DType::float64, y.shape(), op_.dtype == DType::float64 ? y.raw() : context.scratch_array<double>(size));
    const double step = 2 * std::numbers::pi / static_cast<double>(std::max<int64_t>(1, op_.periodic ? size : size - 1));
    for (int64_t i = 0; i < size; ++i) {
      const double angle = step * static_cast<double>(i);
      wide.data<double>()[i] = op_.terms[0] - op_.terms[1] * std::cos(angle) + op_.terms[2] * std::cos(2 * angle);
    }
    if (y.raw() != wide.raw()) convert(context.parallel(), wide, y);
    return {};
  }

 private:
  ops::WindowFunction op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(WindowFunctionKernel)
