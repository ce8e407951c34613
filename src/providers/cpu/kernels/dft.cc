#include "ops/signal/dft.h"

#include <algorithm>

#include "compute/fft.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

class DFTKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit DFTKernel(const KernelInfo& info) : op_(info.attributes<ops::DFT>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int rank = x.rank();
    if (rank < 2 || (x.shape()[rank - 1] != 1 && x.shape()[rank - 1] != 2)) {
      return error_status(ErrorCode::invalid_argument, "DFT: the input has shape {}, expected [..., 1] or [..., 2]", x.shape().to_string());
    }
    const int axis = normalize_axis(op_.axis_is_input ? scalar_int(context, 2, "the axis of DFT") : op_.axis, rank, "axis of DFT");
    if (axis == rank - 1) {
      return error_status(ErrorCode::invalid_argument, "DFT: axis is {}, expected one before the last, which holds the complex parts",
                          axis);
    }
    const int64_t size = x.shape()[axis];
    const int64_t length = context.has_input(1) ? scalar_int(context, 1, "the dft_length of DFT") : op_.default_length(size);
    if (length < 1 || length > kLongest) {
      return error_status(ErrorCode::invalid_argument, "DFT: the length is {}, expected [1, {}]", length, kLongest);
    }
    Shape shape = x.shape();
    shape[axis] = op_.onesided && !op_.inverse ? length / 2 + 1 : length;
    shape[rank - 1] = op_.gives_real() ? 1 : 2;
    check_elements(shape, "DFT: the output");
    const Lines lines{shape.product(0, axis), shape.product(axis + 1, rank - 1), size, shape[axis]};
    return dispatch<Types>(x.dtype(), "DFT", [&]<typename T>() {
      T* y = context.output(0, shape).data<T>();  // before the tables of the transform: memory for a wild length is refused here
      transform(context, compute::Fft(length), lines, x.shape()[rank - 1] == 2, x.data<T>(), y);
    });
  }

 private:
  static constexpr int64_t kLongest = int64_t{1} << 40;

  struct Lines {
    int64_t outer, inner, in_length, out_length;
  };

  /// Each line along the axis is gathered, transformed and put down.
  template <typename T>
  void transform(RunContext& context, const compute::Fft& fft, const Lines& lines, bool is_complex, const T* x, T* y) const {
    const auto length = static_cast<size_t>(fft.size());
    const int64_t from_parts = is_complex ? 2 : 1, to_parts = op_.gives_real() ? 1 : 2;
    const double cost = 50.0 * static_cast<double>(length);
    context.parallel().for_range(lines.outer * lines.inner, Cost{.bytes = 0, .operations = cost}, [&](Range range) {
      std::vector<compute::Fft::Complex> line(length), scratch(static_cast<size_t>(fft.scratch_size()));
      for (int64_t i = range.begin; i < range.end; ++i) {
        const int64_t outer = i / lines.inner, inner = i % lines.inner;
        const T* from = x + (outer * lines.in_length * lines.inner + inner) * from_parts;
        T* to = y + (outer * lines.out_length * lines.inner + inner) * to_parts;
        read(from, lines.inner * from_parts, lines.in_length, is_complex, line);
        if (op_.inverse) {
          fft.inverse(line.data(), scratch.data());
        } else {
          fft.forward(line.data(), scratch.data());
        }
        for (int64_t k = 0; k < lines.out_length; ++k, to += lines.inner * to_parts) {
          to[0] = narrowed<T>(line[static_cast<size_t>(k)].real());
          if (to_parts == 2) to[1] = narrowed<T>(line[static_cast<size_t>(k)].imag());
        }
      }
    });
  }

  /// A line cut or filled up with zeros; where a half spectrum stands for a whole one, the other half mirrors it.
  template <typename T>
  void read(const T* from, int64_t stride, int64_t size, bool is_complex, std::vector<compute::Fft::Complex>& line) const {
    const auto length = static_cast<int64_t>(line.size());
    const int64_t used = std::min(size, op_.gives_real() ? length / 2 + 1 : length);
    std::fill(line.begin() + used, line.end(), compute::Fft::Complex());
    for (int64_t k = 0; k < used; ++k, from += stride) {
      line[static_cast<size_t>(k)] = {static_cast<double>(from[0]), is_complex ? static_cast<double>(from[1]) : 0};
    }
    if (!op_.gives_real()) return;
    line[0].imag(0);
    if (length % 2 == 0) line[static_cast<size_t>(length / 2)].imag(0);
    for (int64_t k = 1; 2 * k < length; ++k) line[static_cast<size_t>(length - k)] = std::conj(line[static_cast<size_t>(k)]);
  }

  ops::DFT op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DFTKernel)
