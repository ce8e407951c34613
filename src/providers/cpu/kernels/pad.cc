#include "ops/tensor/pad.h"

#include <algorithm>
#include <span>

#include "compute/move/copy.h"
#include "compute/move/elements.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/thread_lists.h"
#include "tensor/narrowed.h"

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

/// Row by row of the output: each takes the input's row that it maps to, or the constant.
class PadKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit PadKernel(const KernelInfo& info) : op_(info.attributes<ops::Pad>()) {
    const DType dtype = info.input_dtype(0);
    if (op_.mode == Mode::constant && dtype != DType::undefined && (op_.value == 0 || NumericTypes::set.contains(dtype))) {
      value_ = own_value(op_, dtype);
    }
  }

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    Plan plan;
    RH_RETURN_IF_ERROR(resolve(context, x.shape(), plan));
    ElementOutput y(context, 0, x.dtype(), plan.y);
    if (y.elements() == 0) return {};
    for (int axis = 0; axis < plan.y.rank(); ++axis) {
      if (op_.mode == Mode::constant || plan.inner[axis] > 0 || plan.y[axis] == 0) continue;
      return error_status(ErrorCode::invalid_argument, "Pad: dimension {} of input {} has no element to repeat", axis,
                          x.shape().to_string());
    }
    const Tensor constant = op_.mode == Mode::constant ? fill_value(context, x.dtype()) : Tensor();
    const std::byte* fill = op_.mode == Mode::constant ? ElementInput(context, constant.view()).data() : nullptr;
    compute::dispatch_kind(x.kind(), [&]<typename T>() {
      const T* from = reinterpret_cast<const T*>(x.data());
      pad_rows<T>(context, plan, x.shape(), from, reinterpret_cast<const T*>(fill), reinterpret_cast<T*>(y.data()));
    });
    y.finish();
    return {};
  }

 private:
  struct Plan {
    Shape y, inner;      ///< the output, and the data that stays of the input
    Shape before, crop;  ///< where the data begins in the output, and in the input
  };

  /// Where in the input rows of the output come from: those of the axes before `axis`.
  class RowSources {
    using Axes = InlineVector<std::span<const int64_t>, 8>;

   public:
    RowSources(RunContext& context, const Plan& plan, const Shape& x_strides, int axis, Mode mode) {
      for (int k = 0; k < axis; ++k) {
        int64_t* const offsets = context.scratch_array<int64_t>(plan.y[k]);
        axes_.push_back({offsets, static_cast<size_t>(plan.y[k])});
        for (int64_t i = 0; i < plan.y[k]; ++i) {
          int64_t at = i - plan.before[k];
          const bool is_outside = at < 0 || at >= plan.inner[k];
          if (is_outside && mode != Mode::constant) at = source(mode, at, plan.inner[k]);
          offsets[i] = is_outside && mode == Mode::constant ? -1 : (at + plan.crop[k]) * x_strides[k];
        }
      }
    }

    /// One row after the other.
    class Walk {
     public:
      Walk(const RowSources& sources, int64_t row) : axes_(sources.axes_), index_(sources.axes_.size(), 0) {
        for (size_t k = axes_.size(); k-- > 0;) {
          const int64_t size = static_cast<int64_t>(axes_[k].size());
          index_[k] = row % size;
          row /= size;
        }
        set_outer();
      }
      /// -1: nowhere.
      int64_t offset() const {
        if (axes_.empty()) return 0;
        const int64_t inner = axes_.back()[static_cast<size_t>(index_.back())];
        return outer_ < 0 || inner < 0 ? -1 : outer_ + inner;
      }
      void next() {
        for (size_t k = axes_.size(); k-- > 0;) {
          if (++index_[k] < static_cast<int64_t>(axes_[k].size())) break;
          index_[k] = 0;
          if (k + 1 == axes_.size()) carried_ = true;
        }
        if (carried_) set_outer();
      }

     private:
      void set_outer() {
        outer_ = 0;
        carried_ = false;
        for (size_t k = 0; k + 1 < axes_.size(); ++k) {
          const int64_t offset = axes_[k][static_cast<size_t>(index_[k])];
          outer_ = offset < 0 || outer_ < 0 ? -1 : outer_ + offset;
        }
      }

      const Axes& axes_;
      InlineVector<int64_t, 8> index_;
      int64_t outer_ = 0;
      bool carried_ = false;
    };

   private:
    Axes axes_;
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
      const bool wild = std::abs(std::max(begin, -INT64_MAX)) > kLargest || std::abs(std::max(end, -INT64_MAX)) > kLargest;
      if (wild || x[k] + begin + end < 0) {
        return error_status(ErrorCode::invalid_argument, "Pad: pads {} and {} do not fit dimension {} of input {}", begin, end, k,
                            x.to_string());
      }
      plan.y[k] = x[k] + begin + end;
      plan.inner[k] = std::max<int64_t>(0, x[k] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0));
      if (plan.inner[k] == 0) continue;  // nothing of the input stays
      plan.before[k] = std::max<int64_t>(begin, 0);
      plan.crop[k] = std::max<int64_t>(-begin, 0);
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
    return value_.dtype() == dtype ? value_ : own_value(op_, dtype);
  }

  // That of the operator.
  static Tensor own_value(const ops::Pad& op, DType dtype) {
    Tensor value(dtype, Shape{});
    if (dtype == DType::string) return value;
    std::fill_n(value.data<char>(), value.bytes(), 0);
    if (op.value != 0) {
      dispatch_or_throw<NumericTypes>(dtype, "Pad", [&]<typename T>() { *value.data<T>() = narrowed<T>(op.value); });
    }
    return value;
  }

  // Rows along the last axis that is padded or cropped, of blocks of what lies behind it. A null constant means copies.
  template <typename T>
  void pad_rows(RunContext& context, const Plan& plan, const Shape& x_shape, const T* x, const T* constant, T* y) const {
    int axis = plan.y.rank() - 1;
    while (axis > 0 && plan.y[axis] == x_shape[axis] && plan.inner[axis] == x_shape[axis] && plan.before[axis] == 0) --axis;
    if (axis < 0) return copy_block(x, y, 1);
    const int64_t block = plan.y.product(axis + 1, plan.y.rank()), size = plan.y[axis], first = plan.before[axis];
    const int64_t inner = plan.inner[axis], cropped = plan.crop[axis] * block, last = first + inner;
    const double bytes = 2.0 * static_cast<double>(size * block) * sizeof(T);
    const RowSources sources(context, plan, strides_of(x_shape), axis, op_.mode);
    // The blocks of a row that lie outside the data, and where each comes from.
    const int64_t places = constant ? 0 : 2 * (size - inner);
    BoundedList<int64_t> outside({context.scratch_array<int64_t>(places), static_cast<size_t>(places)});
    const auto add_outside = [&](int64_t at) {
      outside.push_back(at * block);
      outside.push_back(source(op_.mode, at - first, inner) * block);
    };
    for (int64_t at = 0; at < first && !constant; ++at) add_outside(at);
    for (int64_t at = last; at < size && !constant; ++at) add_outside(at);
    context.parallel().for_range(plan.y.product(0, axis), {bytes, 8.0}, [&](Range part) {
      RowSources::Walk row(sources, part.begin);
      for (T* to = y + part.begin * size * block; to < y + part.end * size * block; to += size * block, row.next()) {
        const int64_t offset = row.offset();
        if (offset < 0) {
          std::fill_n(to, size * block, *constant);
          continue;
        }
        const T* from = x + offset + cropped;
        copy_block(from, to + first * block, inner * block);
        if (constant) {
          std::fill_n(to, first * block, *constant);
          std::fill_n(to + last * block, (size - last) * block, *constant);
        } else if (block == 1) {
          for (size_t i = 0; i < outside.size(); i += 2) to[outside[i]] = from[outside[i + 1]];
        } else {
          for (size_t i = 0; i < outside.size(); i += 2) copy_block(from + outside[i + 1], to + outside[i], block);
        }
      }
    });
  }

  template <typename T>
  static void copy_block(const T* from, T* to, int64_t count) {
    compute::copy_items(from, count, to);
  }

  ops::Pad op_;
  Tensor value_;  ///< of the operator, where the type of the input is known
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(PadKernel)
