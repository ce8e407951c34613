#include "ops/signal/window_function.h"

#include <algorithm>
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
    fill(wide.data<double>(), size);
    if (y.raw() != wide.raw()) convert(context.parallel(), wide, y);
    return {};
  }

 private:
  /// The cosine of a sum of angles: of where a block of so many begins, and within it. The second half mirrors the first, whose angles
  /// stay clear of a full turn, where the sum may round to more than 1.
  void fill(double* y, int64_t size) const {
    constexpr int64_t kBlock = 256;
    const int64_t last = op_.periodic ? size : size - 1, count = std::min(size, last / 2 + 1);
    const double step = 2 * std::numbers::pi / static_cast<double>(std::max<int64_t>(1, last));
    double cosines[kBlock], sines[kBlock];
    for (int64_t i = 0; i < std::min(count, kBlock); ++i) {
      cosines[i] = std::cos(step * static_cast<double>(i));
      sines[i] = std::sin(step * static_cast<double>(i));
    }
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const double angle = step * static_cast<double>(begin), cosine = std::cos(angle), sine = std::sin(angle);
      for (int64_t i = 0; i < std::min(kBlock, count - begin); ++i) {
        const double here = cosine * cosines[i] - sine * sines[i];
        y[begin + i] = op_.terms[0] - op_.terms[1] * here + op_.terms[2] * (2 * here * here - 1);
      }
    }
    // At half a turn all terms together are 1; rounding would show in integers.
    if (last > 0 && last % 2 == 0) y[last / 2] = 1;
    for (int64_t i = count; i < size; ++i) y[i] = y[last - i];
  }

  ops::WindowFunction op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(WindowFunctionKernel)
