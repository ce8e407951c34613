#include "ops/vision/affine_grid.h"

#include "providers/cpu/elements.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// In double.
class AffineGridKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit AffineGridKernel(const KernelInfo& info) : op_(info.attributes<ops::AffineGrid>()) {}

  Status run(RunContext& context) const override {
    const Shape& theta = context.input(0).shape();
    const InlineVector<int64_t, 8> size = context.input_ints(1);
    const int64_t rank = static_cast<int64_t>(size.size()) - 2;
    if ((rank != 2 && rank != 3) || !(theta == Shape{size[0], rank, rank + 1})) {
      return error_status(
          ErrorCode::invalid_argument,
          "AffineGrid: theta has shape {} and size is {}, expected [N, 2, 3] and [N, C, H, W], or [N, 3, 4] and [N, C, D, H, W]",
          theta.to_string(), to_string(std::span<const int64_t>(size.begin(), size.size())));
    }
    Shape shape{size[0]};
    for (int64_t i = 0; i < rank; ++i) shape.push_back(size[static_cast<size_t>(i) + 2]);
    shape.push_back(rank);
    check_elements(shape, "AffineGrid: size");
    const std::span<const double> matrices = as_doubles(context, context.input(0));
    const MutableView y = context.output(0, shape);
    return dispatch<Types>(y.dtype(), "AffineGrid", [&]<typename T>() {
      if (y.elements() == 0) return;
      if (rank == 2) {
        fill<T, 2>(context, shape, matrices.data(), y.data<T>());
      } else {
        fill<T, 3>(context, shape, matrices.data(), y.data<T>());
      }
    });
  }

 private:
  /// A row of positions takes the same products with the columns' positions whatever its other positions are.
  template <typename T, int64_t kRank>
  void fill(RunContext& context, const Shape& shape, const double* matrices, T* y) const {
    const int64_t width = shape[kRank], height = shape[kRank - 1], rows = shape.product(1, static_cast<int>(kRank));
    double* products = context.scratch_array<double>(shape[0] * width * kRank);
    for (int64_t i = 0; i < shape[0] * width; ++i) {
      const double* matrix = matrices + i / width * kRank * (kRank + 1);
      const double at = position(i % width, width);
      for (int64_t k = 0; k < kRank; ++k) products[i * kRank + k] = matrix[k * (kRank + 1)] * at;
    }
    const double work = 2.0 * static_cast<double>(width) * kRank;
    context.parallel().for_range(shape[0] * rows, {work * sizeof(T), work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const double* matrix = matrices + i / rows * kRank * (kRank + 1);
        const double at[] = {position(i % height, height), kRank == 3 ? position(i % rows / height, shape[1]) : 0};
        double rest[kRank];
        for (int64_t k = 0; k < kRank; ++k) {
          rest[k] = matrix[k * (kRank + 1) + kRank] + matrix[k * (kRank + 1) + 1] * at[0];
          if constexpr (kRank == 3) rest[k] += matrix[k * (kRank + 1) + 2] * at[1];
        }
        const double* __restrict x = products + i / rows * width * kRank;
        T* __restrict to = y + i * width * kRank;
        for (int64_t column = 0; column < width; ++column) {
          for (int64_t k = 0; k < kRank; ++k) to[column * kRank + k] = narrowed<T>(x[column * kRank + k] + rest[k]);
        }
      }
    });
  }

  /// The middle of an element along an axis of which -1 and 1 are the ends.
  double position(int64_t index, int64_t length) const {
    if (op_.align_corners) return length == 1 ? -1 : 2 * static_cast<double>(index) / static_cast<double>(length - 1) - 1;
    return (2 * static_cast<double>(index) + 1) / static_cast<double>(length) - 1;
  }

  ops::AffineGrid op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(AffineGridKernel)
