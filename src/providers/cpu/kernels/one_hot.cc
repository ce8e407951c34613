#include "ops/tensor/one_hot.h"

#include <cmath>

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Indices outside [-depth, depth) give no "on" value, as the standard says: they are not an error.
class OneHotKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit OneHotKernel(const KernelInfo& info) : op_(info.attributes<ops::OneHot>()) {}

  Status run(RunContext& context) const override {
    const TensorView indices = context.input(0), depth_input = context.input(1);
    const ElementInput values(context, 2);
    if (depth_input.elements() != 1 || values.elements() != 2) {
      return error_status(ErrorCode::invalid_argument, "OneHot: depth has {} elements and values {}, expected 1 and 2",
                          depth_input.elements(), values.elements());
    }
    const double wanted = element_as_double(depth_input, 0);
    if (!(wanted >= 1 && wanted <= 1e15))
      return error_status(ErrorCode::invalid_argument, "OneHot: depth is {}, expected at least 1", wanted);
    const int64_t depth = static_cast<int64_t>(wanted);
    const int axis = normalize_axis(op_.axis, indices.rank() + 1, "OneHot: axis");
    Shape y_shape = indices.shape();
    y_shape.insert(static_cast<size_t>(axis), depth);
    check_elements(y_shape, "OneHot: output");
    ElementOutput y(context, 0, values.dtype(), y_shape);
    if (y.elements() == 0) return {};
    const int64_t inner = indices.shape().product(axis, indices.rank()), block = depth * inner;
    const double bytes = static_cast<double>(compute::element_bytes(y.kind())) * static_cast<double>(block);
    context.parallel().for_range(indices.elements() / inner, {.bytes = bytes, .operations = 4.0 * static_cast<double>(inner)},
                                 [&](Range part) {
                                   for (int64_t outer = part.begin; outer < part.end; ++outer) {
                                     compute::fill_elements(y.kind(), values.at(0), y.at(outer * block), block);
                                     for (int64_t i = 0; i < inner; ++i) {
                                       const int64_t index = place(indices, outer * inner + i, depth);
                                       if (index >= 0)
                                         compute::copy_elements(y.kind(), values.at(1), y.at(outer * block + index * inner + i), 1);
                                     }
                                   }
                                 });
    y.finish();
    return {};
  }

 private:
  // -1 where the index is outside; fractions are cut off.
  static int64_t place(const TensorView& indices, int64_t i, int64_t depth) {
    if (is_floating(indices.dtype())) {
      const double value = std::trunc(element_as_double(indices, i));
      if (!(value >= -static_cast<double>(depth) && value < static_cast<double>(depth))) return -1;
      return static_cast<int64_t>(value < 0 ? value + static_cast<double>(depth) : value);
    }
    const int64_t value = element_as_int(indices, i);
    if (value < -depth || value >= depth) return -1;
    return value < 0 ? value + depth : value;
  }

  ops::OneHot op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OneHotKernel)
