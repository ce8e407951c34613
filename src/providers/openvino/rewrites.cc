#include "providers/openvino/rewrites.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace rh::openvino {

namespace {

constexpr int kLeastOpset = 13;         ///< whose Where, Equal and Cast take all of these types
constexpr int kThreshold = 3;           ///< the input of NonMaxSuppression
constexpr int kLeastBitwiseOpset = 18;  ///< that has BitwiseAnd and BitwiseXor

DType dtype_of_input(const NodeView& node, int i) {
  return node.has_input(i) && node.input_type(i).is_tensor() ? node.input_type(i).tensor().dtype : DType::undefined;
}

/// Of what is added: the graph's, whichever a node has that was inlined from a function.
int opset_of(const NodeView& node) {
  const auto found = node.graph().opset_imports.find("");
  return found == node.graph().opset_imports.end() ? 0 : found->second;
}

bool is_narrow(DType type) { return type == DType::int8 || type == DType::uint8 || type == DType::int16 || type == DType::uint16; }
bool is_signed(DType type) { return type == DType::int8 || type == DType::int16 || type == DType::int32 || type == DType::int64; }
bool is_plain_float(DType type) { return type == DType::float32 || type == DType::float16 || type == DType::bfloat16; }

/// Puts nodes in place of one, of which the last gives what that gave.
class Replacement {
 public:
  Replacement(Graph& graph, NodeId id)
      : graph_(graph), node_(graph.node(id)), type_(graph.value(node_.outputs[0] == kNoValue ? node_.inputs[0] : node_.outputs[0]).type) {
    graph.remove_node(id);
  }

  const Node& node() const { return node_; }
  ValueId input(size_t i) const { return node_.inputs[i]; }
  DType dtype() const { return type_.tensor().dtype; }
  int opset() const { return graph_.opset_imports.at(""); }

  /// A value without a shape of its own: OpenVINO finds that itself.
  ValueId add(const char* op, std::vector<ValueId> inputs, DType type, std::vector<Attribute> attributes = {}) {
    const ValueId output = graph_.add_value("", ValueType::tensor(type, std::nullopt));
    add_node(op, std::move(inputs), output, std::move(attributes));
    return output;
  }
  void finish(const char* op, std::vector<ValueId> inputs, std::vector<Attribute> attributes = {}, size_t output = 0) {
    add_node(op, std::move(inputs), node_.outputs[output], std::move(attributes));
  }
  ValueId cast(ValueId value, DType to) { return add("Cast", {value}, to, {cast_to(to)}); }
  void finish_cast(ValueId value, DType to) { finish("Cast", {value}, {cast_to(to)}); }

  template <typename T>
  ValueId constant(T number) {
    return graph_.add_initializer("", Value(Tensor::scalar(number)));
  }
  ValueId constant(std::vector<int32_t> numbers) {
    const Shape shape{static_cast<int64_t>(numbers.size())};
    return graph_.add_initializer("", Value(Tensor::from<int32_t>(shape, numbers)));
  }
  /// A number of another type, by way of an integer that it can hold.
  ValueId constant_of(DType type, int32_t number) { return cast(constant(number), type); }

 private:
  static Attribute cast_to(DType type) { return {"to", static_cast<int64_t>(type)}; }

  void add_node(const char* op, std::vector<ValueId> inputs, ValueId output, std::vector<Attribute> attributes) {
    Node made;
    made.op_type = op;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    made.attributes = std::move(attributes);
    made.provenance = node_.provenance;
    graph_.add_node(std::move(made));
  }

