#include "ops/tensor/trilu.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "compute/move/copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class TriluKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit TriluKernel(const KernelInfo& info) : op_(info.attributes<ops::Trilu>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const int rank = x.shape().rank();
    if (rank < 2) return error_status(ErrorCode::invalid_argument, "Trilu: the input has rank {}, expected at least 2", rank);
    const int64_t rows = x.shape()[rank - 2], columns = x.shape()[rank - 1];
    const int64_t diagonal = std::clamp(context.has_input(1) ? scalar_int(context, 1, "Trilu: k") : 0, -rows - 1, columns + 1);
    ElementOutput y(context, 0, x.dtype(), x.shape());
    if (y.elements() == 0) return {};
    compute::dispatch_kind(x.kind(), [&]<typename T>() {
      const T* from = reinterpret_cast<const T*>(x.data());
      T* to = reinterpret_cast<T*>(y.data());
      if constexpr (std::is_integral_v<T>) {
        if (rows * columns <= kSmall && y.elements() > kSmall)
          return keep_of_each(context.parallel(), {rows, columns}, diagonal, y, from, to);
      }
      context.parallel().for_range(y.elements() / columns, {2.0 * sizeof(T) * columns, 0.2 * columns}, [&](Range part) {
        for (int64_t row = part.begin; row < part.end; ++row) {
          // Columns from `split` on belong to the upper triangle; the lower one reaches up to and with the diagonal itself.
          const int64_t split = std::clamp<int64_t>(row % rows + diagonal + (op_.upper ? 0 : 1), 0, columns);
          const T* a = from + row * columns;
          T* b = to + row * columns;
          if (op_.upper) {
            std::fill_n(b, split, T());
            compute::copy_items(a + split, columns - split, b + split);
          } else {
            compute::copy_items(a, split, b);
            std::fill(b + split, b + columns, T());
          }
        }
      });
    });
    y.finish();
    return {};
  }

 private:
  static constexpr int64_t kBlock = 16;
  static constexpr int64_t kSmall = 1024;  // elements of a matrix, of which all are looked at

  /// Of many small matrices: the bits of an element stay, or none.
  template <typename T>
  void keep_of_each(const Parallel& parallel, std::array<int64_t, 2> size, int64_t diagonal, const ElementOutput& y, const T* from,
                    T* to) const {
    const int64_t count = size[0] * size[1];
    T kept[kSmall];
    for (int64_t i = 0; i < count; ++i) {
      const int64_t above = i % size[1] - i / size[1] - diagonal;
      kept[i] = (op_.upper ? above >= 0 : above <= 0) ? static_cast<T>(~T(0)) : T(0);
    }
    const double elements = static_cast<double>(count);
    parallel.for_range(y.elements() / count, {2.0 * sizeof(T) * elements, 0.2 * elements}, [&](Range part) {
      for (int64_t at = part.begin * count; at < part.end * count; at += count) {
        int64_t i = 0;
        for (; i + kBlock <= count; i += kBlock) {  // of a length that compilers have vectors for
          T block[kBlock];
          for (int64_t k = 0; k < kBlock; ++k) block[k] = static_cast<T>(from[at + i + k] & kept[i + k]);
          std::copy_n(block, kBlock, to + at + i);
        }
        for (; i < count; ++i) to[at + i] = static_cast<T>(from[at + i] & kept[i]);
      }
    });
  }

  ops::Trilu op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(TriluKernel)
