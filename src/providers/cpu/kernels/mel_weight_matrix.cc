#include "ops/signal/mel_weight_matrix.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

}  // namespace

class MelWeightMatrixKernel final : public Kernel {
 public:
  using Types = rh::Types<int32_t, int64_t>;

  explicit MelWeightMatrixKernel(const KernelInfo& info) : op_(info.attributes<ops::MelWeightMatrix>()) {}

  Status run(RunContext& context) const override {
    const int64_t bins = scalar_int(context, 0, "num_mel_bins"), length = scalar_int(context, 1, "dft_length");
    const int64_t rate = scalar_int(context, 2, "sample_rate");
    if (context.input(3).elements() != 1 || context.input(4).elements() != 1) {
      return error_status(ErrorCode::invalid_argument, "MelWeightMatrix: the edges have shapes {} and {}, expected scalars",
                          context.input(3).shape().to_string(), context.input(4).shape().to_string());
    }
    const double lower = element_as_double(context.input(3), 0), upper = element_as_double(context.input(4), 0);
    if (bins < 1 || length < 1 || rate < 1 || !(lower >= 0 && lower <= upper && upper <= static_cast<double>(rate) / 2)) {
      return error_status(ErrorCode::invalid_argument,
                          "MelWeightMatrix: num_mel_bins is {}, dft_length {}, sample_rate {}, the edges {} and {} Hz; expected positive "
                          "numbers and 0 <= lower <= upper <= sample_rate / 2",
                          bins, length, rate, lower, upper);
    }
    const Shape shape{length / 2 + 1, bins};
    check_elements(shape, "MelWeightMatrix: the matrix");
    const MutableView y = context.output(0, op_.dtype, shape);
    const MutableView wide(DType::float64, y.shape(), op_.dtype == DType::float64 ? y.raw() : context.scratch_array<double>(y.elements()));
    fill(corners(bins, length, rate, to_mel(lower), to_mel(upper)), bins, shape[0], wide.data<double>());
    if (y.raw() != wide.raw()) convert(context.parallel(), wide, y);
    return {};
  }

 private:
  /// Rows where the triangles begin, peak and end: triangle i has corners i, i + 1 and i + 2.
  static std::vector<int64_t> corners(int64_t bins, int64_t length, int64_t rate, double low, double high) {
    std::vector<int64_t> rows(static_cast<size_t>(bins) + 2);
    const double step = (high - low) / static_cast<double>(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      const double hertz = to_hertz(low + step * static_cast<double>(i));
      rows[i] = static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate)));
    }
    return rows;
  }

  static void fill(const std::vector<int64_t>& corner, int64_t columns, int64_t rows, double* out) {
    std::fill_n(out, rows * columns, 0.0);
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t *at = corner.data() + column, begin = at[0], peak = at[1], end = at[2];
      for (int64_t row = begin; row <= peak && row < rows; ++row) {
        out[row * columns + column] = begin == peak ? 1 : static_cast<double>(row - begin) / static_cast<double>(peak - begin);
      }
      for (int64_t row = peak; row < end && row < rows; ++row) {
        out[row * columns + column] = static_cast<double>(end - row) / static_cast<double>(end - peak);
      }
    }
  }

  ops::MelWeightMatrix op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MelWeightMatrixKernel)
