#include "ops/tensor/reshape.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

// The size at `open` that makes y hold as many elements as x. Dimensions that are copied from x cancel, so that a copied 0 leaves the
// rest known.
int64_t remaining_size(const Shape& x, const Shape& y, std::span<const bool> copied, int open) {
  int64_t above = 1, below = 1;
  for (int k = 0; k < x.rank(); ++k) {
    if (k >= y.rank() || !copied[k]) above = checked_product(above, x[k], "Reshape");
  }
  for (int k = 0; k < y.rank(); ++k) {
    if (k != open && !copied[k]) below = checked_product(below, y[k], "Reshape");
  }
  if (below == 0 || above % below != 0) return -1;
  return above / below;
}

}  // namespace

/// A view of the input under the shape asked for.
class ReshapeKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ReshapeKernel(const KernelInfo& info) : op_(info.attributes<ops::Reshape>()) {}

  std::span<const Alias> aliases() const override { return kViewOfFirstInput; }

  Status run(RunContext& context) const override {
    const Shape& x = context.input_tensor(0).shape();
    const auto target = ints_of(op_.shape, context);
    if (!target) return error_status(ErrorCode::invalid_argument, "Reshape: no shape is given");
    Shape y(target->begin(), target->end());
    InlineVector<bool, 8> copied(y.size(), false);
    int open = -1;
    for (int k = 0; k < y.rank(); ++k) {
      if (y[k] == -1 && open < 0) {
        open = k;
      } else if (y[k] < 0) {
        return error_status(ErrorCode::invalid_argument, "Reshape: shape {} has {}, expected sizes, 0 and at most one -1", y.to_string(),
                            y[k]);
      } else if (y[k] == 0 && !op_.allow_zero) {
        if (k >= x.rank()) {
          return error_status(ErrorCode::invalid_argument, "Reshape: shape {} copies dimension {}, but the input {} has rank {}",
                              y.to_string(), k, x.to_string(), x.rank());
        }
        copied[k] = true;
        y[k] = x[k];
      }
    }
    if (open >= 0) y[open] = remaining_size(x, y, copied, open);
    if ((open >= 0 && y[open] < 0) || y.elements() != x.elements()) {
      return error_status(ErrorCode::invalid_argument, "Reshape: shape {} does not fit input {} with {} elements",
                          to_string(std::span<const int64_t>(*target)), x.to_string(), x.elements());
    }
    context.output_view(0, 0, y);
    return {};
  }

 private:
  ops::Reshape op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ReshapeKernel)
