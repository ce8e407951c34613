#include "ops/inference.h"

#include <algorithm>
#include <charconv>

#include "ops/check_node.h"
#include "ops/impossible_shapes.h"
#include "ops/registry.h"
#include "ops/tensor/unrunnable.h"

namespace rh {

namespace {

constexpr int64_t kMaxContents = 64;

// Whether numbers in a tensor of this type can be sizes or indices.
bool holds_sizes(DType dtype) { return dtype == DType::int64 || dtype == DType::int32; }

// Whether no tensor has both shapes. Exporters declare results wrongly (one column for several targets, a vector for a column): the shape
// that the operator gives counts then.
bool shapes_contradict(const ValueType& declared, const ValueType& inferred) {
  if (declared.kind() != inferred.kind() || !declared.tensor().has_rank() || !inferred.tensor().has_rank()) return false;
  const SymbolicShape &a = *declared.tensor().dims, &b = *inferred.tensor().dims;
  if (a.size() != b.size()) return true;
  const auto differ = [](const Dim& x, const Dim& y) { return x.is_constant() && y.is_constant() && x.value() != y.value(); };
  for (size_t i = 0; i < a.size(); ++i) {
    if (differ(a[i], b[i])) return true;
  }
  return false;
}

// True for min(whole, n) with a number n >= 1: what fits `whole` in a broadcast is then `whole`, or nothing.
bool is_cut_of(const Dim& part, const Dim& whole) {
  if (part.terms().size() != 1 || part.constant_term() != 0) return false;
  const Dim::Term& term = part.terms()[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return false;
  const Dim::Atom& atom = *term.factors[0];
  if (!atom.name.empty() || atom.function != Dim::Function::min) return false;
  const auto positive = [](const Dim& d) { return d.is_constant() && d.value() >= 1; };
  return (atom.a == whole && positive(atom.b)) || (atom.b == whole && positive(atom.a));
}

// Whether this is an elementwise operator from before shapes were broadcast: the standard says nothing of its output's shape.
bool shapes_are_for_runs(const NodeView& node) {
  constexpr std::string_view kVariadic[] = {"Max", "Mean", "Min", "Sum"};
  return node.domain().empty() && (node.opset() < 7 || (node.opset() < 8 && std::ranges::binary_search(kVariadic, node.op_type())));
}

}  // namespace

InferenceContext::InferenceContext(const NodeView& node, KnownContents& contents, SubgraphInference infer_subgraph,
                                   FunctionRef<Dim()> fresh_symbol)
    : node_(node), contents_(contents), infer_subgraph_(infer_subgraph), fresh_symbol_(fresh_symbol), outputs_(node.output_count()) {}

const TensorType& InferenceContext::input_tensor(int i) const {
  const ValueType& type = input_type(i);
  if (type.is_unknown()) return kUnknownTensorType;
  if (!type.is_tensor()) node_.fail("input {} is a {}, expected a tensor", i, type.to_string());
  return type.tensor();
}

std::optional<SymbolicShape> InferenceContext::input_contents(int i) const {
  if (!has_input(i)) return std::nullopt;
  const ValueId id = node_.node().inputs[i];
  if (const Tensor* constant = node_.constant_input(i)) {
    if (!holds_sizes(constant->dtype()) || constant->shape().rank() > 1 || constant->elements() > kMaxContents) return std::nullopt;
    SymbolicShape dims;
    for (int64_t k = 0; k < constant->elements(); ++k) dims.push_back(Dim(element_as_int(constant->view(), k)));
    return dims;
  }
  if (const auto at = contents_.find(id); at != contents_.end()) return at->second;
  const TensorType& type = input_tensor(i);
  if (type.is_static() && holds_sizes(type.dtype) && type.rank() <= 1) {
    const int64_t count = type.shape().elements();
    if (count <= kMaxContents) return SymbolicShape(static_cast<size_t>(count));
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> InferenceContext::input_ints(int i) const {
  if (const Tensor* constant = input_constant(i); constant && is_integer(constant->dtype())) {
    std::vector<int64_t> values;
    for (int64_t k = 0; k < constant->elements(); ++k) values.push_back(element_as_int(constant->view(), k));
    return values;
  }
  const auto contents = input_contents(i);
  if (!contents || !std::all_of(contents->begin(), contents->end(), [](const Dim& d) { return d.is_constant(); })) return std::nullopt;
  std::vector<int64_t> values;
  for (const Dim& d : *contents) values.push_back(d.value());
  return values;
}

void InferenceContext::set_output(int i, ValueType type) {
  if (i < static_cast<int>(outputs_.size())) outputs_[i] = std::move(type);
}

void InferenceContext::set_output_contents(int i, SymbolicShape contents) {
  if (has_output(i) && static_cast<int64_t>(contents.size()) <= kMaxContents) contents_[node_.node().outputs[i]] = std::move(contents);
}

std::vector<ValueType> InferenceContext::infer_subgraph(std::string_view attribute, std::span<const ValueType> inputs) const {
  const Graph* graph = node_.subgraph(attribute);
  if (!graph) node_.fail("attribute '{}' is missing, expected a graph", attribute);
  return infer_subgraph_(*graph, inputs);
}

int InferenceContext::check_axis(const char* name, int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    const std::string text = fmt::format("{} is {}, expected a value in [{}, {}] for rank {}", name, axis, -rank, rank - 1, rank);
    const auto low = static_cast<int32_t>(axis);
    throw AxisError(node_, text, axis != low && low >= -rank && low < rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

SymbolicShape InferenceContext::broadcast(const SymbolicShape& a, const SymbolicShape& b) const {
  SymbolicShape result = a.size() >= b.size() ? a : b;
  const SymbolicShape& shorter = a.size() >= b.size() ? b : a;
  const size_t offset = result.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& x = result[offset + i];
    const Dim& y = shorter[i];
    if (x == y || y.is_constant(1) || is_cut_of(y, x)) continue;
    if (x.is_constant(1) || is_cut_of(x, y)) {
      x = y;
    } else if (x.is_constant() && y.is_constant()) {
      constexpr auto kText = "shapes {} and {} cannot be broadcast together: {} against {}";
      if (shapes_are_for_runs(node_)) fail_when_run(node_, kText, to_string(a), to_string(b), x.value(), y.value());
      node_.fail(kText, to_string(a), to_string(b), x.value(), y.value());
    } else if (y.is_constant()) {
      x = y;
    } else if (!x.is_constant()) {
      // Where one is never larger the other is the result; the maximum of any two is not, for 0 goes with 1.
      const Dim larger = Dim::apply(Dim::Function::max, x, y);
      x = larger == x || larger == y ? larger : fresh_symbol();
    }
  }
  return result;
}

void InferenceContext::set_broadcast_output(int i, DType dtype, int first, int last) {
  std::optional<SymbolicShape> dims = SymbolicShape{};
  for (int k = first; k < last; ++k) {
    if (!has_input(k)) continue;
    const TensorType& type = input_tensor(k);
    if (!type.has_rank()) {
      dims.reset();
      break;
    }
    dims = broadcast(*dims, *type.dims);
  }
  set_output(i, dtype, std::move(dims));
}

/// Walks a graph; subgraphs are walked when their node asks for them.
class GraphInference {
 public:
  GraphInference(const Graph& graph, const InferenceOptions& options, bool for_runs = false) : options_(options), for_runs_(for_runs) {
    skip_symbols_of(graph);
  }

  KnownContents run(Graph& graph) {
    KnownContents contents;
    for (NodeId id : graph.topological_order()) {
      try {
        infer(graph, id, contents);
      } catch (const Error& error) {
        if (!error.where().node.empty() && error.where().node != graph.node(id).where().node) throw;  // of a node of a subgraph
        Error located(error.code(), error.message() + inputs_of(graph, graph.node(id)), error.where());
        located.add(graph.node(id).where());
        throw located;
      }
    }
    return contents;
  }

 private:
  static std::string inputs_of(const Graph& graph, const Node& node) {
    std::string text = "; inputs:";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      text += i ? ", " : " ";
      if (node.inputs[i] == kNoValue) {
        text += "none";
      } else {
        const GraphValue& value = graph.value(node.inputs[i]);
        text += "'" + value.name + "' " + value.type.to_string();
      }
    }
    return node.inputs.empty() ? std::string("; no inputs") : text + ": correct the node, or export the model again";
  }

  // Types that an earlier inference left keep their symbols: new ones must not be taken for these.
  void skip_symbols_of(const Graph& graph) {
    for (ValueId id = 0; id < graph.value_count(); ++id) skip_symbols_of(graph.value(id).type);
    for (NodeId id : graph.nodes()) {
      Graph::for_each_subgraph(graph.node(id), [&](const Graph& subgraph) { skip_symbols_of(subgraph); });
    }
  }

  void skip_symbols_of(const ValueType& type) {
    using Kind = ValueType::Kind;
    if (type.kind() == Kind::sequence || type.kind() == Kind::optional || type.kind() == Kind::map) return skip_symbols_of(type.element());
    if (!type.tensor().has_rank()) return;
    for (const Dim& dim : *type.tensor().dims) {
      dim.for_each_symbol([&](std::string_view name) {
        if (!name.starts_with("_s")) return;
        uint64_t number = 0;
        const auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), number);
        if (error == std::errc() && end == name.data() + name.size()) next_symbol_ = std::max(next_symbol_, number + 1);
      });
    }
  }

  void infer(Graph& graph, NodeId id, KnownContents& contents) {
    Node& node = graph.mutable_node(id);
    Graph::for_each_subgraph(node, [&](Graph& subgraph) { give_outer_types(graph, subgraph); });
    const NodeView view(graph, node);
    const auto fresh = [this] { return Dim::symbol("_s" + std::to_string(next_symbol_++)); };
    const auto subgraphs = [this](const Graph& subgraph, std::span<const ValueType> inputs) {
      return infer_subgraph(const_cast<Graph&>(subgraph), inputs);
    };
    InferenceContext context(view, contents, subgraphs, fresh);
    if (!options_.custom || !options_.custom(view, context)) {
      const OpEntry* op = find_op(node.domain, node.op_type);
      if (!op) {
        if (options_.unknown_operators_are_errors) view.fail_schema("no such operator is known");
        Graph::for_each_subgraph(node, [&](Graph& subgraph) { run(subgraph); });
        return;
      }
      check_node(view);
      try {
        op->infer(view, context);
      } catch (const Error& error) {
        if (!for_runs_ || !is_for_runs(node, error)) throw;
        const bool is_axis = dynamic_cast<const AxisError*>(&error);
        const ErrorCode code = is_axis ? ErrorCode::fail : ErrorCode::invalid_argument;
        ops::make_unrunnable(view, node, code, error.message() + inputs_of(graph, node));
        context.outputs_.assign(node.outputs.size(), {});
        ops::infer(ops::Unrunnable::read(view), context);
      }
    }
    for (int i = 0; i < view.output_count(); ++i) {
      if (view.has_output(i)) set_type(graph, node, node.outputs[i], std::move(context.outputs_[i]));
    }
  }

  void set_type(Graph& graph, const Node& node, ValueId id, ValueType inferred) {
    const ValueType& declared = graph.value(id).type;
    const ValueType& hint = graph.value(id).hint;
    if (options_.contradictory_shapes_are_errors && !hint.is_unknown()) merge(hint, inferred, "'" + graph.value(id).name + "'");
    const bool gives_way = !options_.contradictory_shapes_are_errors && shapes_contradict(declared, inferred);
    ValueType type = merge(gives_way ? without_shapes(declared) : declared, inferred, "'" + graph.value(id).name + "'");
    if ((type.is_tensor() || type.kind() == ValueType::Kind::sparse_tensor) && type.tensor().has_rank()) {
      for (Dim& dim : *type.tensor().dims) {
        if (dim.is_unknown()) dim = Dim::symbol("_s" + std::to_string(next_symbol_++));
      }
    }
    graph.set_type(id, std::move(type));
  }

  static void give_outer_types(const Graph& graph, Graph& subgraph) {
    for (ValueId id = 0; id < subgraph.value_count(); ++id) {
      const GraphValue& value = subgraph.value(id);
      if (value.outer == kNoValue) continue;
      const GraphValue& outer = graph.value(value.outer);
      subgraph.set_type(id, outer.type);
      if (outer.is_constant() && value.initializer.empty()) subgraph.set_initializer(id, outer.initializer);
    }
  }

  std::vector<ValueType> infer_subgraph(Graph& subgraph, std::span<const ValueType> inputs) {
    start_from_declared_types(subgraph);
    for (size_t i = 0; i < inputs.size() && i < subgraph.inputs().size(); ++i) {
      const ValueId id = subgraph.inputs()[i];
      subgraph.set_type(id, inputs[i].is_unknown() ? without_shapes(subgraph.value(id).type) : inputs[i]);
    }
    run(subgraph);
    std::vector<ValueType> types;
    for (ValueId id : subgraph.outputs()) types.push_back(subgraph.value(id).type);
    return types;
  }

  // A loop looks at its body again with wider input types: what the first look inferred must not narrow the second.
  void start_from_declared_types(Graph& subgraph) {
    const auto [at, first] = declared_.try_emplace(&subgraph);
    for (ValueId id = 0; id < subgraph.value_count(); ++id) {
      if (first) {
        at->second.push_back(subgraph.value(id).type);
      } else if (subgraph.value(id).outer == kNoValue) {
        subgraph.set_type(id, at->second[id]);
      }
    }
  }

  const InferenceOptions& options_;
  const bool for_runs_;                                                // see infer_types_for_runs
  std::unordered_map<const Graph*, std::vector<ValueType>> declared_;  // by subgraph, of all its values
  uint64_t next_symbol_ = 0;
};

KnownContents infer_types(Graph& graph, const InferenceOptions& options) { return GraphInference(graph, options).run(graph); }

KnownContents infer_types_for_runs(Graph& graph, const InferenceOptions& options) {
  return GraphInference(graph, options, true).run(graph);
}

}  // namespace rh
