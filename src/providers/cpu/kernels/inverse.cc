#include "ops/math/inverse.h"

#include <algorithm>
#include <limits>
#include <span>

#include "compute/elimination.h"
#include "compute/scratch.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

/// Elimination with partial pivoting, in double. Matrices without an inverse give NaN.
class InverseKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, Float16>;

  explicit InverseKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if (rank < 2 || x.shape()[rank - 1] != x.shape()[rank - 2]) {
      return error_status(ErrorCode::invalid_argument, "Inverse: the input has shape {}, expected square matrices", x.shape().to_string());
    }
    const int64_t size = x.shape()[rank - 1];
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    const int64_t elements = size * size;
    return dispatch<Types>(x.dtype(), "Inverse", [&]<typename T>() {
      const double work = static_cast<double>(elements) * static_cast<double>(size + 8);
      context.parallel().for_range(x.elements() / elements, {2.0 * static_cast<double>(elements) * sizeof(T), work}, [&](Range part) {
        const int64_t stride = compute::Elimination::stride(size), work = compute::Elimination::work_elements(size);
        double* matrix = static_cast<double*>(
            compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(size * stride + work) * sizeof(double)));
        const std::span<int64_t> pivots = thread_list<int64_t>(ThreadList::first, size, 0);
        const std::span<int64_t> order = thread_list<int64_t>(ThreadList::second, size, 0);
        for (int64_t at = part.begin * elements; at < part.end * elements; at += elements) {
          compute::Elimination elimination{size, matrix, matrix + size * stride, pivots.data()};
          elimination.read(x.data<T>() + at);
          T* to = y.data<T>() + at;
          if (!elimination.invert(order.data())) {
            std::fill_n(to, elements, narrowed<T>(std::numeric_limits<double>::quiet_NaN()));
            continue;
          }
          for (int64_t row = 0; row < size; ++row, to += size) {
            for (int64_t k = 0; k < size; ++k) to[k] = narrowed<T>(matrix[row * stride + order[static_cast<size_t>(k)]]);
          }
        }
      });
    });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(InverseKernel)
