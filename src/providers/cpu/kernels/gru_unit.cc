#include "ops/rnn/gru_unit.h"

#include <cmath>

#include "providers/cpu/elements.h"
#include "tensor/narrowed.h"

namespace rh::cpu {

class GRUUnitKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit GRUUnitKernel(const KernelInfo& info) : op_(info.attributes<ops::GRUUnit>()) {}

  Status run(RunContext& context) const override {
    const TensorView h = context.input(0), gates = context.input(1);
    const int64_t depth = h.rank() == 0 ? 0 : h.shape()[h.rank() - 1], rows = depth == 0 ? 0 : h.elements() / depth;
    Shape expected = h.shape();
    if (h.rank() > 0) expected[h.rank() - 1] = checked_product(3, depth, "GRUUnit");
    if (h.rank() == 0 || !(gates.shape() == expected) || context.input(2).elements() != rows || context.input(3).elements() != 1) {
      return error_status(ErrorCode::invalid_argument,
                          "GRUUnit: states have shape {}, gates {}, sequence lengths {}, the step {}, expected [..., D], [..., 3 D], a "
                          "length a row and one number",
                          h.shape().to_string(), gates.shape().to_string(), context.input(2).shape().to_string(),
                          context.input(3).shape().to_string());
    }
    return dispatch<Types>(h.dtype(), "GRUUnit", [&]<typename T>() {
      const T* const lengths = context.input(2).data<T>();
      const double step = static_cast<double>(*context.input(3).data<T>());
      T* y = context.output(0, h.shape()).data<T>();
      for (int64_t row = 0; row < rows; ++row) {
        const T *before = h.data<T>() + row * depth, *update = gates.data<T>() + (3 * row + 1) * depth;
        const bool goes_on = step < static_cast<double>(lengths[row]);
        for (int64_t d = 0; d < depth; ++d) {
          const double state = static_cast<double>(before[d]), kept = 1 / (1 + std::exp(-static_cast<double>(update[d])));
          const double next = state * kept + std::tanh(static_cast<double>(update[depth + d])) * (1 - kept);
          y[row * depth + d] = narrowed<T>(goes_on ? next : op_.drop_states ? 0 : state);
        }
      }
    });
  }

 private:
  ops::GRUUnit op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GRUUnitKernel)
