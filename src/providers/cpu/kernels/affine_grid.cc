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
    const std::vector<double> matrices = as_doubles(context.input(0));
    const MutableView y = context.output(0, shape);
    const int64_t positions = shape.product(1, static_cast<int>(rank) + 1);
    return dispatch<Types>(y.dtype(), "AffineGrid", [&]<typename T>() {
      context.parallel().for_range(shape[0] * positions, {24, 40}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          const double* matrix = matrices.data() + i / positions * rank * (rank + 1);
          double at[3];  // innermost first
          for (int64_t k = 0, left = i % positions; k < rank; ++k) {
            const int64_t length = shape[static_cast<size_t>(rank - k)];
            at[k] = position(left % length, length);
            left /= length;
          }
          for (int64_t row = 0; row < rank; ++row) {
            double sum = matrix[row * (rank + 1) + rank];
            for (int64_t k = 0; k < rank; ++k) sum += matrix[row * (rank + 1) + k] * at[k];
            y.data<T>()[i * rank + row] = narrowed<T>(sum);
          }
        }
      });
    });
  }

 private:
  /// The middle of an element along an axis of which -1 and 1 are the ends.
  double position(int64_t index, int64_t length) const {
    if (op_.align_corners) return length == 1 ? -1 : 2 * static_cast<double>(index) / static_cast<double>(length - 1) - 1;
    return (2 * static_cast<double>(index) + 1) / static_cast<double>(length) - 1;
  }

  ops::AffineGrid op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(AffineGridKernel)
