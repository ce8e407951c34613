#include "ops/tensor/pad.h"

#include <algorithm>

#include "compute/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

using Mode = ops::Pad::Mode;

// Where a padded position `at`, relative to the data, takes its element from in [0, size).
int64_t source(Mode mode, int64_t at, int64_t size) {
  if (mode == Mode::edge) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t period = mode == Mode::wrap ? size : std::max<int64_t>(1, 2 * (size - 1));
  const int64_t place = (at % period + period) % period;
  return mode == Mode::wrap || place < size ? place : period - place;
}

}  // namespace

/// The data is copied into the middle. Then, axis by axis from the last, what lies before and after it along the axis is filled: with the
/// constant, or with copies of blocks that already stand.
class PadKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit PadKernel(const KernelInfo& info) : op_(info.attributes<ops::Pad>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    Plan plan;
    RH_RETURN_IF_ERROR(resolve(context, x.shape(), plan));
    ElementOutput y(context, 0, x.dtype(), plan.y);
    if (y.elements() == 0) return {};
    const Shape y_strides = strides_of(plan.y);
    int64_t x_offset = 0, y_offset = 0;
    const Shape x_strides = strides_of(x.shape());
    for (int k = 0; k < plan.y.rank(); ++k) {
      x_offset += plan.crop[k] * x_strides[k];
      y_offset += plan.before[k] * y_strides[k];
    }
    const Tensor constant = op_.mode == Mode::constant ? fill_value(context, x.dtype()) : Tensor();
    if (plan.inner.elements() > 0) {
      compute::strided_copy(x.kind(), plan.inner, x.at(x_offset), x_strides, y.at(y_offset), y_strides, context.parallel());
    }
    for (int axis = plan.y.rank() - 1; axis >= 0; --axis) {
      if (plan.inner[axis] == plan.y[axis]) continue;
      if (op_.mode == Mode::constant) {
        fill_axis(context, plan, axis, y, ElementInput(context, constant.view()).data());
      } else if (plan.inner[axis] == 0) {
        return error_status(ErrorCode::invalid_argument, "Pad: dimension {} of input {} has no element to repeat", axis,
                            x.shape().to_string());
      } else {
        fill_axis(context, plan, axis, y, nullptr);
      }
    }
    y.finish();
    return {};
  }

 private:
  struct Plan {
    Shape y, inner;      ///< the output, and the data that stays of the input
    Shape before, crop;  ///< where the data begins in the output, and in the input
  };

  Status resolve(const RunContext& context, const Shape& x, Plan& plan) const {
    const auto pads = ints_of(op_.pads, context), axes = ints_of(op_.axes, context);
    const size_t count = axes ? axes->size() : x.size();
    if (!pads || pads->size() != 2 * count) {
      return error_status(ErrorCode::invalid_argument, "Pad: pads has {} elements, expected {}", pads ? pads->size() : 0, 2 * count);
    }
    plan = {x, x, Shape(x.size(), 0), Shape(x.size(), 0)};
    for (size_t i = 0; i < count; ++i) {
      const int k = axes ? normalize_axis((*axes)[i], x.rank(), "Pad: axes") : static_cast<int>(i);
      const int64_t begin = (*pads)[i], end = (*pads)[count + i];
      constexpr int64_t kLargest = int64_t{1} << 60;
      const int64_t inner = begin < -kLargest || end < -kLargest ? -1 : x[k] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0);
      if (inner < 0 || begin > kLargest || end > kLargest) {
        return error_status(ErrorCode::invalid_argument, "Pad: pads {} and {} do not fit dimension {} of input {}", begin, end, k,
                            x.to_string());
      }
      plan.inner[k] = inner;
      plan.before[k] = std::max<int64_t>(begin, 0);
      plan.crop[k] = std::max<int64_t>(-begin, 0);
      plan.y[k] = inner + plan.before[k] + std::max<int64_t>(end, 0);
    }
    check_elements(plan.y, "Pad: pads");
    return {};
  }

  // The constant as one element of the input's type.
  Tensor fill_value(const RunContext& context, DType dtype) const {
    if (context.has_input(2)) {
      const Tensor& value = context.input_tensor(2);
      if (value.elements() != 1) fail(ErrorCode::invalid_argument, "Pad: constant_value has {} elements, expected 1", value.elements());
      if (value.dtype() != dtype) {
        fail(ErrorCode::invalid_argument, "Pad: constant_value is {}, expected {}", to_string(value.dtype()), to_string(dtype));
      }
      return value;
    }
    Tensor value(dtype, Shape{});
    if (dtype == DType::string) return value;
    std::fill_n(value.data<char>(), value.bytes(), 0);
    if (op_.value != 0) {
      dispatch_or_throw<NumericTypes>(dtype, "Pad", [&]<typename T>() { *value.data<T>() = static_cast<T>(op_.value); });
    }
    return value;
  }

  // Everything outside the data along one axis, for each position of the data in the axes before it. A null constant means copies.
  void fill_axis(RunContext& context, const Plan& plan, int axis, const ElementOutput& y, const std::byte* constant) const {
    const Shape strides = strides_of(plan.y);
    const int64_t block = strides[axis], first = plan.before[axis], size = plan.inner[axis];
    const double bytes =
        static_cast<double>(plan.y[axis] - size) * static_cast<double>(block) * static_cast<double>(compute::element_bytes(y.kind()));
    const int64_t outer = plan.inner.product(0, constant ? 0 : axis);
    const int64_t rows = constant ? plan.y.product(0, axis) : outer;
    context.parallel().for_range(rows, {2 * bytes, 1.0}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        int64_t offset = 0, left = row;
        for (int k = axis - 1; k >= 0; --k) {
          const int64_t extent = constant ? plan.y[k] : plan.inner[k];
          offset += (left % extent + (constant ? 0 : plan.before[k])) * strides[k];
          left /= extent;
        }
        if (constant) {
          compute::fill_elements(y.kind(), constant, y.at(offset), first * block);
          compute::fill_elements(y.kind(), constant, y.at(offset + (first + size) * block), (plan.y[axis] - first - size) * block);
          continue;
        }
        for (int64_t at = 0; at < plan.y[axis]; ++at) {
          if (at >= first && at < first + size) continue;
          const int64_t from = first + source(op_.mode, at - first, size);
          compute::copy_elements(y.kind(), y.at(offset + from * block), y.at(offset + at * block), block);
        }
      }
    });
  }

  ops::Pad op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(PadKernel)
