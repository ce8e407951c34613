#include "ops/nn/conv_transpose.h"

#include <algorithm>
#include <variant>

#include "compute/conv/conv.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/run_packing.h"
#include "tensor/narrowed.h"

namespace rh::cpu {

/// Constant weights are packed at load, others each run.
class ConvTransposeKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit ConvTransposeKernel(const KernelInfo& info) : op_(info.attributes<ops::ConvTranspose>()), lean_(info.lean_memory()) {
    const Tensor* weights = info.constant_input(1);
    const Tensor* bias = info.constant_input(op_.bias_input);
    const bool bias_known = !info.node().has_input(op_.bias_input) || bias;
    if (!weights || !Types::set.contains(weights->dtype()) || !bias_known || weights->shape().rank() < 3 || weights->shape().rank() > 5)
      return;
    if (weights->elements() == 0 || weights->shape()[0] % op_.group != 0) return;  // run() says what is wrong
    if (!has_few_phases(op_.window.strides)) return;
    if (bias && (bias->elements() != weights->shape()[1] * op_.group || bias->dtype() != weights->dtype())) return;
    if (!check_slopes(op_.activation, weights->shape()[1] * op_.group).ok()) return;
    weights_shape_ = weights->shape();
    take_constant_pads(info);
    dispatch_or_throw<Types>(weights->dtype(), "ConvTranspose", [&]<typename T>() {
      const ops::Sizes sizes = spatial_sizes(info.node().input_type(0), weights_shape_.size());
      const compute::ConvChannels channels = channels_of(weights_shape_);
      const compute::Window window = expected_window(weights_shape_, sizes);
      using Packed = compute::TransposedConvolution<T>;
      variant_.variants = Packed::variants(channels, window);
      if (!variant_.variants.empty()) variant_.problem = conv_problem("ConvTranspose", weights->dtype(), channels, window, !sizes.empty());
      const auto& made = packed_.emplace<Packed>(channels, window, weights->data<T>(), bias ? bias->data<T>() : nullptr, lean_,
                                                 info.tuned(variant_.problem), compute_activation(op_.activation));
      variant_.variant = made.variant();
    });
  }

  KernelVariant variant() const override { return variant_; }

