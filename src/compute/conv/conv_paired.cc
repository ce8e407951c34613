#include <algorithm>
#include <mutex>
#include <optional>

#include "base/cancellation.h"
#include "compute/conv/conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

/// One axis on which a kernel of three positions, `dilation` apart, reaches no further than from one half to the other. Outputs y and y +
/// dilation, where both are there, share what they take of inputs p and q of the same places:
///   y = w1 p + w2 q = w1 (p + q) + (w2 - w1) q,   y + dilation = w0 p + w1 q = w1 (p + q) + (w0 - w1) p.
/// Every other output is w1 p alone. Parts 0, 1 and 2 are the factors w1, w2 - w1 and w0 - w1 with what they multiply.
struct Axis {
  int64_t size;
  int64_t pairs;

  Axis(int64_t size, int64_t dilation) : size(size), pairs(std::max<int64_t>(0, size - dilation)) {}
  int64_t part(int i) const { return i == 0 ? size - pairs : pairs; }
  int64_t all_parts() const { return size + pairs; }
};

constexpr int kParts = 3;

/// 3x3 kernels whose dilation is at least half the plane, as pointwise convolutions of the parts of both axes.
class ConvPaired final : public Convolution<float>::Impl {
 public:
  ConvPaired(const ConvChannels& channels, const Window& window, const float* weights, const float* bias, const Activation& activation)
      : channels_(channels), window_(window), activation_(activation), add_(conv_add_rows()) {
    if (bias) bias_.assign(bias, bias + channels.out);
    std::vector<float> factors(static_cast<size_t>(channels.out * channels.in));
    for (int a = 0; a < kParts; ++a) {
      for (int b = 0; b < kParts; ++b) {
        for (size_t i = 0; i < factors.size(); ++i) factors[i] = factor(weights + 9 * i, a, b);
        const Axis rows(window.input[1], window.dilation[1]), columns(window.input[2], window.dilation[2]);
        parts_[a][b].emplace(channels, pixels(std::max<int64_t>(1, rows.part(a) * columns.part(b))), factors.data(), nullptr, Activation{});
      }
    }
  }

  size_t weight_bytes() const override {
    size_t bytes = 0;
    for (const auto& row : parts_)
      for (const auto& part : row) bytes += part->weight_bytes();
    return bytes;
  }

  void run(const ConvCall<float>& call, const Parallel& parallel) const override {
    const Window& w = call.window;
    const int64_t in = channels_.in * w.input_size(), out = channels_.out * w.output_size();
    const auto plain = [&](int64_t image, int64_t count) {
      const float* residual = call.residual ? call.residual + image * out : nullptr;
      this->plain().run({w, count, call.x + image * in, residual, call.y + image * out, {}, call.addend_at(image * out)}, parallel);
    };
    if (!conv_pairs(channels_, window_, w)) return plain(0, call.batch);
    for (int64_t image = 0; image < call.batch; ++image) {
      const float* residual = call.residual ? call.residual + image * out : nullptr;
      if (!run_image(w, call.x + image * in, residual, call.addend_at(image * out), call.y + image * out, parallel)) plain(image, 1);
    }
  }

 private:
  static Window pixels(int64_t count) {
    Window w;
    w.input[2] = w.output[2] = count;
    return w;
  }

  /// What part a of the rows and b of the columns make of a kernel.
  static float factor(const float* w, int a, int b) {
    const auto of_row = [&](int row) {
      const double middle = w[3 * row + 1];
      return b == 0 ? middle : w[3 * row + (b == 1 ? 2 : 0)] - middle;
    };
    return static_cast<float>(a == 0 ? of_row(1) : of_row(a == 1 ? 2 : 0) - of_row(1));
  }

  struct Plane {
    Axis rows, columns;
    int64_t row;   // dilation, in rows
    int64_t step;  // dilation, in columns
    int64_t size(int a, int b) const { return rows.part(a) * columns.part(b); }
  };

  static float* memory(ScratchSlot slot, int64_t count) {
    return static_cast<float*>(thread_scratch(slot, static_cast<size_t>(count) * sizeof(float) + 128));  // whole vectors are read
  }

