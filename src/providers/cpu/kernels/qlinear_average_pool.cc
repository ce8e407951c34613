#include "ops/quant/qlinear_average_pool.h"

#include <algorithm>

#include "compute/image/pool.h"
#include "compute/move/transpose.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/quantization.h"

namespace rh::cpu {

namespace {

constexpr int64_t kChannels = 256;                // whose sums are made at once
constexpr int64_t kMostCount = int64_t{1} << 23;  // of bytes whose sum is below 2^31

/// [N, columns, rows] from [N, rows, columns].
template <typename T>
void swap_last_two(const Parallel& parallel, const T* from, int64_t batch, int64_t rows, int64_t columns, T* to) {
  const int64_t dims[] = {batch, rows, columns}, order[] = {0, 2, 1};
  compute::transpose(from, dims, order, sizeof(T), to, parallel);
}

/// The mean of each of `rows` rows of `count` codes.
template <typename T>
void whole_means(const Parallel& parallel, const T* x, int64_t rows, int64_t count, const TensorScale& scale, float* means) {
  const double work = static_cast<double>(count);
  parallel.for_range(rows, {.bytes = work, .operations = work / 16}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t sum = compute::sum_codes(x + i * count, count) - count * scale.zero_point;
      means[i] = static_cast<float>(static_cast<double>(sum) * static_cast<double>(scale.scale) / work);
    }
  });
}

/// The same of [batch, count, channels], of each channel.
template <typename T>
void whole_means_of_channels(const Parallel& parallel, const T* x, int64_t batch, int64_t count, int64_t channels, const TensorScale& scale,
                             float* means) {
  const int64_t parts = (channels + kChannels - 1) / kChannels;
  const double work = static_cast<double>(count);
  parallel.for_range(batch * parts, {.bytes = work * kChannels, .operations = work * kChannels / 16}, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t first = i % parts * kChannels, width = std::min(kChannels, channels - first);
      int32_t sums[kChannels];
      compute::sum_code_columns(x + i / parts * count * channels + first, channels, count, width, sums);
      for (int64_t j = 0; j < width; ++j) {
        const double sum = static_cast<double>(sums[j] - count * scale.zero_point);
        means[i / parts * channels + first + j] = static_cast<float>(sum * static_cast<double>(scale.scale) / work);
      }
    }
  });
}

}  // namespace

/// In float: dequantised, averaged, quantised. Means of whole channels come from exact sums.
class QLinearAveragePoolKernel final : public Kernel {
 public:
  using Types = ByteTypes;

  explicit QLinearAveragePoolKernel(const KernelInfo& info) : op_(info.attributes<ops::QLinearAveragePool>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int spatial = x.rank() - 2;
    if (spatial < 1 || (!op_.global && static_cast<size_t>(spatial) != op_.window.kernel.size())) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, C] and {} spatial dimensions",
                          x.shape().to_string(), op_.global ? 1 : op_.window.kernel.size());
    }
    TensorScale from, to;
    RH_RETURN_IF_ERROR(TensorScale::read(context, 1, 2, "the scale or zero point of X", from));
    RH_RETURN_IF_ERROR(TensorScale::read(context, 3, 4, "the scale or zero point of Y", to));
    compute::Window window;
    int64_t pad_end[3] = {0, 0, 0};
    const size_t first = op_.channels_last ? 1 : 2;
    Shape shape = x.shape();
    RH_RETURN_IF_ERROR(resolve({x.shape().begin() + first, static_cast<size_t>(spatial)}, window, pad_end, shape.begin() + first));
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    if (op_.global && x.elements() == 0) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected planes with elements: only N and C can be 0",
                          x.shape().to_string());
    }
    const int64_t batch = shape[0], channels = shape[op_.channels_last ? static_cast<size_t>(x.rank() - 1) : 1];
    float* means = context.scratch_array<float>(y.elements());
    return dispatch<Types>(x.dtype(), "QLinearAveragePool", [&]<typename T>() {
      const T* source = x.data<T>();
      const auto range = compute::QuantRange::of<T>(to.zero_point);
      if (op_.global && op_.channels_last && window.input_size() < kMostCount) {
        whole_means_of_channels(context.parallel(), source, batch, window.input_size(), channels, from, means);
        return compute::quantize(means, to.scale, range, y.data<T>(), y.elements());
      }
      if (op_.channels_last) {
        T* turned = context.scratch_array<T>(x.elements());
        swap_last_two(context.parallel(), source, batch, window.input_size(), channels, turned);
        source = turned;
      }
      if (op_.global) {
        whole_means(context.parallel(), source, batch * channels, window.input_size(), from, means);
      } else {
        float* values = context.scratch_array<float>(x.elements());
        context.parallel().for_range(x.elements(), {.bytes = 5, .operations = 1}, [&](Range part) {
          compute::dequantize(source + part.begin, from.scale, from.zero_point, values + part.begin, part.size());
        });
        compute::average_pool(window, pad_end, batch * channels, op_.count_include_pad, values, means, context.parallel());
      }
      T* target = op_.channels_last ? context.scratch_array<T>(y.elements()) : y.data<T>();
      compute::quantize(means, to.scale, range, target, y.elements());
      if (op_.channels_last) swap_last_two(context.parallel(), target, batch, channels, window.output_size(), y.data<T>());
    });
  }

 private:
  Status resolve(std::span<const int64_t> sizes, compute::Window& window, int64_t (&pad_end)[3], int64_t* output) const {
    ops::Window w = op_.window;
    if (op_.global) w = with_kernel({}, sizes);
    const ops::Sizes pads = w.pads_for(sizes);
    for (size_t i = 0; i < sizes.size(); ++i) {
      output[i] = std::max<int64_t>(0, w.output_size(i, sizes[i]));
      if (sizes.size() <= 3) pad_end[3 - sizes.size() + i] = pads[sizes.size() + i];
    }
    return conv_window(w, sizes, {output, sizes.size()}, pads, window);
  }

  ops::QLinearAveragePool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(QLinearAveragePoolKernel)
