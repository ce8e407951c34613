#include "ops/tensor/unsqueeze.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// A view of the input with more dimensions of 1.
class UnsqueezeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit UnsqueezeKernel(const KernelInfo& info) : op_(info.attributes<ops::Unsqueeze>()) {}

  std::span<const Alias> aliases() const override { return kViewOfFirstInput; }

  Status run(RunContext& context) const override {
    const Shape& x = context.input_tensor(0).shape();
    const auto axes = ints_of(op_.axes, context);
    if (!axes) return error_status(ErrorCode::invalid_argument, "Unsqueeze: no axes are given");
    const int rank = x.rank() + static_cast<int>(axes->size());
    InlineVector<bool, 8> added(static_cast<size_t>(rank), false);
    for (int64_t axis : *axes) {
      const int k = normalize_axis(axis, rank, "Unsqueeze: axes");
      if (added[k]) return error_status(ErrorCode::invalid_argument, "Unsqueeze: axes name axis {} more than once", k);
      added[k] = true;
    }
    Shape y;
    for (int k = 0, from = 0; k < rank; ++k) y.push_back(added[k] ? 1 : x[from++]);
    context.output_view(0, 0, y);
    return {};
  }

 private:
  ops::Unsqueeze op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UnsqueezeKernel)
