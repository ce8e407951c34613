#include "providers/openvino/rewrites.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "providers/openvino/replacement.h"

namespace rh::openvino {

namespace {

constexpr int kThreshold = 3;  ///< the input of NonMaxSuppression

bool is_plain_float(DType type) { return type == DType::float32 || type == DType::float16 || type == DType::bfloat16; }

// --- the largest and smallest of floats: OpenVINO begins with the largest finite number, and passes over what is no number

bool is_extreme_of_floats(const NodeView& node) {
  return opset_of(node) >= kLeastOpset && is_plain_float(dtype_of_input(node, 0)) && !node.flag("noop_with_empty_axes");
}

void complete_extreme(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  const DType type = made.dtype();
  const bool is_largest = made.node().op_type == "ReduceMax";
  const float infinity = std::numeric_limits<float>::infinity();
  const ValueId end = made.cast(made.constant(is_largest ? -infinity : infinity), type);
  const ValueId none = made.cast(made.constant(std::numeric_limits<float>::quiet_NaN()), type);
  // 2: no number, 1: within, 0: as far out as can be
  const ValueId value = made.input(0);
  const ValueId is_within = made.add(is_largest ? "Greater" : "Less", {value, end}, DType::boolean);
  const ValueId kind = made.add("Where", {is_within, made.constant(int32_t{1}), made.constant(int32_t{0})}, DType::int32);
  const ValueId is_none = made.add("IsNaN", {value}, DType::boolean);
  std::vector<ValueId> inputs = made.node().inputs;
  const ValueId found = made.add(made.node().op_type.c_str(), inputs, type, made.node().attributes);
  inputs[0] = made.add("Where", {is_none, made.constant(int32_t{2}), kind}, DType::int32);
  const ValueId highest = made.add("ReduceMax", inputs, DType::int32, made.node().attributes);
  const ValueId has_within = made.add("Equal", {highest, made.constant(int32_t{1})}, DType::boolean);
  const ValueId has_none = made.add("Equal", {highest, made.constant(int32_t{2})}, DType::boolean);
  const ValueId number = made.add("Where", {has_within, found, end}, type);
  made.finish("Where", {has_none, none, number});
}

// --- what follows from types alone

bool is_cast_to_a_known_type(const NodeView& node) {
  return dtype_of_input(node, 1) != DType::undefined && dtype_of_input(node, 1) != DType::string &&
         dtype_of_input(node, 0) != DType::string;
}

void name_type(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  made.finish_cast(made.input(0), made.dtype());
}

bool is_empty_list(const NodeView& node, int i) {
  if (!node.has_input(i) || !node.input_type(i).is_tensor() || !node.input_type(i).tensor().has_rank()) return false;
  const SymbolicShape& dims = *node.input_type(i).tensor().dims;
  return dims.size() == 1 && dims[0].is_constant(0);
}

/// Axes that are none stand for all: they end OpenVINO's process.
bool has_empty_axes(const NodeView& node) { return is_empty_list(node, 1) && !node.flag("noop_with_empty_axes"); }

void drop_axes(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  made.finish(made.node().op_type.c_str(), {made.input(0)}, made.node().attributes);
}

/// A sum over axes that are none, which then stand for none.
bool is_sum_of_one(const NodeView& node) { return node.flag("noop_with_empty_axes") && (!node.has_input(1) || is_empty_list(node, 1)); }

bool is_sum_without_axes(const NodeView& node) { return is_sum_of_one(node) || has_empty_axes(node); }

void sum_without_axes(Graph& graph, NodeId id) {
  if (!is_sum_of_one(NodeView(graph, graph.node(id)))) return drop_axes(graph, id);
  Replacement made(graph, id);
  made.finish("Identity", {made.input(0)});
}

// --- recurrent layers whose first dimension is the batch

bool is_batch_first(const NodeView& node) { return opset_of(node) >= kLeastOpset && node.flag("layout"); }

void put_steps_first(Graph& graph, NodeId id) {
  constexpr size_t kState = 5, kCell = 6;  // as the directions come first in them
  Replacement made(graph, id);
  const auto order = [](std::vector<int64_t> axes) { return std::vector<Attribute>{{"perm", std::move(axes)}}; };
  std::vector<ValueId> inputs = made.node().inputs;
  for (const size_t i : {size_t{0}, kState, kCell}) {
    if (i < inputs.size() && inputs[i] != kNoValue) inputs[i] = made.add("Transpose", {inputs[i]}, made.dtype(), order({1, 0, 2}));
  }
  std::vector<Attribute> attributes = made.node().attributes;
  std::erase_if(attributes, [](const Attribute& attribute) { return attribute.name == "layout"; });
  const std::vector<ValueId> given = made.repeat(std::move(inputs), std::move(attributes));
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == kNoValue) continue;
    made.finish("Transpose", {given[i]}, i == 0 ? order({2, 0, 1, 3}) : order({1, 0, 2}), i);
  }
}

// --- LRN with a bias, which goes into the sum's factor and the result

