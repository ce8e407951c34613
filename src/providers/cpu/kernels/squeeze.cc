#include "ops/tensor/squeeze.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// A view of the input without dimensions of 1.
class SqueezeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SqueezeKernel(const KernelInfo& info) : op_(info.attributes<ops::Squeeze>()) {}

  std::span<const Alias> aliases() const override { return kViewOfFirstInput; }

  Status run(RunContext& context) const override {
    const Shape& x = context.input_tensor(0).shape();
    const auto axes = ints_of(op_.axes, context);
    InlineVector<bool, 8> removed(x.size(), false);
    for (int k = 0; k < x.rank() && !axes; ++k) removed[k] = x[k] == 1;
    for (size_t i = 0; axes && i < axes->size(); ++i) {
      const int k = normalize_axis((*axes)[i], x.rank(), "Squeeze: axes");
      if (x[k] != 1)
        return error_status(ErrorCode::invalid_argument, "Squeeze: axis {} of input {} is {}, expected 1", k, x.to_string(), x[k]);
      removed[k] = true;
    }
    Shape y;
    for (int k = 0; k < x.rank(); ++k) {
      if (!removed[k]) y.push_back(x[k]);
    }
    context.output_view(0, 0, y);
    return {};
  }

 private:
  ops::Squeeze op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SqueezeKernel)
