#include <optional>

#include "ops/nn/conv.h"
#include "session/observer.h"

namespace rh {

namespace {

/// Sizes of a step's values.
class Sizes {
 public:
  explicit Sizes(const StepEvent& event) : event_(event) {}

  std::optional<Shape> input(size_t i) const {
    if (i >= event_.inputs.size()) return std::nullopt;
    if (const Value* value = event_.inputs[i]) return shape_of(*value);
    const ValueId id = event_.node.inputs[i];
    if (id == kNoValue) return std::nullopt;
    const ValueType& type = event_.graph.value(id).type;
    return type.is_tensor() && type.tensor().is_static() ? std::optional(type.tensor().shape()) : std::nullopt;
  }
  std::optional<Shape> output() const { return event_.outputs.empty() || !event_.outputs[0] ? std::nullopt : shape_of(*event_.outputs[0]); }

 private:
  static std::optional<Shape> shape_of(const Value& value) {
    return value.is_tensor() && value.tensor().defined() ? std::optional(value.tensor().shape()) : std::nullopt;
  }
  const StepEvent& event_;
};

double count(const Shape& shape) { return static_cast<double>(shape.elements()); }

// Multiply-adds for each element of the result, or of the input of a transposed convolution: the weights of one channel.
double per_channel(const Shape& weights) {
  return weights.rank() == 0 || weights[0] == 0 ? 0 : count(weights) / static_cast<double>(weights[0]);
}

// Outputs of a convolution of planes whose pool makes fewer of them.
double before_pool(const StepEvent& event, const Shape& x, const Shape& weights) {
  const ops::Conv op = ops::Conv::read(NodeView(event.graph, event.node));
  if (x.rank() != 4 || weights.rank() != 4 || !op.window.is_complete(2)) return 0;
  const auto size = [&](size_t axis) { return static_cast<double>(op.window.output_size(axis, x[axis + 2])); };
  return static_cast<double>(x[0]) * static_cast<double>(weights[0]) * size(0) * size(1);
}

// A pointwise convolution of planes, also in blocks of channels, and the depthwise one of its result.
double expand_depthwise(const Sizes& sizes, const Shape& x, const Shape& result) {
  const auto expand = sizes.input(1), depthwise = sizes.input(2);
  if (!expand || !depthwise || x.rank() < 4 || result.rank() < 4) return -1;
  const auto pixels = [](const Shape& planes) {
    return static_cast<double>(planes[0]) * static_cast<double>(planes[2]) * static_cast<double>(planes[3]);
  };
  return 2 * (pixels(x) * count(*expand) + pixels(result) * count(*depthwise));
}

}  // namespace

double flops_of(const StepEvent& event) {
  const std::string_view op = event.node.op_type;
  const auto is = [&](std::string_view part) { return op.find(part) != std::string_view::npos; };
  const Sizes sizes(event);
  const auto first = sizes.input(0), result = sizes.output();
  if (!first || !result || first->rank() == 0) return -1;
  if (is("Conv")) {
    const auto weights = sizes.input(is("QLinear") ? 3 : 1);
    if (!weights) return -1;
    if (op == "PooledConv") return 2 * before_pool(event, *first, *weights) * per_channel(*weights);
    return 2 * count(is("Transpose") ? *first : *result) * per_channel(*weights);
  }
  if (op == "ExpandDepthwise") return expand_depthwise(sizes, *first, *result);
  if (op == "GatheredMatMul") return 2 * count(*result) * static_cast<double>(first->product(1, first->rank()));
  if (is("MatMul")) return 2 * count(*result) * static_cast<double>((*first)[first->rank() - 1]);
  if (op == "Gemm" || op == "QGemm" || op == "FusedGemm") {
    return result->rank() == 2 ? 2 * count(*first) * static_cast<double>((*result)[1]) : -1;
  }
  if (op == "LSTM" || op == "GRU" || op == "RNN") {
    const auto input = sizes.input(1), recurrent = sizes.input(2);
    if (!input || !recurrent || first->rank() != 3) return -1;
    return 2 * static_cast<double>((*first)[0]) * static_cast<double>((*first)[1]) * (count(*input) + count(*recurrent));
  }
  return -1;
}

}  // namespace rh
