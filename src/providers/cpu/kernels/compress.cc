#include "ops/tensor/compress.h"

#include <algorithm>

#include "base/interruptible.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class CompressKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit CompressKernel(const KernelInfo& info) : op_(info.attributes<ops::Compress>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const TensorView condition = context.input(1);
    const Shape& shape = x.shape();
    const int axis = op_.axis ? normalize_axis(*op_.axis, shape.rank(), "Compress: axis") : 0;
    const int64_t outer = op_.axis ? shape.product(0, axis) : 1, size = op_.axis ? shape[axis] : x.elements();
    const int64_t inner = op_.axis ? shape.product(axis + 1, shape.rank()) : 1;
    // A shorter condition drops what lies beyond it; what a longer one says of elements that are not there has no effect.
    int64_t* kept = context.scratch_array<int64_t>(size);
    int64_t count = 0;
    in_order(std::min(size, condition.elements()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        kept[count] = i;  // the next one takes its place where it is not kept
        count += condition.data<bool>()[i] ? 1 : 0;
      }
    });
    Shape y_shape{count};
    if (op_.axis) {
      y_shape = shape;
      y_shape[axis] = count;
    }
    ElementOutput y(context, 0, x.dtype(), y_shape);
    const double bytes = static_cast<double>(inner) * static_cast<double>(compute::element_bytes(x.kind()));
    if (inner == 1 && outer == 1) {
      compute::dispatch_kind(x.kind(), [&]<typename T>() {
        const T* from = reinterpret_cast<const T*>(x.data());
        T* to = reinterpret_cast<T*>(y.data());
        context.parallel().for_range(count, {2 * bytes, 1.0}, [&](Range part) {
          for (int64_t i = part.begin; i < part.end; ++i) to[i] = from[kept[i]];
        });
      });
    } else {
      context.parallel().for_range(outer * count, {2 * bytes, 1.0}, [&](Range part) {
        for (int64_t at = part.begin; at < part.end; ++at) {
          const int64_t o = at / count, i = at % count;
          compute::copy_elements(x.kind(), x.at((o * size + kept[i]) * inner), y.at(at * inner), inner);
        }
      });
    }
    y.finish();
    return {};
  }

 private:
  ops::Compress op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CompressKernel)
