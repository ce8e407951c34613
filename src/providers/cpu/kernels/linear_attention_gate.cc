#include "ops/nn/linear_attention_gate.h"

#include "compute/elementwise/vector_math.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class LinearAttentionGateKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit LinearAttentionGateKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0);
    const int64_t heads = a.rank() > 0 ? a.shape()[a.rank() - 1] : 0;
    for (int i : {1, 2}) {
      if (a.rank() == 0 || !(context.input(i).shape() == Shape{heads})) {
        return error_status(ErrorCode::invalid_argument, "LinearAttentionGate: {} has shape {}, expected [{}], the heads of a{}",
                            i == 1 ? "dt_bias" : "decay_scale", context.input(i).shape().to_string(), heads, a.shape().to_string());
      }
    }
    if (context.has_output(1)) write_beta(context);
    if (context.has_output(0)) write_decay(context, heads);
    return {};
  }

 private:
  static constexpr Cost kCostOfHead{8, 16};

  static void write_decay(RunContext& context, int64_t heads) {
    const float* a = converted(context, context.input(0), DType::float32).data<float>();
    const float *bias = context.input(1).data<float>(), *scale = context.input(2).data<float>();
    const ConvertedOutput y(context, 0, context.input(0).shape(), DType::float32);
    const int64_t rows = heads == 0 ? 0 : y.view().elements() / heads;
    const double size = static_cast<double>(heads);
    context.parallel().for_range(rows, {kCostOfHead.bytes * size, kCostOfHead.operations * size}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        float* to = y.data<float>() + row * heads;
        compute::binary(compute::Binary::add, a + row * heads, bias, to, heads);
        compute::unary(compute::Unary::softplus, to, to, heads);
        compute::binary(compute::Binary::mul, to, scale, to, heads);
      }
    });
    y.store(context.parallel());
  }

  static void write_beta(RunContext& context) {
    const float* b = converted(context, context.input(3), DType::float32).data<float>();
    const ConvertedOutput y(context, 1, context.input(3).shape(), DType::float32);
    context.parallel().for_range(y.view().elements(), kCostOfHead, [&](Range part) {
      compute::unary(compute::Unary::sigmoid, b + part.begin, y.data<float>() + part.begin, part.end - part.begin);
    });
    y.store(context.parallel());
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LinearAttentionGateKernel)
