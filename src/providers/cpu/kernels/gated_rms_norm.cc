#include "ops/nn/gated_rms_norm.h"

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "compute/scratch.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class GatedRMSNormKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit GatedRMSNormKernel(const KernelInfo& info) : op_(info.attributes<ops::GatedRMSNorm>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), scale = context.input(1), gate = context.input(2);
    const int64_t length = scale.elements();
    if (x.rank() < 1 || length == 0 || x.shape()[x.rank() - 1] % length != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "GatedRMSNorm: X has shape {} and scale {}, expected X's last dimension to be a multiple of the scale's elements",
                          x.shape().to_string(), scale.shape().to_string());
    }
    if (!(gate.shape() == x.shape())) {
      return error_status(ErrorCode::invalid_argument, "GatedRMSNorm: gate has shape {}, expected {}", gate.shape().to_string(),
                          x.shape().to_string());
    }
    const ConvertedOutput y(context, 0, x.shape(), DType::float32);
    const auto floats = [&](const TensorView& view) { return converted(context, view, DType::float32).data<float>(); };
    const float *from = floats(x), *factors = floats(scale), *gates = floats(gate);
    const auto activation = op_.activation == ops::GatedRMSNorm::Activation::silu ? compute::Unary::silu : compute::Unary::sigmoid;
    const Cost cost{12.0 * static_cast<double>(length), 12.0 * static_cast<double>(length)};
    context.parallel().for_range(x.elements() / length, cost, [&](Range rows) {
      auto* weights = static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(length) * sizeof(float)));
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        float* to = y.data<float>() + row * length;
        compute::rms_norm_rows(from + row * length, factors, op_.epsilon, to, nullptr, 1, length);
        compute::unary(activation, gates + row * length, weights, length);
        compute::binary(compute::Binary::mul, to, weights, to, length);
      }
    });
    y.store(context.parallel());
    return {};
  }

 private:
  ops::GatedRMSNorm op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatedRMSNormKernel)