float bias_of(const NodeView& node) { return node.float_or("bias", 1.0f); }

bool is_biased_norm(const NodeView& node) {
  return bias_of(node) > 0 && bias_of(node) != 1 && opset_of(node) >= kLeastOpset && is_plain_float(dtype_of_input(node, 0));
}

void take_bias_out(Graph& graph, NodeId id) {
  const NodeView view(graph, graph.node(id));
  const float bias = bias_of(view), alpha = view.float_or("alpha", 1e-4f), beta = view.float_or("beta", 0.75f);
  const int64_t size = view.int_or("size", 1);
  Replacement made(graph, id);
  const ValueId norm =
      made.add("LRN", {made.input(0)}, made.dtype(), {{"alpha", alpha / bias}, {"beta", beta}, {"bias", 1.0f}, {"size", size}});
  made.finish("Mul", {norm, made.cast(made.constant(std::pow(bias, -beta)), made.dtype())});
}

// --- SpaceToDepth whose channels come before places in blocks

bool has_channels_first(const NodeView& node) {
  if (node.string_or("mode", "DCR") != "CRD" || opset_of(node) < kLeastOpset || !node.input_type(0).is_tensor()) return false;
  const TensorType& type = node.input_type(0).tensor();
  return type.has_rank() && type.rank() == 4 && (*type.dims)[1].is_constant();
}

