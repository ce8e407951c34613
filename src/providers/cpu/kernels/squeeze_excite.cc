#include "ops/nn/squeeze_excite.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "compute/conv.h"
#include "compute/row_math.h"
#include "compute/vector_math.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

/// Weights and biases are constant and packed at load.
class SqueezeExciteKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit SqueezeExciteKernel(const KernelInfo& info) {
    const ops::SqueezeExcite& op = info.attributes<ops::SqueezeExcite>();
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
    const int64_t channels = first_.in;
    if (x.rank() < 3 || x.shape()[1] != channels) {
      return error_status(ErrorCode::invalid_argument, "SqueezeExcite: input has shape {}, expected [N, {}, spatial...]",
                          x.shape().to_string(), channels);
    }
    const MutableView y = context.output(0, x.shape());
    if (y.elements() == 0) return {};
    const int64_t batch = x.shape()[0], planes = batch * channels, size = y.elements() / planes;
    float* means = context.scratch_array<float>(planes);
    float* hidden = context.scratch_array<float>(batch * first_.out);
    float* gates = context.scratch_array<float>(planes);
    const Cost reading{.bytes = 4.0 * static_cast<double>(size), .operations = static_cast<double>(size)};
    context.parallel().for_range(planes, reading, [&](Range range) {
      compute::reduce_rows(compute::Reduction::mean, x.data<float>() + range.begin * size, means + range.begin, range.size(), size);
    });
    constexpr int64_t kFewProducts = 40'000;  // that one thread makes before others have joined
    const Parallel parallel = channels * first_.out <= kFewProducts ? Parallel() : context.parallel();
    first_.weights->run({}, batch, means, nullptr, hidden, parallel);
    second_.weights->run({}, batch, hidden, nullptr, gates, parallel);
    const Cost scaling{.bytes = 8.0 * static_cast<double>(size), .operations = static_cast<double>(size)};
    context.parallel().for_range(planes, scaling, [&](Range range) {
      const int64_t at = range.begin * size;
      compute::scale_rows(x.data<float>() + at, gates + range.begin, y.data<float>() + at, range.size(), size);
    });
    return {};
  }

 private:
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
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(SqueezeExciteKernel)
