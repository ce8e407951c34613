#include "ops/tensor/gather_elements.h"

#include <algorithm>
#include <type_traits>

#include "compute/scratch.h"
#include "providers/cpu/axis_columns.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class GatherElementsKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit GatherElementsKernel(const KernelInfo& info) : op_(info.attributes<ops::GatherElements>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape &shape = x.shape(), &count = context.input(1).shape();
    const int rank = shape.rank();
    const int axis = normalize_axis(op_.axis, rank, "GatherElements: axis");
    bool fits = count.rank() == rank;
    for (int k = 0; fits && k < rank; ++k) fits = k == axis || count[k] <= shape[k];
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "GatherElements: indices have shape {}, expected rank {} and at most {} off axis {}",
                          count.to_string(), rank, shape.to_string(), axis);
    }
    const int64_t* indices = indices_of(context, 1);
    ElementOutput y(context, 0, x.dtype(), count);
    if (y.elements() == 0) return {};
    const Shape strides = strides_of(shape);
    const int64_t inner = count[rank - 1];
    const AxisColumns columns(shape, count, axis);
    compute::dispatch_kind(x.kind(), [&]<typename T>() {
      const T* from = reinterpret_cast<const T*>(x.data());
      T* to = reinterpret_cast<T*>(y.data());
      if constexpr (std::is_trivially_copyable_v<T>) {
        if (columns.fits() && columns.pays_to_pack(sizeof(T)))
          return gather_packed(context.parallel(), columns, from, indices, to, shape[axis]);
      }
      if (columns.fits()) {
        const int64_t size = shape[axis], stride = columns.inner();
        columns.run(context.parallel(), sizeof(T), [=](int64_t base, int64_t first, int64_t width) {
          const int64_t* chosen = indices + first;
          const T* column = from + base;
          T* out = to + first;
          for (int64_t i = 0; i < width; ++i) out[i] = column[checked(chosen[i], size) * stride + i];
        });
        return;
      }
      context.parallel().for_range(y.elements() / inner, {24.0 * inner, 4.0 * inner}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          int64_t base = 0, left = row;
          for (int k = rank - 2; k >= 0; --k) {
            if (k != axis) base += left % count[k] * strides[k];
            left /= count[k];
          }
          const int64_t size = shape[axis], stride = strides[axis];
          const auto index_at = [&](int64_t i) { return checked(indices[row * inner + i], size); };
          const T* source = from + base;
          T* out = to + row * inner;
          if (axis == rank - 1) {
            for (int64_t i = 0; i < inner; ++i) out[i] = source[index_at(i)];
          } else {
            for (int64_t i = 0; i < inner; ++i) out[i] = source[index_at(i) * stride + i];
          }
        }
      });
    });
    y.finish();
    return {};
  }

 private:
  /// By blocks of columns that are first laid out side by side.
  template <typename T>
  static void gather_packed(const Parallel& parallel, const AxisColumns& columns, const T* from, const int64_t* indices, T* to,
                            int64_t size) {
    const int64_t stride = columns.inner();
    columns.run_blocks(parallel, sizeof(T), AxisColumns::kPackedColumns, [=, &columns](int64_t base, int64_t first, int64_t width) {
      T* packed = static_cast<T*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(size * width) * sizeof(T)));
      for (int64_t i = 0; i < size; ++i) std::copy_n(from + base + i * stride, width, packed + i * width);
      columns.for_rows([=](int64_t row) {
        const int64_t* chosen = indices + first + row * stride;
        T* out = to + first + row * stride;
        for (int64_t i = 0; i < width; ++i) out[i] = packed[checked(chosen[i], size) * width + i];
      });
    });
  }

  static int64_t checked(int64_t index, int64_t size) { return checked_index(index, size, "GatherElements: indices"); }

  ops::GatherElements op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatherElementsKernel)
