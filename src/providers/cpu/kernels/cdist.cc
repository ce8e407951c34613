#include "ops/math/cdist.h"

#include <cmath>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class CDistKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double>;

  explicit CDistKernel(const KernelInfo& info) : op_(info.attributes<ops::CDist>()) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0), b = context.input(1);
    if (a.rank() != 2 || b.rank() != 2 || a.shape()[1] != b.shape()[1]) {
      return error_status(ErrorCode::invalid_argument, "CDist: the inputs have shapes {} and {}, expected [M, K] and [N, K]",
                          a.shape().to_string(), b.shape().to_string());
    }
    const Shape shape{a.shape()[0], b.shape()[0]};
    const int64_t columns = a.shape()[1];
    return dispatch<Types>(a.dtype(), "CDist", [&]<typename T>() {
      T* y = context.output(0, shape).data<T>();
      const double work = 3.0 * static_cast<double>(columns);
      context.parallel().for_range(shape.elements(), Cost{.bytes = 0, .operations = work}, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          const T *from = a.data<T>() + i / shape[1] * columns, *to = b.data<T>() + i % shape[1] * columns;
          double sum = 0;
          for (int64_t k = 0; k < columns; ++k) {
            const double difference = static_cast<double>(from[k]) - static_cast<double>(to[k]);
            sum += difference * difference;
          }
          y[i] = static_cast<T>(op_.squared ? sum : std::sqrt(sum));
        }
      });
    });
  }

 private:
  ops::CDist op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CDistKernel)
