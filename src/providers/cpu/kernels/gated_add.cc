#include "ops/math/gated_add.h"

#include <type_traits>

#include "compute/elementwise/scaled_sums.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class GatedAddKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit GatedAddKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), added = context.input(1), gate = context.input(2);
    const int rank = x.rank();
    if (rank < 1) return error_status(ErrorCode::invalid_argument, "GatedAdd: X is a scalar, expected at least one dimension");
    Shape gates = x.shape();
    gates[rank - 1] = 1;
    if (!(added.shape() == x.shape()) || !(gate.shape() == gates)) {
      return error_status(ErrorCode::invalid_argument, "GatedAdd: Y has shape {} and gate {}, expected {} and {}",
                          added.shape().to_string(), gate.shape().to_string(), x.shape().to_string(), gates.to_string());
    }
    const MutableView y = context.output(0, x.shape());
    const int64_t length = x.shape()[rank - 1];
    const Cost cost{12.0 * static_cast<double>(length), 2.0 * static_cast<double>(length)};
    return dispatch<Types>(x.dtype(), "GatedAdd", [&]<typename T>() {
      context.parallel().for_range(gate.elements(), cost, [&](Range rows) {
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          const T *from = x.data<T>() + row * length, *other = added.data<T>() + row * length;
          T* to = y.data<T>() + row * length;
          const float factor = static_cast<float>(gate.data<T>()[row]);
          if constexpr (std::is_same_v<T, float>) {
            compute::add_product(from, other, factor, to, length);
            continue;
          }
          for (int64_t i = 0; i < length; ++i) {
            const T product = T(static_cast<float>(other[i]) * factor);
            to[i] = T(static_cast<float>(from[i]) + static_cast<float>(product));
          }
        }
      });
    });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatedAddKernel)
