#include "ops/tensor/eye_like.h"

#include <algorithm>
#include <cstring>

#include "providers/cpu/elements.h"

namespace rh::cpu {

class EyeLikeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit EyeLikeKernel(const KernelInfo& info) : op_(info.attributes<ops::EyeLike>()) {}

  Status run(RunContext& context) const override {
    const Tensor& x = context.input_tensor(0);
    if (x.shape().rank() != 2)
      return error_status(ErrorCode::invalid_argument, "EyeLike: the input has rank {}, expected 2", x.shape().rank());
    const int64_t rows = x.shape()[0], columns = x.shape()[1];
    const DType dtype = op_.dtype == DType::undefined ? x.dtype() : op_.dtype;
    const MutableView y = context.output(0, dtype, x.shape());
    if (y.elements() == 0) return {};
    if (dtype != DType::string && bits_of(dtype) >= 8) std::memset(y.raw(), 0, y.bytes());
    // Beyond the matrix every diagonal is alike; the bound keeps the arithmetic below in range.
    const int64_t diagonal = std::clamp(op_.diagonal, -rows, columns);
    return dispatch<RealTypes>(dtype, "EyeLike", [&]<typename T>() {
      for (int64_t row = std::max<int64_t>(0, -diagonal); row < rows && row + diagonal < columns; ++row) {
        y.data<T>()[row * columns + row + diagonal] = T(1);
      }
    });
  }

 private:
  ops::EyeLike op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(EyeLikeKernel)
