#include <algorithm>
#include <optional>

#include "base/cancellation.h"
#include "compute/conv/conv_variants.h"
#include "compute/conv/transpose/conv_transpose_impl.h"
#include "compute/move/transpose.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBandBytes = 1024 * 1024;  // of a band's products, whatever the number of threads: same bits
constexpr int64_t kMostBandBytes = 16 << 20;
constexpr int64_t kLeastAdded = 8;  // numbers that are worth a call

/// What one kernel position adds to the outputs of a phase along an axis: output i of the phase gets input i + base.
struct TapShift {
  int64_t position, base;

  /// Outputs of [0, count) whose input is there.
  Range within(int64_t count, int64_t inputs) const {
    const int64_t begin = std::clamp<int64_t>(-base, 0, count);
    return {begin, std::clamp<int64_t>(inputs - base, begin, count)};
  }
};

/// A phase of the outputs along an axis, whose `begin`-th output is at place 0 of the axis, and what its kernel positions add to it.
struct AxisTaps {
  AxisPhase axis;
  PackedVector<TapShift> taps;  ///< bases of outputs from `begin` on

  AxisTaps(const Window& kernel, int d, int64_t phase) : axis(phase, kernel.stride[d], kernel.kernel[d], kernel.dilation[d]) {
    taps.reserve(static_cast<size_t>(axis.taps));
    for (int64_t t = 0; t < axis.taps; ++t) {
      const int64_t position = axis.first + t * axis.step;
      taps.push_back({position, (phase - position * kernel.dilation[d]) / kernel.stride[d]});  // a whole number
    }
  }
};

/// The same in a call.
struct AxisSums {
  const PackedVector<TapShift>& taps;
  AxisOutputs outputs;
  int64_t begin;  ///< to be added to bases

  AxisSums(const AxisTaps& axis, const Window& kernel, const Window& w, int d, int64_t phase)
      : taps(axis.taps),
        outputs(axis.axis, phase, kernel.stride[d], w.pad_begin[d], w.output[d]),
        begin((outputs.first + w.pad_begin[d] - phase) / kernel.stride[d]) {}
};

/// The convolution of single pixels that makes all products, and its planes.
ConvChannels product_channels(const ConvChannels& channels, const Window& window) {
  return {channels.in, channels.out * window.kernel_size(), channels.groups};
}
Window product_pixels(const Window& window) {
  Window pixels;
  pixels.input[1] = pixels.output[1] = window.input[0] * window.input[1];
  pixels.input[2] = pixels.output[2] = window.input[2];
  return pixels;
}

/// Bytes of the products of a row of inputs, at all depths.
double row_bytes(const ConvChannels& channels, const Window& kernel, const Window& w) {
  return sizeof(float) * static_cast<double>(channels.out) * static_cast<double>(kernel.kernel_size()) * static_cast<double>(w.input[0]) *
         static_cast<double>(w.input[2]);
}
/// Rows of inputs that are multiplied together: those of two neighbouring bands that both need are few beside them.
int64_t rows_of_band(const ConvChannels& channels, const Window& kernel, const Window& w) {
  if (w.input[0] > 1) return w.input[1];
  const double fitting = kBandBytes / std::max(1.0, row_bytes(channels, kernel, w));
  const double reached = 4 * static_cast<double>(kernel.kernel[1] - 1) * static_cast<double>(kernel.dilation[1]);
  constexpr double kMostRows = 1 << 30;
  return static_cast<int64_t>(std::clamp(std::max(fitting, reached), 1.0, kMostRows));
}

/// One product makes what each input gives at each kernel position; outputs are sums of planes of these.
class TransposedSums final : public TransposedImpl<float> {
 public:
  TransposedSums(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation,
                 bool lean)
      : channels_(channels),
        window_(window),
        activation_(activation),
        taps_(window.kernel_size()),
        bias_(static_cast<size_t>(channels.out), 0.0f) {
    if (bias) bias_.assign(bias, bias + channels.out);
    const int64_t dims[] = {channels.groups, channels.in / channels.groups, channels.out / channels.groups * taps_}, order[] = {0, 2, 1};
    PackedVector<float> rows(static_cast<size_t>(channels.in * dims[2]));
    transpose(weights, dims, order, sizeof(float), rows.data(), {});
    for (int d = 0; d < 3; ++d) axes_[d].reserve(static_cast<size_t>(window.stride[d]));
    for (int d = 0; d < 3; ++d)
      for (int64_t phase = 0; phase < window.stride[d]; ++phase) axes_[d].emplace_back(window, d, phase);
    product_.emplace(product_channels(channels, window), product_pixels(window), rows.data(), nullptr, Activation{}, std::string_view{},
                     ConvAccuracy::usual, lean);
  }

  size_t weight_bytes() const override { return product_->weight_bytes(); }
  std::string_view variant() const override { return "sums"; }

