// Pattern: a pointwise Conv of what Resize or Upsample made larger, perhaps joined with other channels by Concat.
// Replacement: the Conv before the Resize and, for the other channels, one of its own that is added.
// Not: where adding costs more than is saved; sizes that are not known; a Resize that crops, makes smaller, or goes elsewhere too.

#include <algorithm>

#include "ops/nn/conv.h"
#include "ops/tensor/concat.h"
#include "ops/vision/resize.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

/// Nanoseconds on one thread, as measured with AVX-512; elsewhere they are taken to be in proportion.
constexpr double kProduct = 0.0037, kResizedValue = 0.55, kAddedValue = 0.3;

/// Some input channels of the convolution.
struct Part {
  ValueId value = kNoValue;
  int64_t first = 0, channels = 0;
  const Node* resize = nullptr;  ///< that gives them, where they are to be convolved before it
};

int64_t pixels(const TensorType& type) { return (*type.dims)[2].value() * (*type.dims)[3].value(); }

bool has_known_planes(const TensorType& type) {
  if (type.dtype != DType::float32 || !type.has_rank() || type.rank() != 4) return false;
  return std::all_of(type.dims->begin() + 1, type.dims->end(), [](const Dim& dim) { return dim.is_constant() && dim.value() > 0; });
}

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_op(node, "Conv") && is_only_output(graph_, node)) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& conv) {
    const NodeView view(graph_, conv);
    const Tensor* weights = view.constant_input(1);
    const TensorType& y = tensor_type(graph_, conv.outputs[0]);
    if (!weights || weights->dtype() != DType::float32 || !is_pointwise(ops::Conv::read(view), weights->shape()) || !has_known_planes(y))
      return;
    const Node* joined = graph_.producer(conv.inputs[0]);
    if (!joined || rewrite_.is_removed(joined->id)) return;
    const auto parts = parts_of(conv.inputs[0], *joined, weights->shape()[0]);
    if (std::ranges::none_of(parts, [](const Part& part) { return part.resize != nullptr; }) || !context_.admit()) return;
    rewrite(conv, *weights, *joined, parts);
  }

  static bool is_pointwise(const ops::Conv& op, const Shape& weights) {
    return op.group == 1 && weights.rank() == 4 && weights[2] == 1 && weights[3] == 1 && ops::all_are(op.window.strides, 1) &&
           ops::all_are(op.window.pads, 0) && (op.window.auto_pad == ops::AutoPad::notset || op.window.auto_pad == ops::AutoPad::valid);
  }

  /// What is joined along the channels, or the value alone; nothing where it is not known.
  std::vector<Part> parts_of(ValueId x, const Node& producer, int64_t outputs) const {
    if (!is_op(producer, "Concat")) return {part_of(x, 0, outputs)};
    const TensorType& type = tensor_type(graph_, x);
    const int64_t axis = ops::Concat::read(NodeView(graph_, producer)).axis;
    if (!has_known_planes(type) || (axis != 1 && axis != -3) || !has_one_use(graph_.value(x))) return {};
    std::vector<Part> parts;
    for (ValueId value : producer.inputs) {
      if (!has_known_planes(tensor_type(graph_, value))) return {};
      parts.push_back(part_of(value, parts.empty() ? 0 : parts.back().first + parts.back().channels, outputs));
    }
    return parts;
  }

  Part part_of(ValueId value, int64_t first, int64_t outputs) const {
    const TensorType& type = tensor_type(graph_, value);
    Part part{.value = value, .first = first, .channels = has_known_planes(type) ? (*type.dims)[1].value() : 0};
    const Node* resize = graph_.producer(value);
    const bool is_resize = resize && (is_op(*resize, "Resize") || is_op(*resize, "Upsample")) && has_one_use(graph_.value(value));
    if (is_resize && part.channels > 0 && commutes(*resize) &&
        pays(part, pixels(tensor_type(graph_, resize->inputs[0])), pixels(type), outputs))
      part.resize = resize;
    return part;
  }

  /// Whether it makes planes larger, each by weights that add up to one and do not depend on the channel.
  bool commutes(const Node& resize) const {
    const NodeView view(graph_, resize);
    const TensorType &x = tensor_type(graph_, resize.inputs[0]), &y = tensor_type(graph_, resize.outputs[0]);
    const ops::Resize op = ops::Resize::read(view);
    if (!has_known_planes(x) || !((*x.dims)[0] == (*y.dims)[0]) || !((*x.dims)[1] == (*y.dims)[1])) return false;
    for (size_t axis = 2; axis < 4; ++axis)
      if ((*x.dims)[axis].value() > (*y.dims)[axis].value()) return false;
    const bool sizes_known = !view.has_input(op.sizes_input) || view.constant_input(op.sizes_input);
    return sizes_known && op.coordinates != ops::Resize::Coordinates::tf_crop_and_resize &&
           op.keep_aspect == ops::Resize::KeepAspect::stretch;
  }

  static bool pays(const Part& part, int64_t before, int64_t after, int64_t outputs) {
    const double out = static_cast<double>(outputs), in = static_cast<double>(part.channels), resized = static_cast<double>(after);
    const double saved = kProduct * out * in * static_cast<double>(after - before);
    return saved > resized * (kAddedValue * out + kResizedValue * (out - in));
  }

  void rewrite(const Node& conv, const Tensor& weights, const Node& joined, const std::vector<Part>& parts) {
    std::vector<const Part*> kept;
    for (const Part& part : parts)
      if (!part.resize) kept.push_back(&part);
    bool biased = false;
    ValueId sum = kNoValue;
    const auto add = [&](ValueId value) {
      if (sum != kNoValue) value = give(conv, "Add", {sum, value}, {});
      sum = value;
    };
    if (!kept.empty()) {
      ValueId x = rewrite_.current(kept[0]->value);
      if (kept.size() > 1) {
        std::vector<ValueId> values;
        for (const Part* part : kept) values.push_back(rewrite_.current(part->value));
        x = give(joined, "Concat", std::move(values), {{"axis", int64_t{1}}});
      }
      add(convolve(conv, x, weights, kept, biased));
    }
    for (const Part& part : parts) {
      if (!part.resize) continue;
      const ValueId small = convolve(conv, rewrite_.current(part.resize->inputs[0]), weights, {&part}, biased);
      add(resized(*part.resize, small, weights.shape()[0]));
      rewrite_.remove(part.resize->id);
    }
    rewrite_.replace_node(conv, sum);
    if (&joined != parts[0].resize) rewrite_.remove(joined.id);
  }

  /// A node like `like`, whose place and name it takes.
  ValueId give(const Node& like, std::string_view op_type, std::vector<ValueId> inputs, std::vector<Attribute> attributes) {
    Node made;
    made.name = like.name;
    made.op_type = op_type;
    made.opset = like.opset;
    made.inputs = std::move(inputs);
    made.attributes = std::move(attributes);
    made.outputs = {rewrite_.edit().add_value(graph_.value(like.outputs[0]).name)};
    const ValueId output = made.outputs[0];
    rewrite_.edit().add_node(std::move(made), {like.id});
    return output;
  }

  /// The convolution of some channels; the first one has the bias.
  ValueId convolve(const Node& conv, ValueId x, const Tensor& weights, const std::vector<const Part*>& parts, bool& biased) {
    const int64_t outputs = weights.shape()[0], inputs = weights.shape()[1];
    int64_t channels = 0;
    for (const Part* part : parts) channels += part->channels;
    Tensor slice(DType::float32, Shape{outputs, channels, 1, 1});
    float* to = slice.data<float>();
    for (int64_t row = 0; row < outputs; ++row)
      for (const Part* part : parts) to = std::copy_n(weights.data<float>() + row * inputs + part->first, part->channels, to);
    std::vector<ValueId> operands{x, rewrite_.edit().add_constant(graph_.value(conv.inputs[1]).name, std::move(slice))};
    if (conv.inputs.size() > 2 && !biased) operands.push_back(rewrite_.current(conv.inputs[2]));
    biased = true;
    return give(conv, conv.op_type, std::move(operands), conv.attributes);
  }

  ValueId resized(const Node& resize, ValueId x, int64_t channels) {
    const NodeView view(graph_, resize);
    const ops::Resize op = ops::Resize::read(view);
    std::vector<ValueId> inputs;
    for (ValueId id : resize.inputs) inputs.push_back(id == kNoValue ? kNoValue : rewrite_.current(id));
    inputs[0] = x;
    if (view.has_input(op.sizes_input) && op.axes.empty()) {
      const size_t at = static_cast<size_t>(op.sizes_input);
      Tensor sizes = view.constant_input(op.sizes_input)->clone();
      sizes.data<int64_t>()[1] = channels;
      inputs[at] = rewrite_.edit().add_constant(graph_.value(resize.inputs[at]).name, std::move(sizes));
    }
    return give(resize, resize.op_type, std::move(inputs), resize.attributes);
  }
};

}  // namespace

Edit move_convolutions_before_resize(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
