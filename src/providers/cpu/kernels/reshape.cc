#include "ops/tensor/reshape.h"

#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

/// Of sizes, the product of those that are not 0; how many are.
struct Product {
  int64_t value = 1;
  int zeros = 0;

  void take(int64_t size) {
    if (size == 0) {
      ++zeros;
    } else {
      value = checked_product(value, size, "Reshape");
    }
  }
};

// The size at `open` that makes y hold as many elements as x. Dimensions that are copied from x cancel, and so do a 0 of x and one that is
// asked for: the rest has the size that other batches would give it.
int64_t remaining_size(const Shape& x, const Shape& y, std::span<const bool> copied, int open) {
  Product above, below;
  for (int k = 0; k < x.rank(); ++k) {
    if (k >= y.rank() || !copied[k]) above.take(x[k]);
  }
  for (int k = 0; k < y.rank(); ++k) {
    if (k != open && !copied[k]) below.take(y[k]);
  }
  if (below.zeros == 0 && above.zeros > 0) return 0;
  return above.value % below.value == 0 ? above.value / below.value : -1;
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
