#include "ops/tensor/gather.h"

#include <algorithm>

#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Copies whole blocks: what lies behind one index of the axis is contiguous.
class GatherKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit GatherKernel(const KernelInfo& info) : op_(info.attributes<ops::Gather>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const TensorView indices = context.input(1);
    const Shape& shape = x.shape();
    const int axis = normalize_axis(op_.axis, shape.rank(), "Gather: axis");
    Shape y_shape(shape.begin(), shape.begin() + axis);
    for (int64_t d : indices.shape()) y_shape.push_back(d);
    for (int k = axis + 1; k < shape.rank(); ++k) y_shape.push_back(shape[k]);
    ElementOutput y(context, 0, x.dtype(), y_shape);
    const int64_t size = shape[axis], block = shape.product(axis + 1, shape.rank()), count = indices.elements();
    // Indices are checked and made positions once, before the loop over rows.
    const int64_t* given = indices_of(context, 1);
    int64_t* positions = context.scratch_array<int64_t>(count);
    context.parallel().for_range(count, {16.0, 1.0}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) positions[i] = checked_index(given[i], size, "Gather: indices");
    });
    const double bytes = static_cast<double>(block) * static_cast<double>(compute::element_bytes(x.kind()));
    if (block == 1) {
      compute::dispatch_kind(x.kind(), [&]<typename T>() {
        const T* from = reinterpret_cast<const T*>(x.data());
        T* to = reinterpret_cast<T*>(y.data());
        context.parallel().for_range(shape.product(0, axis) * count, {2.0 * sizeof(T), 1.0}, [&](Range part) {
          if (count == 1) {  // one column
            const T* column = from + positions[0];
            for (int64_t row = part.begin; row < part.end; ++row) to[row] = column[row * size];
            return;
          }
          for (int64_t begin = part.begin, end; begin < part.end; begin = end) {
            const int64_t row = begin / count;
            end = std::min(part.end, (row + 1) * count);
            const T* of_row = from + row * size;
            for (int64_t i = begin; i < end; ++i) to[i] = of_row[positions[i - row * count]];
          }
        });
      });
    } else if (block > 0) {
      context.parallel().for_range(shape.product(0, axis) * count, {2 * bytes, 1.0}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          const int64_t from = row / count * size + positions[row % count];
          compute::copy_elements(x.kind(), x.at(from * block), y.at(row * block), block);
        }
      });
    }
    y.finish();
    return {};
  }

 private:
  ops::Gather op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatherKernel)
