#include "ops/tensor/scatter_elements.h"

#include <algorithm>
#include <type_traits>

#include "base/interruptible.h"
#include "providers/cpu/axis_columns.h"
#include "providers/cpu/scatter_update.h"

namespace rh::cpu {

/// Updates are applied in order, so that with equal indices the last one stands.
class ScatterElementsKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit ScatterElementsKernel(const KernelInfo& info)
      : op_(info.attributes<ops::ScatterElements>()), in_place_(may_overwrite_data(info.node())) {}

  std::span<const Alias> aliases() const override {
    return in_place_ ? std::span<const Alias>(kInPlaceOfFirstInput) : std::span<const Alias>();
  }

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0), updates(context, 2);
    const Shape &shape = x.shape(), &count = context.input(1).shape();
    const int rank = shape.rank();
    const int axis = normalize_axis(op_.axis, rank, "ScatterElements: axis");
    bool fits = count.rank() == rank && updates.shape() == count;
    for (int k = 0; fits && k < rank; ++k) fits = k == axis || count[k] <= shape[k];
    if (!fits) {
      return error_status(ErrorCode::invalid_argument,
                          "ScatterElements: indices have shape {} and updates {}, expected the same, rank {} and at most {} off axis {}",
                          count.to_string(), updates.shape().to_string(), rank, shape.to_string(), axis);
    }
    const int64_t* indices = indices_of(context, 1);
    const bool none = op_.reduction == ops::ScatterReduction::none;
    if (count.elements() > 0 && (none || NumericTypes::set.contains(x.dtype())) &&
        (axis == rank - 1 || AxisColumns(shape, count, axis).fits())) {
      ElementOutput y(context, 0, x.dtype(), shape);
      start_from_data(x, y);
      const auto put = [&]<bool kReduces, typename T>() {
        update<kReduces>(context.parallel(), shape, count, axis, indices, reinterpret_cast<const T*>(updates.data()),
                         reinterpret_cast<T*>(y.data()));
      };
      if (none) {
        compute::dispatch_kind(x.kind(), [&]<typename T>() { put.template operator()<false, T>(); });
      } else {
        dispatch_or_throw<NumericTypes>(x.dtype(), "ScatterElements", [&]<typename T>() { put.template operator()<true, T>(); });
      }
      y.finish();
      return {};
    }
    const int64_t total = count.elements();
    const Shape strides = strides_of(shape);
    int64_t* places = context.scratch_array<int64_t>(total);
    Shape at(static_cast<size_t>(rank), 0);
    in_order(total, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        places[i] = checked_index(indices[i], shape[axis], "ScatterElements: indices") * strides[axis];
        for (int k = 0; k < rank; ++k) places[i] += k == axis ? 0 : at[k] * strides[k];
        for (int k = rank - 1; k >= 0 && ++at[k] == count[k]; --k) at[k] = 0;
      }
    });
    ElementOutput y(context, 0, x.dtype(), shape);
    start_from_data(x, y);
    RH_RETURN_IF_ERROR(with_scatter_write(op_.reduction, x.dtype(), updates, y, [&](auto write) {
      in_order(total, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) write(places[i], i, 1);
      });
    }));
    y.finish();
    return {};
  }

 private:
  /// Calls body(constant) with what `reduction` is, as a compile-time constant: loops then have no choice to make.
  template <bool kReduces, typename Body>
  static void with_reduction(ops::ScatterReduction reduction, Body&& body) {
    using enum ops::ScatterReduction;
    if constexpr (kReduces) {
      switch (reduction) {
        case add: return body(std::integral_constant<ops::ScatterReduction, add>());
        case mul: return body(std::integral_constant<ops::ScatterReduction, mul>());
        case min: return body(std::integral_constant<ops::ScatterReduction, min>());
        default: return body(std::integral_constant<ops::ScatterReduction, max>());
      }
    } else {
      body(std::integral_constant<ops::ScatterReduction, none>());
    }
  }

  template <ops::ScatterReduction kReduction, typename T>
  static void put(T& to, const T& from) {
    if constexpr (kReduction == ops::ScatterReduction::none)
      to = from;
    else
      to = reduced(kReduction, to, from);
  }

  /// The order of updates counts along the axis alone. Rows that go to one place whole, as indices that were expanded say, are reduced by
  /// vectors.
  template <bool kReduces, typename T>
  void update(const Parallel& parallel, const Shape& shape, const Shape& count, int axis, const int64_t* indices, const T* updates,
              T* y) const {
    const int64_t size = shape[axis];
    const auto place = [size](int64_t index) { return checked_index(index, size, "ScatterElements: indices"); };
    const AxisColumns columns(shape, count, axis);
    if (columns.fits()) {
      const int64_t stride = columns.inner();
      columns.run(parallel, sizeof(T), [=, this](int64_t base, int64_t first, int64_t width) {
        const int64_t* chosen = indices + first;
        const T* from = updates + first;
        T* column = y + base;
        if constexpr (kReduces) {
          if (std::all_of(chosen, chosen + width, [chosen](int64_t index) { return index == *chosen; }))
            return reduce_run(op_.reduction, column + place(*chosen) * stride, from, width);
        }
        with_reduction<kReduces>(op_.reduction, [&](auto reduction) {
          for (int64_t i = 0; i < width; ++i) put<reduction.value>(column[place(chosen[i]) * stride + i], from[i]);
        });
      });
      return;
    }
    const Shape strides = strides_of(shape);
    const int64_t length = count[axis];
    parallel.for_range(count.elements() / length, {16.0 * static_cast<double>(length), 4.0 * static_cast<double>(length)}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        int64_t base = 0, left = row;
        for (int k = axis - 1; k >= 0; --k) {
          base += left % count[k] * strides[k];
          left /= count[k];
        }
        with_reduction<kReduces>(op_.reduction, [&](auto reduction) {
          in_order(length, [&](int64_t begin, int64_t end) {
            for (int64_t i = row * length + begin; i < row * length + end; ++i)
              put<reduction.value>(y[base + place(indices[i])], updates[i]);
          });
        });
      }
    });
  }

  ops::ScatterElements op_;
  bool in_place_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ScatterElementsKernel)
