#include "ops/random/random_fill.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/random_source.h"

namespace rh::cpu {

namespace {

/// Bits after the point of a uniform number below 1 that the type holds exactly.
template <typename T>
constexpr int kUniformBits = std::is_same_v<T, double>    ? 53
                             : std::is_same_v<T, float>   ? 24
                             : std::is_same_v<T, Float16> ? 11
                                                          : 8;

}  // namespace

class RandomFillKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit RandomFillKernel(const KernelInfo& info) : op_(info.attributes<ops::RandomFill>()), source_(info, op_.seed) {}

  Status run(RunContext& context) const override {
    const Shape shape = op_.like ? context.input(0).shape() : Shape(op_.shape.begin(), op_.shape.end());
    check_elements(shape, "random numbers");
    const DType dtype = op_.dtype != DType::undefined ? op_.dtype : context.input(0).dtype();
    const compute::RandomStream random = source_.next();
    const double first = static_cast<double>(op_.first), second = static_cast<double>(op_.second);
    return dispatch<FloatingTypes>(dtype, "random numbers", [&]<typename T>() {
      T* out = context.output(0, dtype, shape).data<T>();
      if constexpr (std::is_same_v<T, float>) {
        if (const float width = op_.second - op_.first; !op_.normal && std::isnormal(width * 0x1p-24f)) {
          context.parallel().for_range(shape.elements(), Cost{.bytes = sizeof(T), .operations = 4}, [&](Range range) {
            random.uniform(static_cast<uint64_t>(range.begin), range.size(), op_.first, width, out + range.begin);
          });
          return;
        }
      }
      context.parallel().for_range(shape.elements(), Cost{.bytes = sizeof(T), .operations = 60}, [&](Range range) {
        std::array<double, kRandomBlock> drawn;
        const double factor = op_.normal ? second : second - first;
        for (int64_t i = range.begin, count = 0; i < range.end; i += count) {
          count = std::min<int64_t>(kRandomBlock, range.end - i);
          if (op_.normal) {
            random.normal(static_cast<uint64_t>(i), count, drawn.data());
          } else {
            random.uniform(static_cast<uint64_t>(i), count, kUniformBits<T>, drawn.data());
          }
          for (int64_t k = 0; k < count; ++k) out[i + k] = narrowed<T>(first + factor * drawn[static_cast<size_t>(k)]);
        }
      });
    });
  }

 private:
  ops::RandomFill op_;
  RandomSource source_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RandomFillKernel)
