#include "providers/gpu/lower/operators.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "providers/gpu/kernels/arguments.cuh"
#include "providers/gpu/lower/elementwise/elementwise.h"
#include "providers/gpu/plan/lowering.h"
#include "providers/kit/regions/host_values.h"

namespace rh::gpu {

#define RH_GPU_OPERATOR(domain, op_type, name)   \
  kit::Support supports_##name(const NodeView&); \
  void lower_##name(const NodeView&, Lowering&);
#include "providers/gpu/lower/operator_list.inc"
#undef RH_GPU_OPERATOR

namespace {

/// Lengths of caches, which say how large the results are.
struct Length {
  std::string_view op_type;
  int input;
};
constexpr Length kLengths[] = {{"Attention", 6}, {"GroupQueryAttention", 6}, {"MultiHeadAttention", 8}};

using Key = std::pair<std::string_view, std::string_view>;

constexpr Operator kOperators[] = {
#define RH_GPU_OPERATOR(domain, op_type, name) {domain, op_type, supports_##name, lower_##name},
#include "providers/gpu/lower/operator_list.inc"
#undef RH_GPU_OPERATOR
};

const std::map<Key, Operator>& operators() {
  static const std::map<Key, Operator> all = [] {
    std::map<Key, Operator> made;
    for (const Operator& row : kOperators) made.emplace(Key(row.domain, row.op_type), row);
    for (const auto& [domain, op_type] : elementwise_names()) {
      made.emplace(Key(domain, op_type), Operator{domain, op_type, supports_elementwise, lower_elementwise});
    }
    return made;
  }();
  return all;
}

kit::Support check_value(const NodeView& node, ValueId id, const char* what, size_t i) {
  const ValueType& type = node.graph().value(id).type;
  if (!type.is_tensor() || element_name(type.tensor().dtype).empty()) {
    return kit::refuse(RhRefusalCode_TYPE, "{} {} is {}, it has no kernels for that", what, i, type.to_string());
  }
  if (!type.tensor().has_rank()) return kit::refuse(RhRefusalCode_SHAPE, "the rank of {} {} is not known", what, i);
  if (type.tensor().rank() > kMostDims) {
    return kit::refuse(RhRefusalCode_SHAPE, "{} {} is of rank {}, its kernels walk at most {}", what, i, type.tensor().rank(), kMostDims);
  }
  return {};
}

void collect_symbols(const NodeView& node, const std::vector<ValueId>& values, std::set<std::string, std::less<>>& symbols) {
  for (ValueId id : values) {
    if (id == kNoValue || !node.graph().value(id).type.is_tensor() || !node.graph().value(id).type.tensor().has_rank()) continue;
    for (const Dim& dim : *node.graph().value(id).type.tensor().dims) {
      dim.for_each_symbol([&](std::string_view name) { symbols.emplace(name); });
    }
  }
}

// Sizes that only a run of the node itself tells: memory and launches are planned before. Those by a length are planned once it is known.
kit::Support check_sizes(const NodeView& node) {
  if (node.op_type() == "If") return {};  // those of what its branches have are looked at
  if (node.domain() == "com.microsoft" && host_inputs_of(node) != 0) return {};
  std::set<std::string, std::less<>> given;
  collect_symbols(node, node.node().inputs, given);
  for (size_t i = 0; i < node.node().outputs.size(); ++i) {
    const ValueId id = node.node().outputs[i];
    if (id == kNoValue) continue;
    for (const Dim& dim : *node.graph().value(id).type.tensor().dims) {
      bool is_computed = dim.is_unknown();
      dim.for_each_symbol([&](std::string_view name) { is_computed |= is_computed_symbol(name) && !given.contains(name); });
      if (is_computed) return kit::refuse(RhRefusalCode_SHAPE, "the sizes of output {} are not known before it runs", i);
    }
  }
  return {};
}

}  // namespace

uint64_t host_inputs_of(const NodeView& node) {
  const uint64_t standard = kit::steering_inputs(node);
  if (node.domain() != "com.microsoft") return standard;
  const auto* row = std::ranges::find(kLengths, node.op_type(), &Length::op_type);
  return row == std::end(kLengths) ? standard : standard | uint64_t{1} << row->input;
}

const Operator* find_operator(std::string_view domain, std::string_view op_type) {
  const auto at = operators().find(Key(domain, op_type));
  return at == operators().end() ? nullptr : &at->second;
}

kit::Support supports_node(const NodeView& node) {
  const Operator* row = find_operator(node.domain(), node.op_type());
  if (!row) return kit::refuse(RhRefusalCode_OP, "it has no kernel for {}", node.node().op_text());
  for (size_t i = 0; i < node.node().inputs.size(); ++i) {
    if (node.node().inputs[i] == kNoValue) continue;
    if (kit::Support refusal = check_value(node, node.node().inputs[i], "input", i)) return refusal;
  }
  for (size_t i = 0; i < node.node().outputs.size(); ++i) {
    if (node.node().outputs[i] == kNoValue) continue;
    if (kit::Support refusal = check_value(node, node.node().outputs[i], "output", i)) return refusal;
  }
  if (kit::Support refusal = row->supports(node)) return refusal;
  return check_sizes(node);
}

DType dtype_of_input(const NodeView& node, int input) { return node.input_type(input).tensor().dtype; }

ValueId input_of(const NodeView& node, int i) { return node.has_input(i) ? node.node().inputs[static_cast<size_t>(i)] : kNoValue; }

ValueId output_of(const NodeView& node, int i) { return node.has_output(i) ? node.node().outputs[static_cast<size_t>(i)] : kNoValue; }

int rank_of(const NodeView& node, int input) { return node.input_type(input).tensor().rank(); }

kit::Support require_types(const NodeView& node, int input, std::initializer_list<DType> types) {
  const DType dtype = dtype_of_input(node, input);
  if (std::ranges::find(types, dtype) != types.end()) return {};
  return kit::refuse(RhRefusalCode_TYPE, "its kernel of {} does not take {} for input {}", node.op_type(), to_string(dtype), input);
}

}  // namespace rh::gpu
