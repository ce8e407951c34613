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

Status check_rows(const char* op_type, const TensorView& x, int64_t scores, const std::vector<float>& coefficients, int64_t& rows,
                  int64_t& features) {
  features = x.rank() == 1 || x.rank() == 2 ? x.shape()[x.rank() - 1] : 0;
  const auto count = static_cast<int64_t>(coefficients.size());
  if (features > count / scores || x.rank() < 1 || x.rank() > 2) {
    return error_status(ErrorCode::invalid_argument, "{}: the input has shape {}, expected [rows, {}] or less as there are {} coefficients",
                        op_type, x.shape().to_string(), count / scores, count);
  }
  rows = x.rank() == 2 ? x.shape()[0] : 1;
  return {};
}

void linear_scores(const TensorView& x, int64_t row, const std::vector<float>& coefficients, const std::vector<float>& intercepts,
                   std::span<double> scores) {
  const int64_t features = x.shape()[x.rank() - 1];
  dispatch_or_throw<Types<float, double, int64_t, int32_t>>(x.dtype(), "linear model", [&]<typename T>() {
    const T* from = x.data<T>() + row * features;
    const float* weights = coefficients.data();
    for (size_t k = 0; k < scores.size(); ++k, weights += features) {
      double sum = intercepts.empty() ? 0 : static_cast<double>(intercepts[k]);
      double second = 0, third = 0, fourth = 0;  // sums that do not wait for each other
      const auto product = [&](int64_t i) { return static_cast<double>(from[i]) * static_cast<double>(weights[i]); };
      int64_t i = 0;
      for (; i + 4 <= features; i += 4) {
        sum += product(i);
        second += product(i + 1);
        third += product(i + 2);
        fourth += product(i + 3);
      }
      for (; i < features; ++i) sum += product(i);
      scores[k] = (sum + second) + (third + fourth);
    }
  });
}

}  // namespace rh::cpu