  Graph& graph_;
  const Node node_;
  const ValueType type_;
};

/// The low bits of 32-bit integers, as the narrow type has them.
void finish_narrowed(Replacement& made, ValueId wide) {
  const DType type = made.dtype();
  const int32_t bits = bits_of(type), sign = is_signed(type) ? 1 << (bits - 1) : 0;
  if (sign) wide = made.add("Add", {wide, made.constant(sign)}, DType::int32);
  ValueId low = kNoValue;
  if (made.opset() >= kLeastBitwiseOpset) {
    low = made.add("BitwiseAnd", {wide, made.constant((1 << bits) - 1)}, DType::int32);
  } else {
    low = made.add("Mod", {wide, made.constant(1 << bits)}, DType::int32);  // which OpenVINO computes in float32
  }
  if (sign) low = made.add("Sub", {low, made.constant(sign)}, DType::int32);
  made.finish_cast(low, type);
}

// --- sums, differences and products of narrow integers, in 32 bits

bool is_narrow_arithmetic(const NodeView& node) {
  const DType type = dtype_of_input(node, 0);
  const bool may_be_large = node.op_type() == "Mul" && bits_of(type) > 8;
  return is_narrow(type) && opset_of(node) >= (may_be_large ? kLeastBitwiseOpset : kLeastOpset);
}

void widen_arithmetic(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  std::vector<ValueId> wide;
  for (ValueId input : made.node().inputs) wide.push_back(made.cast(input, DType::int32));
  finish_narrowed(made, made.add(made.node().op_type.c_str(), wide, DType::int32, made.node().attributes));
}

// --- divisions of integers: OpenVINO ends the process where the divisor is 0, and at the smallest number by -1

bool is_integer_division(const NodeView& node) {
  return !has_plain_divisor(node) && opset_of(node) >= kLeastOpset && is_integer(dtype_of_input(node, 0)) &&
         bits_of(dtype_of_input(node, 0)) >= 8;
}

void guard_division(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  const ValueId dividend = made.input(0), divisor = made.input(1);
  const DType type = made.dtype();
  const ValueId zero = made.constant_of(type, 0), one = made.constant_of(type, 1);
  const ValueId is_zero = made.add("Equal", {divisor, zero}, DType::boolean);
  const bool is_rest = made.node().op_type == "Mod";
  if (!is_signed(type)) {
    const ValueId safe = made.add("Where", {is_zero, one, divisor}, type);
    const ValueId result = made.add(made.node().op_type.c_str(), {dividend, safe}, type, made.node().attributes);
    return made.finish("Where", {is_zero, zero, result});
  }
  const ValueId is_opposite = made.add("Equal", {divisor, made.constant_of(type, -1)}, DType::boolean);
  const ValueId is_special = made.add("Or", {is_zero, is_opposite}, DType::boolean);
  const ValueId safe = made.add("Where", {is_special, one, divisor}, type);
  const ValueId result = made.add(made.node().op_type.c_str(), {dividend, safe}, type, made.node().attributes);
  if (is_rest) return made.finish("Where", {is_special, zero, result});
  const ValueId opposite = made.add("Sub", {zero, dividend}, type);
  const ValueId signed_result = made.add("Where", {is_opposite, opposite, result}, type);
  made.finish("Where", {is_zero, zero, signed_result});
}

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

// --- shifts, by products and divisions in 32 bits

bool is_left_shift(const NodeView& node) { return node.string_or("direction", "") == "LEFT"; }

bool is_shift_within_32_bits(const NodeView& node) {
  const DType type = dtype_of_input(node, 0);
  if (type == DType::uint8) return opset_of(node) >= kLeastOpset;
  if (opset_of(node) < kLeastBitwiseOpset) return false;
  return is_narrow(type) || (type == DType::int32 && is_left_shift(node));
}

// Bits that are shifted out are gone, as by a negative number of steps; to the right the sign comes after.
void widen_shift(Graph& graph, NodeId id) {
  const bool is_left = is_left_shift(NodeView(graph, graph.node(id)));
  Replacement made(graph, id);
  const DType type = made.dtype();
  const bool keeps_sign = !is_left && is_signed(type);
  const int32_t bits = bits_of(type), most = keeps_sign ? bits - 1 : bits;
  std::vector<int32_t> powers;
  for (int32_t i = 0; i <= most; ++i) powers.push_back(is_left && i == bits ? 0 : static_cast<int32_t>(uint32_t{1} << i));
  const ValueId wide = made.cast(made.input(0), DType::int32);
  ValueId steps = made.cast(made.input(1), DType::int32);
  const ValueId limit = made.constant(most), is_before = made.add("Less", {steps, made.constant(int32_t{0})}, DType::boolean);
  steps = made.add("Where", {is_before, limit, made.add("Min", {steps, limit}, DType::int32)}, DType::int32);
  const ValueId power = made.add("Gather", {made.constant(powers), steps}, DType::int32);
  if (is_left && bits == 32) return made.finish("Mul", {wide, power});
  if (is_left) return finish_narrowed(made, made.add("Mul", {wide, power}, DType::int32));
  if (!keeps_sign) return made.finish_cast(made.add("Div", {wide, power}, DType::int32), type);
  const ValueId offset = made.constant(int32_t{1} << (bits - 1));  // a multiple of the power: quotients of positive numbers go down
  const ValueId moved = made.add("Div", {made.add("Add", {wide, offset}, DType::int32), power}, DType::int32);
  const ValueId back = made.add("Div", {offset, power}, DType::int32);
  made.finish_cast(made.add("Sub", {moved, back}, DType::int32), type);
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

struct Rewrite {
  std::string_view op_type;
  bool (*is_for)(const NodeView& node);
  void (*apply)(Graph& graph, NodeId id);
};
constexpr Rewrite kRewrites[] = {
    {"Add", is_narrow_arithmetic, widen_arithmetic},
    {"BitShift", is_shift_within_32_bits, widen_shift},
    {"CastLike", is_cast_to_a_known_type, name_type},
    {"Div", is_integer_division, guard_division},
    {"Dropout", is_dropout_with_mask, fill_mask},
    {"DynamicQuantizeLinear", is_dynamic_quantization, quantize_by_division},
    {"Mod", is_integer_division, guard_division},
    {"Mul", is_narrow_arithmetic, widen_arithmetic},
    {"NonMaxSuppression", is_suppression, raise_threshold},
    {"Pad", is_pad_with_a_value, frame_pad},
    {"ReduceL1", has_empty_axes, drop_axes},
    {"ReduceL2", has_empty_axes, drop_axes},
    {"ReduceLogSum", has_empty_axes, drop_axes},
    {"ReduceLogSumExp", has_empty_axes, drop_axes},
    {"ReduceMax", is_extreme_of_floats, complete_extreme},
    {"ReduceMean", has_empty_axes, drop_axes},
    {"ReduceMin", is_extreme_of_floats, complete_extreme},
    {"ReduceProd", has_empty_axes, drop_axes},
    {"ReduceSum", has_empty_axes, drop_axes},
    {"ReduceSumSquare", has_empty_axes, drop_axes},
    {"Sub", is_narrow_arithmetic, widen_arithmetic},
};

const Rewrite* rewrite_of(const NodeView& node) {
  if (!node.domain().empty()) return nullptr;
  const auto at = std::ranges::find(kRewrites, node.op_type(), &Rewrite::op_type);
  return at != std::end(kRewrites) && at->is_for(node) ? at : nullptr;
}

}  // namespace

bool has_plain_divisor(const NodeView& node) {
  const Tensor* divisor = node.constant_input(1);
  if (!divisor) return false;
  const auto* bytes = static_cast<const std::byte*>(divisor->raw());
  const size_t size = static_cast<size_t>(bits_of(divisor->dtype())) / 8;
  for (size_t at = 0; at < divisor->bytes(); at += size) {
    const std::byte first = bytes[at];
    const bool may_be = first == std::byte{0} || first == std::byte{0xff};  // 0 or -1
    if (may_be && std::all_of(bytes + at, bytes + at + size, [&](std::byte b) { return b == first; })) return false;
  }
  return true;
}

bool is_rewritten(const NodeView& node) { return rewrite_of(node) != nullptr; }

void rewrite(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& body) { rewrite(body); });
    if (const Rewrite* found = rewrite_of(NodeView(graph, graph.node(id)))) found->apply(graph, id);
  }
}

}  // namespace rh::openvino