  bool owns_constant(int input) const override { return is_packed() && (input == 1 || input == op_.bias_input); }
  size_t packed_bytes() const override { return weight_bytes(packed_); }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape& w = is_packed() ? weights_shape_ : context.input(1).shape();
    if (x.rank() != w.rank() || x.rank() < 3 || x.shape()[1] != w[0] || x.shape()[1] % op_.group != 0) {
      return error_status(ErrorCode::invalid_argument,
                          "input has shape {} and the weights {}, expected [N, C, ...] and [C, M/group, ...] with group {}",
                          x.shape().to_string(), w.to_string(), op_.group);
    }
    const int64_t filters = checked_product(w[1], op_.group, "ConvTranspose: filters");
    if (!is_packed() && context.has_input(op_.bias_input) && context.input(op_.bias_input).elements() != filters) {
      return error_status(ErrorCode::invalid_argument, "bias has shape {}, expected [{}]",
                          context.input(op_.bias_input).shape().to_string(), filters);
    }
    RH_RETURN_IF_ERROR(check_slopes(op_.activation, filters));
    const size_t spatial = static_cast<size_t>(x.rank() - 2);
    ops::ConvTranspose op = op_;
    op.window = with_kernel(op_.window, {w.begin() + 2, spatial});
    if (op.output_padding.empty()) op.output_padding = ops::Sizes(spatial, 0);
    if (op.pads_are_input) RH_RETURN_IF_ERROR(read_pads(context, spatial, op.window.pads));
    const std::span<const int64_t> sizes(x.shape().begin() + 2, spatial);
    Shape shape{x.shape()[0], filters};
    for (size_t i = 0; i < spatial; ++i) shape.push_back(std::max<int64_t>(0, op.output_size(i, sizes[i])));
    compute::Window geometry;
    RH_RETURN_IF_ERROR(conv_window(op.window, sizes, {shape.begin() + 2, spatial}, op.pads_for(sizes), geometry));
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "ConvTranspose", [&]<typename T>() {
      const auto run = [&](const compute::TransposedConvolution<T>& conv) {
        conv.run(geometry, x.shape()[0], x.data<T>(), y.data<T>(), context.parallel());
      };
      if (is_packed()) return run(std::get<compute::TransposedConvolution<T>>(packed_));
      if (!has_few_phases(op.window.strides)) {
        const T* bias = context.has_input(op_.bias_input) ? context.input(op_.bias_input).data<T>() : nullptr;
        compute::conv_transpose_reference({x.shape()[1], filters, op_.group}, geometry, x.shape()[0], x.data<T>(),
                                          context.input(1).data<T>(), bias, y.data<T>(), context.parallel());
        return activate_plainly(y.data<T>(), x.shape()[0] * filters, filters, geometry.output_size(), context.parallel());
      }
      const T* bias = context.has_input(op_.bias_input) ? context.input(op_.bias_input).data<T>() : nullptr;
      const RunPacking packing(context);
      run({channels_of(w), geometry, context.input(1).data<T>(), bias, lean_, {}, compute_activation(op_.activation)});
    });
  }

 private:
  // A packed convolution has a product for each phase, and as many phases as the strides multiply to.
  static bool has_few_phases(std::span<const int64_t> strides) {
    int64_t phases = 1;
    for (int64_t stride : strides) {
      if (__builtin_mul_overflow(phases, stride, &phases) || phases > 4096) return false;
    }
    return true;
  }

  /// The activation behind a result that is made without packing.
  template <typename T>
  void activate_plainly(T* y, int64_t planes, int64_t filters, int64_t size, const Parallel& parallel) const {
    const compute::Activation activation = compute_activation(op_.activation);
    if (activation.kind == compute::ActivationKind::none) return;
    parallel.for_range(planes, {.operations = 20.0 * static_cast<double>(size)}, [&](Range range) {
      for (int64_t plane = range.begin; plane < range.end; ++plane) {
        const compute::Activation own = activation.of_channel(plane % filters);
        for (T& value : std::span(y + plane * size, static_cast<size_t>(size)))
          value = narrowed<T>(compute::activated(own, static_cast<double>(value)));
      }
    });
  }

  static constexpr int64_t kMost = (int64_t{1} << 31) - 1;  // of a pad

  static bool are_pads(const ops::Sizes& pads, size_t spatial) {
    return pads.size() == 2 * spatial && std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p >= 0 && p <= kMost; });
  }

  /// Pads that are known at load are as an attribute; wrong ones are left to run().
  void take_constant_pads(const KernelInfo& info) {
    const Tensor* const given = op_.pads_are_input ? info.constant_input(2) : nullptr;
    if (!given || given->dtype() != DType::int64) return;
    const ops::Sizes pads(given->data<int64_t>(), given->data<int64_t>() + given->elements());
    if (!are_pads(pads, weights_shape_.size() - 2)) return;
    op_.window.pads = pads;
    op_.pads_are_input = false;
  }

  static Status read_pads(const RunContext& context, size_t spatial, ops::Sizes& pads) {
    const auto given = context.input_ints(2);
    pads.assign(given.begin(), given.end());
    if (are_pads(pads, spatial)) return {};
    return error_status(ErrorCode::invalid_argument, "the pads are {}, expected {} numbers in [0, {}]",
                        to_string(std::span<const int64_t>(pads)), 2 * spatial, kMost);
  }

  bool is_packed() const { return !std::holds_alternative<std::monostate>(packed_); }

  compute::ConvChannels channels_of(const Shape& weights) const { return {weights[0], weights[1] * op_.group, op_.group}; }

  /// `sizes` are the spatial ones that X is expected to have, none where that is not known.
  compute::Window expected_window(const Shape& w, const ops::Sizes& sizes) const {
    const size_t spatial = w.size() - 2;
    ops::ConvTranspose op = op_;
    op.window = with_kernel(op_.window, {w.begin() + 2, spatial});
    if (op.output_padding.empty()) op.output_padding = ops::Sizes(spatial, 0);
    ops::Sizes inputs(spatial, 1), outputs = inputs, pads(spatial, 0);
    if (!sizes.empty() && !op.pads_are_input) {
      inputs = sizes;
      for (size_t i = 0; i < spatial; ++i) outputs[i] = std::max<int64_t>(1, op.output_size(i, sizes[i]));
      pads = op.pads_for(sizes);
      if (!is_plausible(outputs)) {
        inputs = outputs = ops::Sizes(spatial, 1);
        pads = ops::Sizes(spatial, 0);
      }
    }
    compute::Window geometry;
    throw_if_wrong(conv_window(op.window, inputs, outputs, pads, geometry));
    return geometry;
  }

  ops::ConvTranspose op_;
  const bool lean_;
  Shape weights_shape_;
  std::variant<std::monostate, compute::TransposedConvolution<float>, compute::TransposedConvolution<double>,
               compute::TransposedConvolution<Float16>, compute::TransposedConvolution<BFloat16>>
      packed_;
  KernelVariant variant_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ConvTransposeKernel)
