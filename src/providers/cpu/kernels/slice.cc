#include "ops/tensor/slice.h"

#include <algorithm>

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// What lies in the input without gaps is not copied where the plan has it there.
class SliceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SliceKernel(const KernelInfo& info)
      : op_(info.attributes<ops::Slice>()),
        by_one_(op_.steps.values ? std::ranges::all_of(*op_.steps.values, [](int64_t step) { return step == 1; })
                                 : !info.node().has_input(op_.steps.input)) {}

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::part}};
    return by_one_ ? list : std::span<const Alias>{};
  }

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    Shape y_shape = x.shape(), strides = strides_of(x.shape());
    int64_t offset = 0;
    RH_RETURN_IF_ERROR(resolve(context, x.shape(), y_shape, strides, offset));
    if (is_byte_sized(x.dtype()) && has_no_gaps(y_shape, strides)) {
      context.output_part(0, 0, y_shape.elements() == 0 ? 0 : offset, y_shape);
      return {};
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    if (y.elements() != 0) {
      compute::strided_copy(x.kind(), y_shape, x.at(offset), strides, y.data(), strides_of(y_shape), context.parallel());
    }
    y.finish();
    return {};
  }

 private:
  static bool has_no_gaps(const Shape& shape, const Shape& strides) {
    int64_t next = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      if (shape[i] != 1 && strides[i] != next) return shape.elements() == 0;
      next *= shape[i];
    }
    return true;
  }

  // The output shape, the strides with which it walks through x, and where it begins.
  Status resolve(const RunContext& context, const Shape& x, Shape& y, Shape& strides, int64_t& offset) const {
    const auto starts = ints_of(op_.starts, context), ends = ints_of(op_.ends, context);
    const auto axes = ints_of(op_.axes, context), steps = ints_of(op_.steps, context);
    const size_t count = starts ? starts->size() : 0;
    if (!starts || !ends || ends->size() != count || (axes && axes->size() != count) || (steps && steps->size() != count) ||
        count > x.size()) {
      return error_status(ErrorCode::invalid_argument,
                          "Slice: starts, ends, axes and steps have {}, {}, {} and {} elements, expected equal numbers up to {}", count,
                          ends ? ends->size() : 0, axes ? axes->size() : count, steps ? steps->size() : count, x.rank());
    }
    InlineVector<bool, 8> seen(x.size(), false);
    for (size_t i = 0; i < count; ++i) {
      const int axis = axes ? normalize_axis((*axes)[i], x.rank(), "Slice: axes") : static_cast<int>(i);
      const int64_t step = steps ? (*steps)[i] : 1;
      if (seen[axis]) return error_status(ErrorCode::invalid_argument, "Slice: axis {} is named more than once", axis);
      if (step == 0) return error_status(ErrorCode::invalid_argument, "Slice: steps has 0 for axis {}", axis);
      seen[axis] = true;
      const ops::SliceRange range = ops::slice_range(x[axis], (*starts)[i], (*ends)[i], step);
      y[axis] = range.count;
      offset += range.start * strides[axis];
      if (range.count > 1) strides[axis] *= step;
    }
    return {};
  }

  ops::Slice op_;
  bool by_one_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SliceKernel)
