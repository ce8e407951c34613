#include "ops/activation/bias_gelu.h"

#include <algorithm>

#include "compute/elementwise/activation.h"
#include "compute/elementwise/vector_math.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/float_rows.h"

namespace rh::cpu {

class BiasGeluKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit BiasGeluKernel(const KernelInfo& info) {
    function_.kind = info.attributes<ops::BiasGelu>().tanh ? compute::ActivationKind::gelu_tanh : compute::ActivationKind::gelu_erf;
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int64_t length = x.rank() == 0 ? 1 : x.shape()[x.rank() - 1];
    if (context.has_input(1) && (!(context.input(1).shape() == Shape{length}) || context.input(1).dtype() != x.dtype())) {
      return error_status(ErrorCode::invalid_argument, "GELU: the bias is {}{}, expected {}[{}], the last dimension of X",
                          to_string(context.input(1).dtype()), context.input(1).shape().to_string(), to_string(x.dtype()), length);
    }
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    const int64_t rows = x.elements() / length;
    const Cost cost{8.0 * static_cast<double>(length), 20.0 * static_cast<double>(length)};
    if (x.dtype() == DType::float64) {
      const double* bias = context.has_input(1) ? context.input(1).data<double>() : nullptr;
      context.parallel().for_range(rows, cost, [&](Range part) {
        for (int64_t i = part.begin * length; i < part.end * length; ++i) {
          y.data<double>()[i] = compute::activated(function_, x.data<double>()[i] + (bias ? bias[i % length] : 0));
        }
      });
      return {};
    }
    const float* bias = context.has_input(1) ? converted(context, context.input(1), DType::float32).data<float>() : nullptr;
    for_float_rows(context.parallel(), x, y, rows, length, cost, [&](const float* from, float* to, Range part) {
      if (!bias) return compute::activate(function_, from, to, part.size() * length);
      for (int64_t row = 0; row < part.size(); ++row, from += length, to += length) add_and_activate(from, bias, to, length);
    });
    return {};
  }

 private:
  /// A piece at a time, which stays in the first-level cache in between.
  void add_and_activate(const float* x, const float* bias, float* y, int64_t count) const {
    constexpr int64_t kPiece = 1024;
    for (int64_t i = 0; i < count; i += kPiece) {
      const int64_t size = std::min(kPiece, count - i);
      compute::binary(compute::Binary::add, x + i, bias + i, y + i, size);
      compute::activate(function_, y + i, y + i, size);
    }
  }

  compute::Activation function_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BiasGeluKernel)