  /// False where a sum is not finite; y may have been written then if it is not the residual.
  bool run_image(const Window& w, const float* x, const float* residual, const float* addend, float* y, const Parallel& parallel) const {
    const Plane p{{w.input[1], window_.dilation[1]}, {w.input[2], window_.dilation[2]}, window_.dilation[1], window_.dilation[2]};
    const int64_t all = p.rows.all_parts() * p.columns.all_parts();
    float* const inputs = memory(ScratchSlot::image, channels_.in * p.size(0, 0));
    float* to = memory(ScratchSlot::phase, channels_.out * all);
    const float* at[kParts][kParts] = {};
    for (int a = 0; a < kParts; ++a) {
      for (int b = 0; b < kParts; ++b) {
        const int64_t size = p.size(a, b);
        if (size == 0) continue;
        throw_if_cancelled();
        const Cost cost{.bytes = 8.0 * static_cast<double>(size), .operations = static_cast<double>(size)};
        parallel.for_range(channels_.in, cost, [&](Range range) {
          for (int64_t c = range.begin; c < range.end; ++c) take_part(p, a, b, x + c * w.input_size(), inputs + c * size);
        });
        parts_[a][b]->run(pixels(size), 1, inputs, nullptr, to, parallel);
        at[a][b] = to;
        to += channels_.out * size;
      }
    }
    if (!join(p, at, nullptr, addend, residual ? nullptr : y, parallel)) return false;
    if (residual) join(p, at, residual, addend, y, parallel);
    return true;
  }

  /// y[r][c] = a[r][c] + b[r][c].
  bool add(const float* a, int64_t a_row, const float* b, int64_t b_row, float* y, int64_t y_row, int64_t rows, int64_t columns) const {
    return rows <= 0 || columns <= 0 || add_({a, a_row, b, b_row, 0, y, y_row, rows, columns});
  }

  /// The part b of `rows` rows.
  void take_columns(const Plane& p, int b, const float* x, int64_t rows, float* to) const {
    const int64_t width = p.columns.size, pairs = p.columns.pairs, row = p.columns.part(b);
    if (b > 0) {
      add(x + (b == 1 ? p.step : 0), width, nullptr, 0, to, row, rows, pairs);
      return;
    }
    add(x, width, x + p.step, width, to, row, rows, pairs);
    add(x + pairs, width, nullptr, 0, to + pairs, row, rows, row - pairs);
  }

  void take_part(const Plane& p, int a, int b, const float* x, float* to) const {
    const int64_t width = p.columns.size, pairs = p.rows.pairs;
    if (a > 0) return take_columns(p, b, x + (a == 1 ? p.row * width : 0), pairs, to);
    if (pairs > 0) {
      float* both = memory(ScratchSlot::row, pairs * width);
      add(x, width, x + p.row * width, width, both, width, pairs, width);
      take_columns(p, b, both, pairs, to);
    }
    take_columns(p, b, x + pairs * width, p.rows.part(0) - pairs, to + pairs * p.columns.part(b));
  }

  /// Sums of the parts as y, which may be null: to see only whether they are finite.
  bool join(const Plane& p, const float* const (&at)[kParts][kParts], const float* residual, const float* addend, float* y,
            const Parallel& parallel) const {
    const int64_t size = p.rows.size * p.columns.size;
    std::vector<uint8_t> finite(static_cast<size_t>(channels_.out));
    const Cost cost{.bytes = 12.0 * static_cast<double>(size), .operations = 4.0 * static_cast<double>(size)};
    parallel.for_range(channels_.out, cost, [&](Range range) {
      const int64_t most = p.rows.all_parts() * p.columns.size;
      float* rows = memory(ScratchSlot::row, most + size);
      for (int64_t c = range.begin; c < range.end; ++c) {
        float* to = y && !residual ? y + c * size : rows + most;
        finite[static_cast<size_t>(c)] = join_plane(p, at, c, rows, to);
        if (!y) continue;
        if (residual) add(residual + c * size, size, to, size, y + c * size, size, 1, size);
        finish_values(activation_.kind != ActivationKind::none, activation_.of_channel(c), y + c * size, size,
                      addend ? addend + c * size : nullptr);
      }
    });
    return std::ranges::all_of(finite, [](uint8_t f) { return f != 0; });
  }

