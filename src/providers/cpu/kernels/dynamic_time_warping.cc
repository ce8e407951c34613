#include "ops/math/dynamic_time_warping.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "base/cancellation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class DynamicTimeWarpingKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit DynamicTimeWarpingKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if ((rank != 2 && !(rank == 3 && x.shape()[0] == 1)) || x.elements() == 0) {
      return error_status(ErrorCode::invalid_argument, "DynamicTimeWarping: the input has shape {}, expected [M, N] or [1, M, N]",
                          x.shape().to_string());
    }
    const int64_t rows = x.shape()[rank - 2], columns = x.shape()[rank - 1];
    const std::span<const Cell> path = cheapest(context, x.data<float>(), rows, columns);
    const auto steps = static_cast<int64_t>(path.size());
    int32_t* y = context.output(0, DType::int32, Shape{2, steps}).data<int32_t>();
    for (int64_t i = 0; i < steps; ++i) {
      const auto& [row, column] = path[static_cast<size_t>(steps - 1 - i)];
      y[i] = static_cast<int32_t>(row);
      y[steps + i] = static_cast<int32_t>(column);
    }
    return {};
  }

 private:
  enum Move : uint8_t { diagonal, down, right };

  struct Cell {
    int64_t row, column;
  };

  /// From the last cell back to the first.
  static std::span<const Cell> cheapest(RunContext& context, const float* costs, int64_t rows, int64_t columns) {
    constexpr float kNever = std::numeric_limits<float>::infinity();
    auto* const moves = context.scratch_array<uint8_t>(rows * columns);  // how each cell is reached
    // Sums, with a border before the first.
    float *above = context.scratch_array<float>(columns + 1), *here = context.scratch_array<float>(columns + 1);
    std::fill_n(above, columns + 1, kNever);
    above[0] = 0;
    for (int64_t row = 0; row < rows; ++row) {
      throw_if_cancelled();
      here[0] = kNever;
      for (int64_t column = 0; column < columns; ++column) {
        const auto k = static_cast<size_t>(column);
        const float across = above[k], up = above[k + 1], left = here[k];
        const Move move = across < up && across < left ? diagonal : up < across && up < left ? down : right;
        moves[row * columns + column] = move;
        here[k + 1] = costs[row * columns + column] + (move == diagonal ? across : move == down ? up : left);
      }
      std::swap(above, here);
    }
    auto* const path = context.scratch_array<Cell>(rows + columns);
    size_t steps = 0;
    int64_t row = rows - 1, column = columns - 1;
    while (row >= 0 && column >= 0) {
      path[steps++] = {row, column};
      const Move move = row == 0 ? (column == 0 ? diagonal : right) : column == 0 ? down : static_cast<Move>(moves[row * columns + column]);
      if (move != right) --row;
      if (move != down) --column;
    }
    return {path, steps};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DynamicTimeWarpingKernel)
