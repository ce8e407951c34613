#include "ops/activation/swiglu.h"

#include <cmath>

#include "compute/elementwise/vector_math.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class SwiGLUKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit SwiGLUKernel(const KernelInfo& info) : op_(info.attributes<ops::SwiGLU>()) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0), b = context.input(1);
    if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) {
      return error_status(ErrorCode::invalid_argument, "SwiGLU: A is {}{} and B {}{}, expected one type and shape", to_string(a.dtype()),
                          a.shape().to_string(), to_string(b.dtype()), b.shape().to_string());
    }
    const DType type = compute_type(a.dtype());
    const ConvertedOutput y(context, 0, a.shape(), type);
    const TensorView gates = converted(context, a, type), factors = converted(context, b, type);
    if (type == DType::float64) {
      gate(context.parallel(), gates.data<double>(), factors.data<double>(), y.data<double>(), a.elements());
    } else {
      gate(context.parallel(), gates.data<float>(), factors.data<float>(), y.data<float>(), a.elements());
    }
    y.store(context.parallel());
    return {};
  }

 private:
  void gate(const Parallel& parallel, const double* a, const double* b, double* y, int64_t count) const {
    const double alpha = static_cast<double>(op_.alpha);
    parallel.for_range(count, {24, 40}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) y[i] = a[i] / (1 + std::exp(-alpha * a[i])) * b[i];
    });
  }

  void gate(const Parallel& parallel, const float* a, const float* b, float* y, int64_t count) const {
    constexpr int64_t kPiece = 1024;
    parallel.for_range(count, {12, 4}, [&](Range part) {
      float weights[kPiece];
      for (int64_t i = part.begin; i < part.end; i += kPiece) {
        const int64_t some = std::min(kPiece, part.end - i);
        compute::scale_shift(a + i, op_.alpha, 0, weights, some);
        compute::unary(compute::Unary::sigmoid, weights, weights, some);
        compute::binary(compute::Binary::mul, weights, a + i, weights, some);
        compute::binary(compute::Binary::mul, weights, b + i, y + i, some);
      }
    });
  }

  ops::SwiGLU op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SwiGLUKernel)
