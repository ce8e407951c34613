#include "ops/nn/squeeze_excite.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "compute/conv/blocked/conv_blocked.h"
#include "compute/conv/conv.h"
#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Weights and biases are constant and packed at load.
class SqueezeExciteKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit SqueezeExciteKernel(const KernelInfo& info) {
    const ops::SqueezeExcite& op = info.attributes<ops::SqueezeExcite>();
    blocked_ = op.blocked;
    from_means_ = op.from_means;
    first_ = product(info, 1, op.first_transposed, compute_activation(op.activation));
    second_ = product(info, 3, op.second_transposed, compute_activation(op.gate));
    if (first_.in != second_.out || first_.out != second_.in) {
      throw Error(ErrorCode::invalid_graph, fmt::format("SqueezeExcite: the weights are {} x {} and {} x {}, expected R x C and C x R",
                                                        first_.out, first_.in, second_.out, second_.in));
    }
  }

  bool owns_constant(int input) const override { return input > 0; }
  size_t packed_bytes() const override { return first_.weights->weight_bytes() + second_.weights->weight_bytes(); }
  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (from_means_) return run_gates(context, x);
    const int64_t channels = first_.in, blocks = compute::channel_blocks(channels);
    const bool fits = blocked_ ? x.rank() == 5 && x.shape()[1] == blocks && x.shape()[4] == compute::kChannelBlock
                               : x.rank() >= 3 && x.shape()[1] == channels;
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "SqueezeExcite: input has shape {}, expected {} with {} channels",
                          x.shape().to_string(), blocked_ ? "[N, blocks, H, W, 16]" : "[N, C, spatial...]", channels);
    }
    const MutableView y = context.output(0, x.shape());
    if (y.elements() == 0) return {};
    // Planes, or blocks of planes whose channels lie together.
    const int64_t batch = x.shape()[0], units = blocked_ ? batch * blocks : batch * channels, size = y.elements() / units;
    const int64_t width = blocked_ ? compute::kChannelBlock : 1, all = units * width / batch;
    float* means = context.scratch_array<float>(batch * all);
    float* gates = context.scratch_array<float>(batch * all);
    const float* from = x.data<float>();
    const Cost reading{.bytes = 4.0 * static_cast<double>(size), .operations = static_cast<double>(size)};
    context.parallel().for_range(units, reading, [&](Range range) {
      if (!blocked_) {
        compute::reduce_rows(compute::Reduction::mean, from + range.begin * size, means + range.begin, range.size(), size);
        return;
      }
      for (int64_t unit = range.begin; unit < range.end; ++unit) mean_of_block(from + unit * size, size / width, means + unit * width);
    });
    make_gates(context, batch, all, means, gates);
    const Cost scaling{.bytes = 8.0 * static_cast<double>(size), .operations = static_cast<double>(size)};
    context.parallel().for_range(units, scaling, [&](Range range) {
      const int64_t at = range.begin * size;
      if (!blocked_) return compute::scale_rows(from + at, size, gates + range.begin, y.data<float>() + at, size, range.size(), size);
      for (int64_t unit = range.begin; unit < range.end; ++unit)
        compute::scale_columns(from + unit * size, gates + unit * width, y.data<float>() + unit * size, size / width, width);
    });
    return {};
  }

 private:
  /// Both are [batch, all]; gates are 0 beyond the channels.
  void make_gates(RunContext& context, int64_t batch, int64_t all, const float* means, float* gates) const {
    constexpr int64_t kFewProducts = 40'000;  // that one thread makes before others have joined
    const int64_t channels = first_.in;
    const Parallel parallel = channels * first_.out <= kFewProducts ? Parallel() : context.parallel();
    float* hidden = context.scratch_array<float>(first_.out);
    for (int64_t image = 0; image < batch; ++image) {
      first_.weights->run({}, 1, means + image * all, nullptr, hidden, parallel);
      second_.weights->run({}, 1, hidden, nullptr, gates + image * all, parallel);
      std::fill(gates + image * all + channels, gates + (image + 1) * all, 0.0f);
    }
  }

  Status run_gates(RunContext& context, const TensorView& means) const {
    const int64_t all = compute::channel_blocks(first_.in) * compute::kChannelBlock;
    if (means.rank() != 2 || means.shape()[1] != all) {
      return error_status(ErrorCode::invalid_argument, "SqueezeExcite: means have shape {}, expected [N, {}]", means.shape().to_string(),
                          all);
    }
    const MutableView gates = context.output(0, means.shape());
    if (gates.elements() > 0) make_gates(context, means.shape()[0], all, means.data<float>(), gates.data<float>());
    return {};
  }

  /// Means over x [pixels, 16], of sums of limited length.
  static void mean_of_block(const float* x, int64_t pixels, float* means) {
    constexpr int64_t kWidth = compute::kChannelBlock, kAtOnce = 4, kPixels = 1024;
    std::fill_n(means, kWidth, 0.0f);
    for (int64_t begin = 0; begin < pixels; begin += kPixels) {
      const int64_t count = std::min(kPixels, pixels - begin), whole = count / kAtOnce;
      float sums[kAtOnce * kWidth];
      compute::reduce_columns(compute::Reduction::sum, x + begin * kWidth, sums, whole, kAtOnce * kWidth);
      for (int64_t i = 0; i < kAtOnce * kWidth; ++i) means[i % kWidth] += sums[i];
      for (int64_t i = whole * kAtOnce * kWidth; i < count * kWidth; ++i) means[i % kWidth] += x[begin * kWidth + i];
    }
    for (int64_t i = 0; i < kWidth; ++i) means[i] /= static_cast<float>(pixels);
  }

  /// A matrix as a convolution of one pixel.
  struct Product {
    int64_t in = 0, out = 0;
    std::optional<compute::Convolution<float>> weights;
  };

  static Product product(const KernelInfo& info, int input, bool transposed, const compute::Activation& activation) {
    const Tensor *weights = info.constant_input(input), *bias = info.constant_input(input + 1);
    const bool given = weights && weights->dtype() == DType::float32 && weights->shape().rank() >= 2 && weights->shape()[0] > 0 &&
                       weights->shape()[1] > 0 && weights->elements() == weights->shape()[0] * weights->shape()[1];
    if (!given || (info.node().has_input(input + 1) && !bias)) {
      throw Error(
          ErrorCode::not_implemented,
          fmt::format("SqueezeExcite: inputs {} and {} are expected to be a constant matrix and bias of float32", input, input + 1));
    }
    Product p{.in = weights->shape()[transposed ? 0 : 1], .out = weights->shape()[transposed ? 1 : 0], .weights = {}};
    if (bias && (bias->elements() != p.out || bias->dtype() != DType::float32)) {
      throw Error(ErrorCode::invalid_graph, fmt::format("SqueezeExcite: the bias of input {} has {} elements, expected {} of float32",
                                                        input + 1, bias->elements(), p.out));
    }
    std::vector<float> rows(weights->data<float>(), weights->data<float>() + weights->elements());
    for (int64_t i = 0; transposed && i < p.in; ++i)
      for (int64_t o = 0; o < p.out; ++o) rows[static_cast<size_t>(o * p.in + i)] = weights->data<float>()[i * p.out + o];
    p.weights.emplace(compute::ConvChannels{p.in, p.out, 1}, compute::Window{}, rows.data(), bias ? bias->data<float>() : nullptr,
                      activation);
    return p;
  }

  Product first_, second_;
  bool blocked_ = false, from_means_ = false;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SqueezeExciteKernel)
