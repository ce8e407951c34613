#include "ops/ml/svm_regressor.h"

#include "providers/cpu/kernel.h"
#include "providers/cpu/linear_scores.h"
#include "providers/cpu/svm_function.h"

namespace rh::cpu {

class SVMRegressorKernel final : public Kernel {
 public:
  using Types = SvmInputs;

  explicit SVMRegressorKernel(const KernelInfo& info) : op_(info.attributes<ops::SVMRegressor>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const ops::Svm& svm = op_.svm;
    int64_t rows = 0;
    RH_RETURN_IF_ERROR(check_rows("SVMRegressor", x, svm.features, rows));
    float* out = context.output(0, DType::float32, Shape{rows, 1}).data<float>();
    const double work = 2.0 * static_cast<double>(svm.features) * static_cast<double>(std::max<int64_t>(1, svm.vector_count));
    context.parallel().for_range(rows, Cost{.bytes = 0, .operations = work}, [&](Range range) {
      std::vector<float> values(static_cast<size_t>(svm.features));
      std::vector<double> similarities;
      for (int64_t row = range.begin; row < range.end; ++row) {
        read_svm_row(x, row, values);
        double sum = static_cast<double>(svm.rho[0]);
        if (svm.is_linear()) {
          sum += dot_product(values.data(), svm.coefficients.data(), svm.features);
        } else {
          svm_similarities(svm, values, similarities);
          for (size_t k = 0; k < similarities.size(); ++k) sum += static_cast<double>(svm.coefficients[k]) * similarities[k];
        }
        out[row] = op_.one_class ? (sum > 0 ? 1.0f : -1.0f) : static_cast<float>(sum);
      }
    });
    return {};
  }

 private:
  ops::SVMRegressor op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SVMRegressorKernel)
