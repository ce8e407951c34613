#include "ops/tensor/tile.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Dimension k becomes two: the repetition, read with stride 0, and the dimension itself.
class TileKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit TileKernel(const KernelInfo& info) : op_(info.attributes<ops::Tile>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape& shape = x.shape();
    InlineVector<int64_t, 8> repeats;
    if (op_.one_axis) {
      repeats.resize(shape.size(), 1);
      repeats[normalize_axis(scalar_int(context, 2, "Tile: axis"), shape.rank(), "Tile: axis")] = scalar_int(context, 1, "Tile: tiles");
    } else {
      repeats = context.input_ints(1);
    }
    if (repeats.size() != shape.size()) {
      return error_status(ErrorCode::invalid_argument, "Tile: repeats has {} elements, but the input has rank {}", repeats.size(),
                          shape.rank());
    }
    const Shape strides = strides_of(shape);
    Shape y_shape, parts, x_strides;
    for (int k = 0; k < shape.rank(); ++k) {
      if (repeats[k] < 0) return error_status(ErrorCode::invalid_argument, "Tile: repeats has {}, expected none below 0", repeats[k]);
      y_shape.push_back(checked_product(shape[k], repeats[k], "Tile"));
      parts.push_back(repeats[k]);
      parts.push_back(shape[k]);
      x_strides.push_back(0);
      x_strides.push_back(strides[k]);
    }
    check_elements(y_shape, "Tile");
    ElementOutput y(context, 0, x.dtype(), y_shape);
    compute::strided_copy(x.kind(), parts, x.data(), x_strides, y.data(), strides_of(parts), context.parallel());
    y.finish();
    return {};
  }

 private:
  ops::Tile op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TileKernel)
