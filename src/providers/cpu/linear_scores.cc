#include "providers/cpu/linear_scores.h"

#include "tensor/dispatch.h"

namespace rh::cpu {

Status check_rows(const char* op_type, const TensorView& x, int64_t features, int64_t& rows) {
  if ((x.rank() != 1 && x.rank() != 2) || x.shape()[x.rank() - 1] != features) {
    return error_status(ErrorCode::invalid_argument, "{}: the input has shape {}, expected [rows, {}] as there are coefficients", op_type,
                        x.shape().to_string(), features);
  }
  rows = x.rank() == 2 ? x.shape()[0] : 1;
  return {};
}

void linear_scores(const TensorView& x, int64_t row, const std::vector<float>& coefficients, const std::vector<float>& intercepts,
                   std::vector<double>& scores) {
  const auto features = static_cast<int64_t>(coefficients.size() / scores.size());
  dispatch_or_throw<Types<float, double, int64_t, int32_t>>(x.dtype(), "linear model", [&]<typename T>() {
    const T* from = x.data<T>() + row * features;
    const float* weights = coefficients.data();
    for (size_t k = 0; k < scores.size(); ++k, weights += features) {
      double sum = intercepts.empty() ? 0 : static_cast<double>(intercepts[k]);
      for (int64_t i = 0; i < features; ++i) sum += static_cast<double>(from[i]) * static_cast<double>(weights[i]);
      scores[k] = sum;
    }
  });
}

}  // namespace rh::cpu
