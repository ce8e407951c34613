#include "ops/signal/stft.h"

#include <algorithm>
#include <span>

#include "compute/fft.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/kept_transforms.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class STFTKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit STFTKernel(const KernelInfo& info) : op_(info.attributes<ops::STFT>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int64_t parts = x.rank() == 2 ? 1 : x.rank() == 3 ? x.shape()[2] : 0;
    if (parts != 1 && parts != 2) {
      return error_status(ErrorCode::invalid_argument, "STFT: the signal has shape {}, expected [batch, length] or [batch, length, 1 or 2]",
                          x.shape().to_string());
    }
    if (op_.onesided && parts == 2) {
      return error_status(ErrorCode::invalid_argument, "STFT: the signal {} is complex, expected a real one for onesided spectra",
                          x.shape().to_string());
    }
    const int64_t step = scalar_int(context, 1, "the frame_step of STFT"), signal = x.shape()[1];
    int64_t length = signal;
    if (context.has_input(2) && context.input(2).rank() == 1) length = context.input(2).shape()[0];
    if (context.has_input(3)) length = scalar_int(context, 3, "the frame_length of STFT");
    if (step < 1 || length < 1 || length > signal) {
      return error_status(ErrorCode::invalid_argument,
                          "STFT: frame_step is {}, frame_length {}, expected from 1, and at most the {} of the signal", step, length,
                          signal);
    }
    if (context.has_input(2) && !(context.input(2).shape() == Shape{length})) {
      return error_status(ErrorCode::invalid_argument, "STFT: the window has shape {}, expected [{}], the frame_length",
                          context.input(2).shape().to_string(), length);
    }
    const Shape shape{x.shape()[0], (signal - length) / step + 1, op_.onesided ? length / 2 + 1 : length, 2};
    check_elements(shape, "STFT: the output");
    const std::span<const double> window = context.has_input(2) ? as_doubles(context, context.input(2)) : ones(context, length);
    return dispatch<Types>(x.dtype(), "STFT", [&]<typename T>() {
      transform(context, *transforms_.of(length), window, step, x, context.output(0, shape).data<T>(), shape);
    });
  }

 private:
  static std::span<const double> ones(RunContext& context, int64_t count) {
    double* const values = context.scratch_array<double>(count);
    std::fill_n(values, count, 1.0);
    return {values, static_cast<size_t>(count)};
  }

  template <typename T>
  static void transform(RunContext& context, const compute::Fft& fft, std::span<const double> window, int64_t step, const TensorView& x,
                        T* y, const Shape& shape) {
    const int64_t frames = shape[1], bins = shape[2], parts = x.rank() == 2 ? 1 : x.shape()[2];
    const double cost = 50.0 * static_cast<double>(fft.size());
    context.parallel().for_range(shape[0] * frames, Cost{.bytes = 0, .operations = cost}, [&](Range range) {
      const auto frame = thread_list<compute::Fft::Complex>(ThreadList::first, fft.size());
      const auto scratch = thread_list<compute::Fft::Complex>(ThreadList::second, fft.scratch_size());
      for (int64_t i = range.begin; i < range.end; ++i) {
        const T* from = x.data<T>() + (i / frames * x.shape()[1] + i % frames * step) * parts;
        for (size_t k = 0; k < window.size(); ++k, from += parts) {
          frame[k] = {static_cast<double>(from[0]) * window[k], parts == 2 ? static_cast<double>(from[1]) * window[k] : 0};
        }
        fft.forward(frame.data(), scratch.data());
        T* to = y + i * bins * 2;
        for (int64_t k = 0; k < bins; ++k) {
          to[2 * k] = narrowed<T>(frame[static_cast<size_t>(k)].real());
          to[2 * k + 1] = narrowed<T>(frame[static_cast<size_t>(k)].imag());
        }
      }
    });
  }

  ops::STFT op_;
  KeptTransforms transforms_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(STFTKernel)