  void run(const Window& w, int64_t batch, const float* x, float* y, const Parallel& parallel) const override {
    const int64_t rows = rows_of_band(channels_, window_, w);
    const int64_t bands = w.input[0] > 1 ? 1 : std::max<int64_t>(1, w.output[1] / (rows * window_.stride[1]));
    const auto run_one = [&](int64_t i, const Parallel& own) {
      const int64_t image = i / bands;
      throw_if_cancelled();
      run_band({w, x + image * channels_.in * w.input_size(), y + image * channels_.out * w.output_size(),
                share_of(w.output[1], bands, i % bands)},
               own);
    };
    if (batch * bands < 2 * parallel.threads()) {
      for (int64_t i = 0; i < batch * bands; ++i) run_one(i, parallel);
      return;
    }
    const double work = static_cast<double>(channels_.out * taps_) * static_cast<double>(w.input_size()) *
                        static_cast<double>(channels_.in / channels_.groups);
    parallel.for_range(batch * bands, {.bytes = 0, .operations = 0.25 * work / static_cast<double>(bands)}, [&](Range pieces) {
      for (int64_t i = pieces.begin; i < pieces.end; ++i) run_one(i, {});
    });
  }

 private:
  /// Some rows of an image's output, at all depths.
  struct Band {
    const Window& w;
    const float* x;
    float* y;
    Part rows;
  };

  void run_band(const Band& band, const Parallel& parallel) const {
    const Window& w = band.w;
    const int64_t reach = (window_.kernel[1] - 1) * window_.dilation[1], stride = window_.stride[1],
                  first = band.rows.begin + w.pad_begin[1];
    Part inputs{0, w.input[1]};  // rows that reach the band's
    if (w.input[0] == 1) {
      inputs.begin = std::clamp<int64_t>((first - reach + stride - 1) / stride, 0, w.input[1]);
      inputs.size = std::clamp<int64_t>((first + band.rows.size - 1) / stride + 1, inputs.begin, w.input[1]) - inputs.begin;
    }
    const float* products = inputs.size > 0 ? multiply(band, inputs, parallel) : nullptr;
    constexpr int64_t kRows = 32;
    const int64_t parts = parallel.threads() > 1 ? pieces_of(band.rows.size, kRows) : 1, pieces = channels_.out * parts;
    const double outputs = static_cast<double>(w.output[0] * band.rows.size * w.output[2]) / static_cast<double>(parts);
    const double added = static_cast<double>(taps_) / static_cast<double>(TransposedPhase::count(window_));
    parallel.for_range(pieces, {.bytes = 8 * outputs, .operations = outputs * added}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        const Part part = share_of(band.rows.size, parts, i % parts);
        add_up(band, {band.rows.begin + part.begin, part.size}, inputs, products, i / parts);
      }
    });
  }

  /// [output channel, kernel position, depth, row, column] of some rows of inputs.
  const float* multiply(const Band& band, const Part& rows, const Parallel& parallel) const {
    const Window& w = band.w;
    const int64_t pixels = w.input[0] * rows.size * w.input[2];
    auto* const products =
        static_cast<float*>(thread_scratch(ScratchSlot::phase, static_cast<size_t>(channels_.out * taps_ * pixels) * sizeof(float)));
    Window inner;
    inner.input[1] = w.input[0] * w.input[1];
    inner.output[1] = w.input[0] * rows.size;
    inner.input[2] = inner.output[2] = w.input[2];
    inner.pad_begin[1] = -rows.begin;
    product_->run(inner, 1, band.x, nullptr, products, parallel);
    return products;
  }

  AxisSums sums_of(const Window& w, int d, int64_t phase) const { return {axes_[d][static_cast<size_t>(phase)], window_, w, d, phase}; }

  /// Some rows of one channel's outputs.
  void add_up(const Band& band, const Part& rows, const Part& inputs, const float* products, int64_t channel) const {
    const Window& w = band.w;
    const int64_t columns = window_.stride[2], width = (w.output[2] + columns - 1) / columns;
    for (int64_t d = 0; d < window_.stride[0]; ++d) {
      const AxisSums depths = sums_of(w, 0, d);
      for (int64_t h = 0; h < window_.stride[1]; ++h) {
        const AxisSums of_rows = sums_of(w, 1, h);
        // The phase's outputs that are asked for.
        const int64_t stride = window_.stride[1], skipped = std::max<int64_t>(0, pieces_of(rows.begin - of_rows.outputs.first, stride));
        const int64_t last = rows.begin + rows.size - 1 - of_rows.outputs.first, count = last < 0 ? 0 : last / stride + 1 - skipped;
        if (count <= 0) continue;
        for (int64_t depth = 0; depth < depths.outputs.count; ++depth) {
          const int64_t plane = (channel * w.output[0] + depths.outputs.first + depth * window_.stride[0]) * w.output[1];
          float* const y = band.y + (plane + of_rows.outputs.first + skipped * stride) * w.output[2];
          const Sums sums = columns == 1 ? Sums{y, stride * w.output[2], count, 0}
                                         : Sums{scratch_floats(ScratchSlot::row, columns * count * width), width, count, count * width};
          begin(sums, columns, width, bias_[static_cast<size_t>(channel)]);
          for (int64_t column = 0; column < columns && products; ++column) {
            const AxisSums of_columns = sums_of(w, 2, column);
            if (of_columns.outputs.count > 0) add_phase(w, inputs, products, channel, depths, depth, of_rows, skipped, of_columns, sums);
          }
          if (activation_.kind != ActivationKind::none)
            activate_rows(activation_.of_channel(channel), sums.at, columns * count, width, sums.row);
          for (int64_t i = 0; i < count && columns > 1; ++i)
            join_phases(sums.at + i * width, sums.apart, columns, w.output[2], y + i * stride * w.output[2]);
        }
      }
    }
  }

  /// Sums of some rows of outputs: phases of width `apart`, by their first column, or the only one in its place.
  struct Sums {
    float* at;
    int64_t row;
    int64_t rows;
    int64_t apart;
  };

  static void begin(const Sums& sums, int64_t phases, int64_t width, float bias) {
    if (sums.row == width) return static_cast<void>(std::fill_n(sums.at, phases * sums.rows * width, bias));
    for (int64_t i = 0; i < sums.rows; ++i) std::fill_n(sums.at + i * sums.row, width, bias);
  }

  /// Adds all kernel positions to a phase's sums, the first of which is row `skipped` of the phase.
  void add_phase(const Window& w, const Part& inputs, const float* products, int64_t channel, const AxisSums& depths, int64_t depth,
                 const AxisSums& rows, int64_t skipped, const AxisSums& columns, const Sums& sums) const {
    const int64_t plane = inputs.size * w.input[2];
    AddedRows p{};
    p.a_row = w.input[2];
    p.b_row = p.y_row = sums.row;
    for (const TapShift& d : depths.taps) {
      const int64_t from = depth + depths.begin + d.base;
      if (from < 0 || from >= w.input[0]) continue;
      for (const TapShift& r : rows.taps) {
        const int64_t base = rows.begin + r.base + skipped - inputs.begin;
        const Range live = TapShift{0, base}.within(sums.rows, inputs.size);
        for (const TapShift& c : columns.taps) {
          const int64_t shift = columns.begin + c.base;
          const Range across = TapShift{0, shift}.within(columns.outputs.count, w.input[2]);
          const int64_t tap = (d.position * window_.kernel[1] + r.position) * window_.kernel[2] + c.position;
          p.rows = live.size();
          p.columns = across.size();
          p.a = products + ((channel * taps_ + tap) * w.input[0] + from) * plane + (live.begin + base) * w.input[2] + across.begin + shift;
          p.y = sums.at + columns.outputs.first * sums.apart + live.begin * sums.row + across.begin;
          p.b = p.y;
          add(p);
        }
      }
    }
  }

  void add(const AddedRows& p) const {
    if (p.rows * p.columns >= kLeastAdded) return static_cast<void>(add_(p));
    for (int64_t i = 0; i < p.rows; ++i)
      for (int64_t j = 0; j < p.columns; ++j) p.y[i * p.y_row + j] += p.a[i * p.a_row + j];
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  const int64_t taps_;
  PackedVector<float> bias_;
  PackedVector<AxisTaps> axes_[3];  ///< by phase
  std::optional<Convolution<float>> product_;
  bool (*const add_)(const AddedRows& args) = conv_add_rows();
};

}  // namespace

