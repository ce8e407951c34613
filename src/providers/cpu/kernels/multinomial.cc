#include "ops/random/multinomial.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/random_source.h"

namespace rh::cpu {

class MultinomialKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit MultinomialKernel(const KernelInfo& info) : op_(info.attributes<ops::Multinomial>()), source_(op_.seed) {}

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
    std::vector<double> sums(static_cast<size_t>(x.shape()[1]));
    for (int64_t row = 0; row < shape[0]; ++row) {
      RH_RETURN_IF_ERROR(accumulate(x, row, sums));
      for (int64_t k = 0; k < op_.samples; ++k) {
        const int64_t at = row * op_.samples + k, chosen = draw(sums, random.uniform(static_cast<uint64_t>(at)));
        if (op_.dtype == DType::int32) {
          y.data<int32_t>()[at] = static_cast<int32_t>(chosen);
        } else {
          y.data<int64_t>()[at] = chosen;
        }
      }
    }
    return {};
  }

 private:
  /// Sums of exp(x - max) up to each class.
  static Status accumulate(const TensorView& x, int64_t row, std::vector<double>& sums) {
    const auto classes = static_cast<int64_t>(sums.size());
    for (int64_t i = 0; i < classes; ++i) sums[static_cast<size_t>(i)] = element_as_double(x, row * classes + i);
    const double largest = *std::max_element(sums.begin(), sums.end());
    double sum = 0;
    for (double& value : sums) value = sum += std::exp(value - largest);
    if (std::isfinite(sum)) return {};
    return error_status(ErrorCode::invalid_argument, "Multinomial: row {} of the input has no finite largest log-probability", row);
  }

  /// The first class whose sum passes the draw.
  static int64_t draw(const std::vector<double>& sums, double uniform) {
    const auto at = std::upper_bound(sums.begin(), sums.end() - 1, uniform * sums.back());
    return at - sums.begin();
  }

  ops::Multinomial op_;
  RandomSource source_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MultinomialKernel)
