// Pattern: a Conv of few input channels and the MaxPool that alone takes its large result.
// Replacement: PooledConv, which makes some rows of that result at a time.
// Not: other types than float32; small results; weights that are not constant; dilated pools; groups.

#include <algorithm>
#include <optional>
#include <vector>

#include "ops/nn/conv.h"
#include "ops/nn/likely_sizes.h"
#include "ops/nn/pool.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kMostChannels = 8;            // of the input: more take weights that do not stay near from band to band
constexpr int64_t kLeastElements = 256 * 1024;  // of the convolution's result: fewer stay near anyway

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_wide_conv(node)) match(node);
    }
    return rewrite_.take();
  }

 private:
  /// A convolution of planes of few channels whose result is likely to be large.
  bool is_wide_conv(const Node& node) const {
    if (!is_op(node, "Conv") && !(node.op_type == "FusedConv" && node.domain == "com.microsoft")) return false;
    if (node.inputs.size() > 3 || tensor_type(graph_, node.inputs[0]).dtype != DType::float32 || !is_only_output(graph_, node))
      return false;
    const Tensor* weights = NodeView(graph_, node).constant_input(1);
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
    if (!weights || weights->shape().rank() != 4 || (has_bias && !NodeView(graph_, node).constant_input(2))) return false;
    if (weights->shape()[1] > kMostChannels || ops::Conv::read(NodeView(graph_, node)).group != 1) return false;
    const auto sizes = sizes_of(node.outputs[0]);
    return sizes &&
           static_cast<double>((*sizes)[0]) * static_cast<double>((*sizes)[1]) * static_cast<double>(weights->shape()[0]) >= kLeastElements;
  }

  /// Height and width of a value [N, C, height, width], likely ones where they are left open.
  std::optional<ops::Sizes> sizes_of(ValueId value) const {
    const TensorType& type = tensor_type(graph_, value);
    if (!type.has_rank() || type.rank() != 4) return std::nullopt;
    ops::Sizes sizes;
    for (size_t i = 2; i < 4; ++i) {
      const auto size = ops::likely_size((*type.dims)[i]);
      if (!size) return std::nullopt;
      sizes.push_back(*size);
    }
    return sizes;
  }

  bool is_open(ValueId value) const {
    const SymbolicShape& dims = *tensor_type(graph_, value).dims;
    return !dims[2].is_constant() || !dims[3].is_constant();
  }

  void match(const Node& conv) {
    const Node* last = only_user(graph_, conv);
    if (!last || !is_op(*last, "MaxPool") || !is_only_output(graph_, *last)) return;
    const ops::Window window = ops::Pool::read(NodeView(graph_, *last)).window;
    const auto from = sizes_of(conv.outputs[0]), to = sizes_of(last->outputs[0]);
    if (!from || !to || window.kernel.size() != 2 || window.dilations != ops::Sizes(2, 1)) return;
    const bool has_open = is_open(conv.outputs[0]);
    if (has_open && (window.ceil_mode || window.auto_pad != ops::AutoPad::notset)) return;  // pads follow from sizes
    ops::Sizes pads = window.pads_for(*from);
    for (size_t i = 0; i < 2; ++i) {
      if (pads[i] < 0 || pads[i] >= window.kernel[i] || pads[i + 2] < 0) return;
      if (has_open) continue;
      pads[i + 2] = std::max<int64_t>(0, ((*to)[i] - 1) * window.strides[i] + window.kernel[i] - (*from)[i] - pads[i]);  // ceil_mode
    }
    if (!context_.admit()) return;
    Node made;
    made.name = conv.name;
    made.op_type = "PooledConv";
    made.domain = "roundhouse";
    made.opset = 1;
    made.attributes = conv.attributes;
    const auto list = [](const ops::Sizes& sizes) { return std::vector<int64_t>(sizes.begin(), sizes.end()); };
    made.attributes.push_back({"pool_kernel_shape", list(window.kernel)});
    made.attributes.push_back({"pool_strides", list(window.strides)});
    made.attributes.push_back({"pool_pads", list(pads)});
    for (ValueId input : conv.inputs) made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    rewrite_.replace_nodes(std::move(made), *last, {conv.id, last->id});
  }
};

}  // namespace

Edit fuse_conv_pool(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