bool transposed_sums_fit(const ConvChannels& channels, const Window& window) {
  if (window.input_size() == 1 && window.output_size() == 1) return false;  // sizes are not known
  const int64_t rows = std::min(window.input[1], rows_of_band(channels, window, window));
  return static_cast<double>(rows) * row_bytes(channels, window, window) <= kMostBandBytes;
}

bool transposed_sums_pay(const ConvChannels& channels, const Window& window) {
  // Products that adding one of them to its output costs, and adding a plane of them.
  constexpr double kAdded = 12, kFewAdded = 400, kManyAdded = 2500;
  if (!transposed_sums_fit(channels, window)) return false;
  const double in = static_cast<double>(channels.in / channels.groups);
  const double made = static_cast<double>(window.input_size()) * static_cast<double>(window.kernel_size());
  const double planes = static_cast<double>(window.kernel_size()) * (window.input_size() < kLeastAdded ? kFewAdded : kManyAdded);
  const double sums = made * (in * least_conv_cost(product_channels(channels, window), product_pixels(window)) + kAdded) + planes;
  double phases = 0;
  for (int64_t i = 0; i < TransposedPhase::count(window); ++i) {
    const TransposedPhase phase(window, i);
    const Window inner = phase.ordinary(window, i);
    if (phase.taps() == 0) continue;
    phases += in * static_cast<double>(phase.taps()) * static_cast<double>(inner.output_size()) * least_conv_cost(channels, inner);
  }
  return sums < phases;
}

std::unique_ptr<TransposedImpl<float>> make_transposed_sums(const ConvChannels& channels, const Window& window, const float* weights,
                                                            const float* bias, const Activation& activation, bool lean) {
  return std::make_unique<TransposedSums>(channels, window, weights, bias, activation, lean);
}

}  // namespace rh::compute
