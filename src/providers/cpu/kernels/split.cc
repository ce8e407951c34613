#include "ops/tensor/split.h"

#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Parts that lie in the input without gaps are not copied where the plan has them there.
class SplitKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit SplitKernel(const KernelInfo& info) : op_(info.attributes<ops::Split>()) {
    for (int i = 0; i < info.node().output_count(); ++i) aliases_.push_back({i, 0, Alias::Kind::part});
  }

  std::span<const Alias> aliases() const override { return aliases_; }

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape& shape = x.shape();
    const int axis = normalize_axis(op_.axis, shape.rank(), "Split: axis");
    InlineVector<int64_t, 8> sizes;
    RH_RETURN_IF_ERROR(part_sizes(context, shape[axis], sizes));
    const int64_t rows = shape.product(0, axis), inner = shape.product(axis + 1, shape.rank());
    const int64_t row_length = shape[axis] * inner;
    int64_t column = 0;
    for (int i = 0; i < context.output_count(); ++i) {
      const int64_t length = sizes[i] * inner;
      if (context.has_output(i)) {
        Shape y_shape = shape;
        y_shape[axis] = sizes[i];
        if (rows == 1 && is_byte_sized(x.dtype())) {
          context.output_part(i, 0, column, y_shape);
          column += length;
          continue;
        }
        ElementOutput y(context, i, x.dtype(), y_shape);
        compute::strided_copy(x.kind(), Shape{rows, length}, x.at(column), Shape{row_length, 1}, y.data(), Shape{length, 1},
                              context.parallel());
        y.finish();
      }
      column += length;
    }
    return {};
  }

 private:
  Status part_sizes(const RunContext& context, int64_t size, InlineVector<int64_t, 8>& sizes) const {
    const int parts = context.output_count();
    if (const auto given = ints_of(op_.sizes, context)) {
      int64_t total = 0;
      bool fits = static_cast<int>(given->size()) == parts;
      for (size_t i = 0; fits && i < given->size(); ++i) {
        fits = (*given)[i] >= 0 && (*given)[i] <= size - total;
        if (fits) total += (*given)[i];
      }
      if (!fits || total != size) {
        return error_status(ErrorCode::invalid_argument, "Split: split is {}, expected {} sizes of at least 0 that add up to {}",
                            to_string(std::span<const int64_t>(*given)), parts, size);
      }
      sizes = *given;
      return {};
    }
    const ops::EqualParts equal = ops::equal_parts(Dim(size), parts, op_.uneven);
    if (equal.last.value() < 0 || (!op_.uneven && size % parts != 0)) {
      return error_status(ErrorCode::invalid_argument, "Split: dimension {} cannot be split into {} parts", size, parts);
    }
    sizes.resize(static_cast<size_t>(parts), equal.each.value());
    sizes.back() = equal.last.value();
    return {};
  }

  ops::Split op_;
  std::vector<Alias> aliases_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SplitKernel)
