#include "ops/random/multinomial.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <span>

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/random_source.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class MultinomialKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit MultinomialKernel(const KernelInfo& info) : op_(info.attributes<ops::Multinomial>()), source_(info, op_.seed) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() != 2 || x.shape()[1] == 0) {
      return error_status(ErrorCode::invalid_argument,
                          "Multinomial: the input has shape {}, expected [batch, classes] with a class at least", x.shape().to_string());
    }
    const Shape shape{x.shape()[0], op_.samples};
    check_elements(shape, "Multinomial: the samples");
    const MutableView y = context.output(0, op_.dtype, shape);
    const compute::RandomStream random = source_.next();
    const int64_t classes = x.shape()[1];
    std::atomic<int64_t> unfit = shape[0];
    const Cost cost{.bytes = 8.0 * static_cast<double>(classes), .operations = 20.0 * static_cast<double>(classes)};
    RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "Multinomial", [&]<typename T>() {
      context.parallel().for_range(shape[0], cost, [&](Range rows) {
        const std::span<double> sums = thread_list<double>(ThreadList::first, classes);
        const std::span<float> powers = thread_list<float>(ThreadList::second, classes);
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          if (accumulate(x.data<T>() + row * classes, powers, sums)) {
            draw_row(sums, random, row, y);
          } else {
            int64_t least = unfit;
            while (row < least && !unfit.compare_exchange_weak(least, row)) {
            }
          }
        }
      });
    }));
    if (unfit < shape[0]) {
      return error_status(ErrorCode::invalid_argument, "Multinomial: row {} of the input has no finite largest log-probability",
                          unfit.load());
    }
    return {};
  }

 private:
  /// Sums of exp(x - max) up to each class; false where they are not finite.
  template <typename T>
  static bool accumulate(const T* x, std::span<float> powers, std::span<double> sums) {
    const size_t classes = sums.size();
    double sum = 0;
    if constexpr (std::is_same_v<T, double>) {
      const double largest = *std::max_element(x, x + classes);
      for (size_t i = 0; i < classes; ++i) sums[i] = sum += std::exp(x[i] - largest);
    } else {
      for (size_t i = 0; i < classes; ++i) powers[i] = static_cast<float>(x[i]);
      const auto count = static_cast<int64_t>(classes);
      float largest = 0;
      compute::reduce_rows(compute::Reduction::max, powers.data(), &largest, 1, count);
      compute::binary_scalar(compute::Binary::sub, powers.data(), largest, powers.data(), count);
      compute::unary(compute::Unary::exp, powers.data(), powers.data(), count);
      for (size_t i = 0; i < classes; ++i) sums[i] = sum += static_cast<double>(powers[i]);
    }
    return std::isfinite(sum);
  }

  void draw_row(std::span<const double> sums, const compute::RandomStream& random, int64_t row, const MutableView& y) const {
    std::array<double, kRandomBlock> drawn;
    const int64_t end = (row + 1) * op_.samples;
    for (int64_t i = row * op_.samples, count = 0; i < end; i += count) {
      count = std::min<int64_t>(kRandomBlock, end - i);
      random.uniform(static_cast<uint64_t>(i), count, 53, drawn.data());
      for (int64_t k = 0; k < count; ++k) {
        const int64_t chosen = draw(sums, drawn[static_cast<size_t>(k)]);
        if (op_.dtype == DType::int32) {
          y.data<int32_t>()[i + k] = static_cast<int32_t>(chosen);
        } else {
          y.data<int64_t>()[i + k] = chosen;
        }
      }
    }
  }

  /// The first class whose sum passes the draw.
  static int64_t draw(std::span<const double> sums, double uniform) {
    const auto at = std::upper_bound(sums.begin(), sums.end() - 1, uniform * sums.back());
    return at - sums.begin();
  }

  ops::Multinomial op_;
  RandomSource source_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MultinomialKernel)
