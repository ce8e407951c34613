#include "ops/math/det.h"

#include <span>

#include "compute/elimination.h"
#include "compute/scratch.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

/// Elimination with partial pivoting, in double.
class DetKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit DetKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) {
      return error_status(ErrorCode::invalid_argument, "Det: input has shape {}, expected square matrices", x.shape().to_string());
    }
    const int64_t size = x.shape()[rank - 1];
    const MutableView y = context.output(0, Shape(x.shape().begin(), x.shape().end() - 2));
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "Det", [&]<typename T>() {
      const double work = static_cast<double>(size * size) * static_cast<double>(size + 8) / 3;
      context.parallel().for_range(y.elements(), {static_cast<double>(size * size) * sizeof(T), work}, [&](Range part) {
        const int64_t stride = compute::Elimination::stride(size), work = compute::Elimination::work_elements(size);
        double* matrix = static_cast<double*>(
            compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(size * stride + work) * sizeof(double)));
        const std::span<int64_t> pivots = thread_list<int64_t>(ThreadList::first, size, 0);
        for (int64_t i = part.begin; i < part.end; ++i) {
          compute::Elimination elimination{size, matrix, matrix + size * stride, pivots.data()};
          elimination.read(x.data<T>() + i * size * size);
          y.data<T>()[i] = narrowed<T>(elimination.determinant());
        }
      });
    });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DetKernel)