void reorder_channels(Graph& graph, NodeId id) {
  const NodeView view(graph, graph.node(id));
  const int64_t size = view.int_or("blocksize", 1), channels = (*view.input_type(0).tensor().dims)[1].value();
  Replacement made(graph, id);
  const ValueId places_first = made.add("SpaceToDepth", {made.input(0)}, made.dtype(), {{"blocksize", size}});
  const ValueId apart = made.add("Reshape", {places_first, made.sizes({0, size * size, channels, -1})}, made.dtype());
  const ValueId moved = made.add("Transpose", {apart}, made.dtype(), {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  made.finish("Reshape", {moved, made.add("Shape", {places_first}, DType::int64)});
}

// --- windows that are not periodic: a periodic one that is shorter by one, and its first element again

bool is_symmetric_window(const NodeView& node) { return !node.flag("periodic", true) && opset_of(node) >= kLeastOpset; }

void close_window(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  std::vector<Attribute> attributes = made.node().attributes;
  std::erase_if(attributes, [](const Attribute& attribute) { return attribute.name == "periodic"; });
  const ValueId size = made.add("Reshape", {made.cast(made.input(0), DType::int64), made.sizes({1})}, DType::int64);
  const ValueId one = made.sizes({1}), zero = made.sizes({0});
  const ValueId shorter = made.add("Max", {made.add("Sub", {size, one}, DType::int64), one}, DType::int64);
  const ValueId open_size = made.add("Squeeze", {shorter}, DType::int64);
  const ValueId open = made.add(made.node().op_type.c_str(), {open_size}, made.dtype(), std::move(attributes));
  const ValueId first = made.add("Slice", {open, zero, one}, made.dtype());
  const ValueId closed = made.add("Concat", {open, first}, made.dtype(), {{"axis", int64_t{0}}});
  made.finish("Slice", {closed, zero, size});
}

// --- Pad with a value that a run gives: a frame says where it goes

bool is_pad_with_a_value(const NodeView& node) {
  return opset_of(node) >= kLeastOpset && node.has_input(2) && !node.constant_input(2) && is_plain_float(dtype_of_input(node, 0)) &&
         node.string_or("mode", "constant") == "constant";
}

void frame_pad(Graph& graph, NodeId id) {
  constexpr size_t kValue = 2;
  Replacement made(graph, id);
  const DType type = made.dtype();
  std::vector<ValueId> inputs = made.node().inputs;
  const ValueId value = inputs[kValue];
  inputs[kValue] = kNoValue;
  const ValueId padded = made.add("Pad", inputs, type, made.node().attributes);
  const ValueId shape = made.add("Shape", {inputs[0]}, DType::int64);
  inputs[0] = made.add("ConstantOfShape", {shape}, DType::float32, {{"value", Tensor::from<float>(Shape{1}, std::vector<float>{1.0f})}});
  const ValueId frame = made.add("Pad", inputs, DType::float32, made.node().attributes);
  const ValueId is_within = made.add("Greater", {frame, made.constant(0.5f)}, DType::boolean);
  made.finish("Where", {is_within, padded, value});
}

// --- Dropout that is no training: its mask says that all is kept

bool is_dropout_with_mask(const NodeView& node) { return opset_of(node) >= kLeastOpset && node.has_output(1) && !node.has_input(2); }

void fill_mask(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  const ValueId shape = made.add("Shape", {made.input(0)}, DType::int64);
  Tensor kept(DType::boolean, Shape{1});
  *kept.data<bool>() = true;
  made.finish("ConstantOfShape", {shape}, {{"value", std::move(kept)}}, 1);
  if (made.node().outputs[0] != kNoValue) made.finish("Identity", {made.input(0)});
}

// --- DynamicQuantizeLinear: OpenVINO gives a scale of 0 for zeros, and multiplies by reciprocals

bool is_dynamic_quantization(const NodeView& node) { return opset_of(node) >= kLeastOpset; }

// Divisors are no constants, which OpenVINO would turn into factors.
void quantize_by_division(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  const std::vector<ValueId> outputs = made.node().outputs;
  const auto add = [&](const char* op, std::vector<ValueId> inputs) { return made.add(op, std::move(inputs), DType::float32); };
  const ValueId x = made.input(0), zero = made.constant(0.0f), one = made.constant(1.0f), steps = made.constant(255.0f);
  const auto extreme = [&](const char* op) { return made.add(op, {x}, DType::float32, {{"keepdims", int64_t{0}}}); };
  const ValueId low = add("Min", {extreme("ReduceMin"), zero}), high = add("Max", {extreme("ReduceMax"), zero});
  const ValueId range = add("Sub", {high, low}), is_flat = made.add("Equal", {range, zero}, DType::boolean);
  const ValueId scale = add("Div", {add("Where", {is_flat, one, range}), add("Where", {is_flat, one, steps})});
  const auto in_range = [&](ValueId value) { return add("Min", {add("Max", {value, zero}), steps}); };
  const ValueId origin = add("Round", {in_range(add("Div", {add("Sub", {zero, low}), scale}))});
  const auto has = [&](size_t i) { return i < outputs.size() && outputs[i] != kNoValue; };
  if (has(0)) {
    const ValueId moved = add("Add", {add("Round", {add("Div", {x, scale})}), origin});
    made.finish("Cast", {in_range(moved)}, {{"to", static_cast<int64_t>(DType::uint8)}}, 0);
  }
  if (has(1)) made.finish("Identity", {scale}, {}, 1);
  if (has(2)) made.finish("Cast", {origin}, {{"to", static_cast<int64_t>(DType::uint8)}}, 2);
}

// --- NonMaxSuppression: OpenVINO leaves out boxes whose overlap is the threshold, the standard those above it

bool is_suppression(const NodeView& node) { return node.has_input(kThreshold); }

void raise_threshold(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  // The next float above the threshold, or the one after it.
  const ValueId above =
      made.add("Mul", {made.input(kThreshold), made.constant(1.0f + std::numeric_limits<float>::epsilon())}, DType::float32);
  const ValueId threshold = made.add("Max", {above, made.constant(1e-30f)}, DType::float32);
  std::vector<ValueId> inputs = made.node().inputs;
  inputs[kThreshold] = threshold;
  made.finish("NonMaxSuppression", inputs, made.node().attributes);
}

constexpr Rewrite kRewrites[] = {
    {"BlackmanWindow", is_symmetric_window, close_window},
    {"CastLike", is_cast_to_a_known_type, name_type},
    {"Dropout", is_dropout_with_mask, fill_mask},
    {"DynamicQuantizeLinear", is_dynamic_quantization, quantize_by_division},
    {"GRU", is_batch_first, put_steps_first},
    {"HammingWindow", is_symmetric_window, close_window},
    {"HannWindow", is_symmetric_window, close_window},
    {"LRN", is_biased_norm, take_bias_out},
    {"LSTM", is_batch_first, put_steps_first},
    {"NonMaxSuppression", is_suppression, raise_threshold},
    {"Pad", is_pad_with_a_value, frame_pad},
    {"RNN", is_batch_first, put_steps_first},
    {"ReduceL1", has_empty_axes, drop_axes},
    {"ReduceL2", has_empty_axes, drop_axes},
    {"ReduceLogSum", has_empty_axes, drop_axes},
    {"ReduceLogSumExp", has_empty_axes, drop_axes},
    {"ReduceMax", is_extreme_of_floats, complete_extreme},
    {"ReduceMean", has_empty_axes, drop_axes},
    {"ReduceMin", is_extreme_of_floats, complete_extreme},
    {"ReduceProd", has_empty_axes, drop_axes},
    {"ReduceSum", is_sum_without_axes, sum_without_axes},
    {"ReduceSumSquare", has_empty_axes, drop_axes},
    {"SpaceToDepth", has_channels_first, reorder_channels},
};

const Rewrite* rewrite_of(const NodeView& node) {
  if (!node.domain().empty()) return nullptr;
  for (const std::span<const Rewrite> rewrites : {integer_rewrites(), std::span<const Rewrite>(kRewrites)}) {
    const auto at = std::ranges::find(rewrites, node.op_type(), &Rewrite::op_type);
    if (at != rewrites.end()) return at->is_for(node) ? &*at : nullptr;
  }
  return nullptr;
}

}  // namespace

bool is_rewritten(const NodeView& node) { return rewrite_of(node) != nullptr; }

void rewrite(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& body) { rewrite(body); });
    if (const Rewrite* found = rewrite_of(NodeView(graph, graph.node(id)))) found->apply(graph, id);
  }
}

}  // namespace rh::openvino
