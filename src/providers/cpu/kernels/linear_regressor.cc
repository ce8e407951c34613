#include "ops/ml/linear_regressor.h"

#include <span>

#include "compute/gemm/gemm.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/linear_scores.h"
#include "providers/cpu/post_transform.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class LinearRegressorKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit LinearRegressorKernel(const KernelInfo& info) : op_(info.attributes<ops::LinearRegressor>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    int64_t rows = 0, features = 0;
    RH_RETURN_IF_ERROR(check_rows("LinearRegressor", x, op_.targets, op_.coefficients, rows, features));
    const MutableView y = context.output(0, DType::float32, Shape{rows, op_.targets});
    if (x.dtype() == DType::float32 && op_.transform == ops::PostTransform::none) {
      compute::GemmArgs<float> args{.m = rows, .n = op_.targets, .k = features, .transpose_b = true};
      if (!op_.intercepts.empty()) args.epilogue.bias_kind = compute::BiasKind::per_column, args.epilogue.bias = op_.intercepts.data();
      compute::gemm(args, x.data<float>(), op_.coefficients.data(), y.data<float>(), context.parallel());
      return {};
    }
    context.parallel().for_range(rows, Cost{.bytes = 0, .operations = 2.0 * static_cast<double>(op_.coefficients.size())},
                                 [&](Range range) {
                                   const std::span<double> scores = thread_list<double>(ThreadList::first, op_.targets);
                                   for (int64_t row = range.begin; row < range.end; ++row) {
                                     linear_scores(x, row, op_.coefficients, op_.intercepts, scores);
                                     apply_target_transform(op_.transform, scores.data(), op_.targets);
                                     for (int64_t t = 0; t < op_.targets; ++t)
                                       y.data<float>()[row * op_.targets + t] = static_cast<float>(scores[static_cast<size_t>(t)]);
                                   }
                                 });
    return {};
  }

 private:
  ops::LinearRegressor op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LinearRegressorKernel)
