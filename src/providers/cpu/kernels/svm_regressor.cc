#include "ops/ml/svm_regressor.h"

#include <algorithm>

#include "compute/reduce/similarity.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/linear_scores.h"
#include "providers/cpu/svm_function.h"

namespace rh::cpu {

namespace {

/// A linear kernel's support vectors as one vector of coefficients, by feature.
ops::Svm collapsed(ops::Svm svm) {
  if (svm.is_linear() || svm.function != ops::Svm::Function::linear) return svm;
  std::vector<double> sums(static_cast<size_t>(svm.features));
  for (size_t i = 0; i < svm.vectors.size(); ++i) {
    sums[i % sums.size()] += static_cast<double>(svm.coefficients[i / sums.size()]) * static_cast<double>(svm.vectors[i]);
  }
  svm.coefficients.assign(sums.begin(), sums.end());
  svm.vectors.clear();
  svm.vector_count = 0;
  return svm;
}

}  // namespace

class SVMRegressorKernel final : public Kernel {
 public:
  using Types = SvmInputs;

  explicit SVMRegressorKernel(const KernelInfo& info) : SVMRegressorKernel(info.attributes<ops::SVMRegressor>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    int64_t rows = 0;
    RH_RETURN_IF_ERROR(check_rows("SVMRegressor", x, svm_.features, rows));
    float* out = context.output(0, DType::float32, Shape{rows, 1}).data<float>();
    const float* values = converted(context, x, DType::float32).data<float>();
    if (svm_.is_linear()) {
      sum(context, values, svm_.features, rows, out);
      return {};
    }
    const int64_t step = std::min(rows, function_.block_rows());
    float* similarities = context.scratch_array<float>(step * svm_.vector_count);
    for (int64_t first = 0; first < rows; first += step) {
      const int64_t count = std::min(step, rows - first);
      function_.run(values + first * svm_.features, count, similarities, context.parallel());
      sum(context, similarities, svm_.vector_count, count, out + first);
    }
    return {};
  }

 private:
  explicit SVMRegressorKernel(ops::SVMRegressor op) : one_class_(op.one_class), svm_(collapsed(std::move(op.svm))), function_(svm_) {}

  /// The weighted sums of rows of `length` numbers.
  void sum(RunContext& context, const float* numbers, int64_t length, int64_t rows, float* out) const {
    context.parallel().for_range(rows, Cost{.bytes = 0, .operations = 2.0 * static_cast<double>(length)}, [&](Range range) {
      for (int64_t row = range.begin; row < range.end; ++row) {
        const double sum =
            static_cast<double>(svm_.rho[0]) + compute::dot_product(numbers + row * length, svm_.coefficients.data(), length);
        out[row] = one_class_ ? (sum > 0 ? 1.0f : -1.0f) : static_cast<float>(sum);
      }
    });
  }

  bool one_class_;
  ops::Svm svm_;
  SvmFunction function_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SVMRegressorKernel)
