#include "ops/nn/causal_conv_with_state.h"

#include "compute/scratch.h"
#include "compute/vector_math.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class CausalConvWithStateKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit CausalConvWithStateKernel(const KernelInfo& info) : op_(info.attributes<ops::CausalConvWithState>()) {}

  Status run(RunContext& context) const override {
    const Shape &x = context.input(0).shape(), &weight = context.input(1).shape();
    if (x.rank() != 3 || weight.rank() != 3 || weight[0] != x[1] || weight[1] != 1 || weight[2] < 1) {
      return error_status(ErrorCode::invalid_argument,
                          "CausalConvWithState: input has shape {} and weight {}, expected [batch, channels, length] and [channels, 1, k]",
                          x.to_string(), weight.to_string());
    }
    const Shape state{x[0], x[1], weight[2] - 1}, bias{x[1]};
    RH_RETURN_IF_ERROR(check(context, 2, bias, "bias"));
    RH_RETURN_IF_ERROR(check(context, 3, state, "past_state"));
    const MutableView y = context.output(0, x), present = context.output(1, state);
    return dispatch<Types>(context.input(0).dtype(), "CausalConvWithState", [&]<typename T>() {
      const double work = static_cast<double>(x[2]) * static_cast<double>(weight[2]);
      context.parallel().for_range(x[0] * x[1], {2.0 * sizeof(T) * static_cast<double>(x[2]), work}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) run_row<T>(context, row, x[2], weight[2], y.data<T>(), present.data<T>());
      });
    });
  }

 private:
  static Status check(const RunContext& context, int input, const Shape& expected, const char* name) {
    if (!context.has_input(input) || context.input(input).shape() == expected) return {};
    return error_status(ErrorCode::invalid_argument, "CausalConvWithState: {} has shape {}, expected {}", name,
                        context.input(input).shape().to_string(), expected.to_string());
  }

  template <typename T>
  void run_row(const RunContext& context, int64_t row, int64_t length, int64_t k, T* y, T* present) const {
    const int64_t before = k - 1, channel = row % context.input(0).shape()[1];
    float* x =
        static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(before + 2 * length) * sizeof(float)));
    float* sums = x + before + length;
    const auto widen = [](const T* from, int64_t count, float* to) {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    };
    if (context.has_input(3)) {
      widen(context.input(3).data<T>() + row * before, before, x);
    } else {
      std::fill_n(x, before, 0.0f);
    }
    widen(context.input(0).data<T>() + row * length, length, x + before);
    std::fill_n(sums, length, context.has_input(2) ? static_cast<float>(context.input(2).data<T>()[channel]) : 0.0f);
    const T* weight = context.input(1).data<T>() + channel * k;
    for (int64_t i = 0; i < k; ++i) compute::add_scaled(x + i, static_cast<float>(weight[i]), sums, length);
    if (op_.silu) compute::unary(compute::Unary::silu, sums, sums, length);
    for (int64_t i = 0; i < length; ++i) y[row * length + i] = static_cast<T>(sums[i]);
    for (int64_t i = 0; i < before; ++i) present[row * before + i] = static_cast<T>(x[length + i]);
  }

  ops::CausalConvWithState op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CausalConvWithStateKernel)