  bool join_plane(const Plane& p, const float* const (&at)[kParts][kParts], int64_t channel, float* rows, float* to) const {
    const int64_t width = p.columns.size, pairs = p.columns.pairs, alone = p.columns.part(0);
    float* of_part[kParts];
    for (int a = 0; a < kParts; ++a) {
      of_part[a] = rows;
      const int64_t count = p.rows.part(a);
      rows += count * width;
      const auto from = [&](int b) { return at[a][b] + channel * p.size(a, b); };
      if (count == 0) continue;
      if (pairs > 0) {
        add(from(0), alone, from(1), pairs, of_part[a], width, count, pairs);
        add(from(0), alone, from(2), pairs, of_part[a] + alone, width, count, pairs);
      }
      add(from(0) + pairs, alone, nullptr, 0, of_part[a] + pairs, width, count, alone - pairs);
    }
    const int64_t first = p.rows.pairs * width, middle = (p.rows.part(0) - p.rows.pairs) * width;
    const float bias = bias_.empty() ? 0.0f : bias_[static_cast<size_t>(channel)];
    const auto sum = [&](const float* a, const float* b, float* y, int64_t count) {
      return count == 0 || add_({a, count, b, count, bias, y, count, 1, count});
    };
    const bool finite[] = {sum(of_part[0], of_part[1], to, first), sum(of_part[0] + first, nullptr, to + first, middle),
                           sum(of_part[0], of_part[2], to + first + middle, first)};
    return finite[0] && finite[1] && finite[2];
  }

  /// For planes of other sizes and values that are not finite. Its weights come out of the parts', but for rounding: few calls need it.
  const Impl& plain() const {
    std::call_once(plain_made_, [&] {
      const int64_t count = channels_.in;
      std::vector<float> unit(static_cast<size_t>(count * count)), weights(static_cast<size_t>(channels_.out * count * 9));
      for (int64_t i = 0; i < count; ++i) unit[static_cast<size_t>(i * count + i)] = 1;
      std::vector<float> part(static_cast<size_t>(channels_.out * count));
      for (int a = 0; a < kParts; ++a) {
        for (int b = 0; b < kParts; ++b) {
          parts_[a][b]->run(pixels(count), 1, unit.data(), nullptr, part.data(), {});
          for (size_t i = 0; i < part.size(); ++i) add_factor(part[i], a, b, weights.data() + 9 * i);
        }
      }
      plain_ = make_conv_gemm<float>(channels_, window_, weights.data(), bias_.empty() ? nullptr : bias_.data(), activation_);
    });
    return *plain_;
  }

  /// The kernel's positions of which the factor is a term.
  static void add_factor(float value, int a, int b, float* w) {
    for (int row = 0; row < 3; ++row) {
      if (a != 0 && row != (a == 1 ? 2 : 0)) continue;
      for (int column = 0; column < 3; ++column) {
        if (b == 0 || column == (b == 1 ? 2 : 0)) w[3 * row + column] += value;
      }
    }
  }

  const ConvChannels channels_;
  const Window window_;
  const Activation activation_;
  bool (*const add_)(const AddedRows& args);
  std::vector<float> bias_;
  std::optional<Convolution<float>> parts_[kParts][kParts];
  mutable std::once_flag plain_made_;
  mutable std::unique_ptr<Impl> plain_;
};

}  // namespace

bool conv_pairs(const ConvChannels& channels, const Window& kernel, const Window& w) {
  if (channels.groups != 1 || kernel.kernel[0] != 1 || kernel.stride[0] != 1 || w.input[0] != 1 || w.output[0] != 1 || w.pad_begin[0] != 0)
    return false;
  for (int d = 1; d < 3; ++d) {
    const int64_t dilation = kernel.dilation[d];
    if (kernel.kernel[d] != 3 || kernel.stride[d] != 1 || dilation < 2 || w.pad_begin[d] != dilation || w.output[d] != w.input[d] ||
        (w.input[d] + 1) / 2 > dilation)
      return false;
  }
  return true;
}

double conv_pair_products(const Window& w) {
  double share = 1;
  for (int d = 1; d < 3; ++d)
    share *= static_cast<double>(Axis(w.input[d], w.dilation[d]).all_parts()) / static_cast<double>(3 * w.input[d]);
  return share;
}

std::unique_ptr<Convolution<float>::Impl> make_conv_paired(const ConvChannels& channels, const Window& window, const float* weights,
                                                           const float* bias, const Activation& activation) {
  return std::make_unique<ConvPaired>(channels, window, weights, bias, activation);
}

}  // namespace rh::compute
