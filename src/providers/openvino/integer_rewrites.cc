#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "providers/openvino/checks.h"
#include "providers/openvino/replacement.h"
#include "providers/openvino/rewrites.h"

namespace rh::openvino {

namespace {

constexpr int kLeastBitwiseOpset = 18;  ///< that has BitwiseAnd and BitwiseXor
constexpr int32_t kSignBit = std::numeric_limits<int32_t>::min();

bool is_narrow(DType type) { return type == DType::int8 || type == DType::uint8 || type == DType::int16 || type == DType::uint16; }
bool is_signed(DType type) { return type == DType::int8 || type == DType::int16 || type == DType::int32 || type == DType::int64; }

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

// --- uint32, whose bits OpenVINO's CPU has as int32, but for constants, which end at the largest int32

bool is_unsigned_32(const NodeView& node) { return opset_of(node) >= kLeastOpset && dtype_of_input(node, 0) == DType::uint32; }

bool is_unsigned_arithmetic(const NodeView& node) { return is_unsigned_32(node) || is_narrow_arithmetic(node); }

std::vector<ValueId> as_signed(Replacement& made) {
  std::vector<ValueId> inputs;
  for (ValueId input : made.node().inputs) inputs.push_back(made.cast(input, DType::int32));
  return inputs;
}

/// What gives the same bits for signed integers.
void compute_bits(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  made.finish_cast(made.add(made.node().op_type.c_str(), as_signed(made), DType::int32), DType::uint32);
}

void compute_sums(Graph& graph, NodeId id) {
  if (is_unsigned_32(NodeView(graph, graph.node(id)))) return compute_bits(graph, id);
  widen_arithmetic(graph, id);
}

/// The order of signed ones, once the highest bit is turned over.
ValueId turn_over(Replacement& made, ValueId value) { return made.add("Add", {value, made.constant(kSignBit)}, DType::int32); }

/// Where an input is constant OpenVINO may join a Max and a Min, and then clips in float32.
bool is_unsigned_extreme(const NodeView& node) {
  if (!is_unsigned_32(node)) return false;
  for (int i = 0; i < node.input_count(); ++i) {
    if (node.constant_input(i)) return false;
  }
  return true;
}

void compute_extreme(Graph& graph, NodeId id) {
  Replacement made(graph, id);
  std::vector<ValueId> inputs = as_signed(made);
  for (ValueId& input : inputs) input = turn_over(made, input);
  const ValueId found = made.add(made.node().op_type.c_str(), inputs, DType::int32);
  made.finish_cast(turn_over(made, found), DType::uint32);
}

// --- comparisons of integers of 32 and 64 bits, which OpenVINO compares in float32, where a difference of 0 is exact

bool is_long_comparison(const NodeView& node) {
  if (opset_of(node) < kLeastOpset || !is_long(dtype_of_input(node, 0))) return false;
  const bool has_sign = dtype_of_input(node, 0) != DType::uint32 || node.op_type() == "Equal";
  return !has_sign || !has_index_operand(node);
}

void compare_differences(Graph& graph, NodeId id) {
  const bool has_sign = dtype_of_input(NodeView(graph, graph.node(id)), 0) != DType::uint32;
  Replacement made(graph, id);
  const std::string& op = made.node().op_type;
  const ValueId zero = made.constant(int32_t{0});
  std::vector<ValueId> inputs = as_signed(made);
  if (op == "Equal") return made.finish("Equal", {made.add("Sub", inputs, DType::int32), zero});
  if (!has_sign) {
    for (ValueId& input : inputs) input = turn_over(made, input);
  }
  const bool of_first = op == "Less" || op == "GreaterOrEqual";  // whether the first one is the largest, and for the others the second
  const ValueId largest = made.add("Max", inputs, DType::int32);
  const ValueId difference = made.add("Sub", {largest, inputs[of_first ? 0 : 1]}, DType::int32);
  if (op.ends_with("OrEqual")) return made.finish("Equal", {difference, zero});
  made.finish("Not", {made.add("Equal", {difference, zero}, DType::boolean)});
}

// --- triangles: what OpenVINO makes of a Trilu goes by float32, and so does a choice by what is compared, but not by what is cut out

bool is_long_triangle(const NodeView& node) {
  if (opset_of(node) < kLeastOpset || !is_long(dtype_of_input(node, 0))) return false;
  const TensorType& type = node.input_type(0).tensor();
  return type.has_rank() && type.rank() >= 2;
}

void choose_triangle(Graph& graph, NodeId id) {
  const int rank = NodeView(graph, graph.node(id)).input_type(0).tensor().rank();
  Replacement made(graph, id);
  std::vector<int64_t> more(static_cast<size_t>(rank), 0);
  more.back() = 1;
  const ValueId shape = made.add("Shape", {made.input(0)}, DType::int64);
  std::vector<ValueId> inputs = made.node().inputs;
  inputs[0] = made.add("ConstantOfShape", {made.add("Add", {shape, made.sizes(more)}, DType::int64)}, DType::float32,
                       {{"value", Tensor::from<float>(Shape{1}, std::vector<float>{1.0f})}});
  const ValueId ones = made.add("Trilu", inputs, DType::float32, made.node().attributes);
  const ValueId last = made.sizes({-1});
  const ValueId is_kept = made.add("Slice", {made.cast(ones, DType::boolean), made.sizes({0}), last, last}, DType::boolean);
  made.finish("Where", {is_kept, made.input(0), made.constant_of(made.dtype(), 0)});
}

// --- bits that are taken for another type of integers

bool is_bit_cast_of_integers(const NodeView& node) {
  const DType from = dtype_of_input(node, 0), to = static_cast<DType>(node.int_or("to", 0));
  if (from == to || (from == DType::uint32 && to == DType::int32)) return true;
  return (is_narrow(from) || from == DType::boolean) && is_narrow(to) && bits_of(from) == bits_of(to);
}

void take_bits(Graph& graph, NodeId id) {
  const DType from = dtype_of_input(NodeView(graph, graph.node(id)), 0);
  Replacement made(graph, id);
  if (from == made.dtype()) return made.finish("Identity", {made.input(0)});
  const ValueId wide = made.cast(made.input(0), DType::int32);
  if (made.dtype() == DType::int32) return made.finish("Identity", {wide});
  finish_narrowed(made, wide);
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

/// Of bytes OpenVINO rounds quotients to the nearest.
bool is_division_of_bytes(const NodeView& node) {
  const DType type = dtype_of_input(node, 0);
  return opset_of(node) >= kLeastOpset && (type == DType::int8 || type == DType::uint8);
}

bool is_division(const NodeView& node) { return is_division_of_bytes(node) || is_integer_division(node); }

void divide(Graph& graph, NodeId id) {
  if (!is_division_of_bytes(NodeView(graph, graph.node(id)))) return guard_division(graph, id);
  Replacement made(graph, id);
  const ValueId dividend = made.cast(made.input(0), DType::int32), divisor = made.cast(made.input(1), DType::int32);
  const ValueId zero = made.constant(int32_t{0}), one = made.constant(int32_t{1});
  const ValueId is_zero = made.add("Equal", {divisor, zero}, DType::boolean);
  const ValueId quotient = made.add("Div", {dividend, made.add("Where", {is_zero, one, divisor}, DType::int32)}, DType::int32);
  finish_narrowed(made, made.add("Where", {is_zero, zero, quotient}, DType::int32));
}

// --- shifts, by products and divisions in 32 bits

bool is_left_shift(const NodeView& node) { return node.string_or("direction", "") == "LEFT"; }

bool is_shift_within_32_bits(const NodeView& node) {
  const DType type = dtype_of_input(node, 0);
  if (type == DType::uint8) return opset_of(node) >= kLeastOpset;
  if (opset_of(node) < kLeastBitwiseOpset) return false;
  return is_narrow(type) || ((type == DType::int32 || type == DType::uint32) && is_left_shift(node));
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
  if (is_left && bits == 32) return made.finish_cast(made.add("Mul", {wide, power}, DType::int32), type);
  if (is_left) return finish_narrowed(made, made.add("Mul", {wide, power}, DType::int32));
  if (!keeps_sign) return made.finish_cast(made.add("Div", {wide, power}, DType::int32), type);
  const ValueId offset = made.constant(int32_t{1} << (bits - 1));  // a multiple of the power: quotients of positive numbers go down
  const ValueId moved = made.add("Div", {made.add("Add", {wide, offset}, DType::int32), power}, DType::int32);
  const ValueId back = made.add("Div", {offset, power}, DType::int32);
  made.finish_cast(made.add("Sub", {moved, back}, DType::int32), type);
}

constexpr Rewrite kRewrites[] = {
    {"Add", is_unsigned_arithmetic, compute_sums},
    {"BitCast", is_bit_cast_of_integers, take_bits},
    {"BitShift", is_shift_within_32_bits, widen_shift},
    {"BitwiseAnd", is_unsigned_32, compute_bits},
    {"BitwiseNot", is_unsigned_32, compute_bits},
    {"BitwiseOr", is_unsigned_32, compute_bits},
    {"BitwiseXor", is_unsigned_32, compute_bits},
    {"Div", is_division, divide},
    {"Equal", is_long_comparison, compare_differences},
    {"Greater", is_long_comparison, compare_differences},
    {"GreaterOrEqual", is_long_comparison, compare_differences},
    {"Less", is_long_comparison, compare_differences},
    {"LessOrEqual", is_long_comparison, compare_differences},
    {"Max", is_unsigned_extreme, compute_extreme},
    {"Min", is_unsigned_extreme, compute_extreme},
    {"Mod", is_integer_division, guard_division},
    {"Mul", is_unsigned_arithmetic, compute_sums},
    {"Sub", is_unsigned_arithmetic, compute_sums},
    {"Trilu", is_long_triangle, choose_triangle},
};

}  // namespace

std::span<const Rewrite> integer_rewrites() { return kRewrites; }

bool is_computed_as_signed(const NodeView& node) {
  const auto at = std::ranges::find(kRewrites, node.op_type(), &Rewrite::op_type);
  const bool is_quotient = node.op_type() == "Div" || node.op_type() == "Mod";
  if (!node.domain().empty() || at == std::end(kRewrites) || is_quotient) return false;
  return is_unsigned_32(node) && at->is_for(node);
}

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

}  // namespace rh::openvino
