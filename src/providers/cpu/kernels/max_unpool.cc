#include "ops/nn/max_unpool.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "providers/cpu/elements.h"

namespace rh::cpu {

class MaxUnpoolKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit MaxUnpoolKernel(const KernelInfo& info) : op_(info.attributes<ops::MaxUnpool>()) {}

  Status run(RunContext& context) const override {
    const Shape& x = context.input(0).shape();
    const size_t rank = op_.window.kernel.size();
    if (x.size() != rank + 2 || !(context.input(1).shape() == x)) {
      return error_status(ErrorCode::invalid_argument,
                          "MaxUnpool: X has shape {} and the indices {}, expected the same, with {} spatial dimensions", x.to_string(),
                          context.input(1).shape().to_string(), rank);
    }
    for (size_t i = 0; i < rank; ++i) {
      if (x[i + 2] >= int64_t{1} << 31)
        return error_status(ErrorCode::invalid_argument, "MaxUnpool: X has shape {}, which is too large", x.to_string());
    }
    Shape unpooled{x[0], x[1]};
    for (size_t i = 0; i < rank; ++i) unpooled.push_back(std::max<int64_t>(0, op_.unpooled_size(i, x[i + 2])));
    check_elements(unpooled, "MaxUnpool: output");
    Shape shape = unpooled;
    if (context.has_input(2)) {
      const InlineVector<int64_t, 8> given = context.input_ints(2);
      shape = Shape(std::span<const int64_t>(given.begin(), given.size()));
      bool fits = shape.size() == unpooled.size();
      for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] >= unpooled[i];
      if (!fits)
        return error_status(ErrorCode::invalid_argument, "MaxUnpool: output_shape is {}, expected at least {}", shape.to_string(),
                            unpooled.to_string());
      check_elements(shape, "MaxUnpool: output_shape");
    }
    const MutableView y = context.output(0, shape);
    const int64_t* indices = indices_of(context, 1);
    const int64_t elements = unpooled.elements();
    const Shape strides = strides_of(shape);
    return dispatch<Types>(y.dtype(), "MaxUnpool", [&]<typename T>() {
      const T* from = context.input(0).data<T>();
      T* to = y.data<T>();
      if (shape == unpooled && stay_in_planes(context.parallel(), x, shape, indices, from, to)) return;
      if (y.bytes() > 0) std::memset(y.raw(), 0, y.bytes());
      if (shape == unpooled) {
        for (int64_t i = 0; i < x.elements(); ++i) to[checked_index(indices[i], elements, "MaxUnpool: an index")] = from[i];
        return;
      }
      for (int64_t i = 0; i < x.elements(); ++i) {
        int64_t left = checked_index(indices[i], elements, "MaxUnpool: an index"), at = 0;
        for (size_t k = shape.size(); k-- > 0; left /= unpooled[k]) at += left % unpooled[k] * strides[k];
        to[at] = from[i];
      }
    });
  }

 private:
  /// Plane by plane, as MaxPool's indices are; false, with anything in `to`, where one is of another plane.
  template <typename T>
  static bool stay_in_planes(const Parallel& parallel, const Shape& x, const Shape& y, const int64_t* indices, const T* from, T* to) {
    const int64_t pooled = x.product(2, x.rank()), plane = y.product(2, y.rank());
    const double work = static_cast<double>(pooled + plane);
    std::atomic<bool> fits{true};
    parallel.for_range(x[0] * x[1], {sizeof(T) * work, work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        T* const out = to + i * plane;
        std::fill_n(out, plane, T(0.0F));
        const bool stays = place_plane(from + i * pooled, indices + i * pooled, pooled, i * plane, static_cast<uint64_t>(plane), out);
        if (!stays) fits.store(false, std::memory_order_relaxed);
      }
    });
    return fits.load(std::memory_order_relaxed);
  }

  template <typename T>
  static bool place_plane(const T* __restrict from, const int64_t* __restrict indices, int64_t count, int64_t first, uint64_t plane,
                          T* __restrict out) {
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t at = static_cast<uint64_t>(indices[i]) - static_cast<uint64_t>(first);
      if (at >= plane) return false;
      out[at] = from[i];
    }
    return true;
  }

  ops::MaxUnpool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MaxUnpoolKernel)
