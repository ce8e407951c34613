#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "graph/attribute.h"
#include "graph/type.h"
#include "tensor/value.h"

namespace rh {

using NodeId = int32_t;
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;  ///< an optional input or output that is left out
inline constexpr NodeId kNoNode = -1;

/// A node of the model as it was read: what placement and error messages speak of.
struct OriginalNode {
  std::string name;
  std::string op_type;
  int32_t index = -1;  ///< position in its graph of the file
  std::string domain;
  int opset = 0;
  std::shared_ptr<const OriginalNode> caller;  ///< of a node in the body of a model-local function: the node that calls it

  /// The name, or "#<index>" where it has none.
  std::string display_name() const { return name.empty() ? "#" + std::to_string(index) : name; }
};

/// A node of the model that no node stands for any more, and the pass that removed it.
struct EliminatedNode {
  std::shared_ptr<const OriginalNode> node;
  std::string_view pass;
};

/// An operator applied to values. Changed only through its Graph.
struct Node {
  NodeId id = kNoNode;
  std::string name;
  std::string domain;  ///< "" is ai.onnx
  std::string op_type;
  int opset = 0;                 ///< version of its domain: the graph's import, or that of the function it was inlined from
  std::vector<ValueId> inputs;   ///< kNoValue where left out
  std::vector<ValueId> outputs;  ///< kNoValue where left out
  /// Values of this graph that the node's subgraphs use, without duplicates.
  std::vector<ValueId> implicit_inputs;
  std::vector<Attribute> attributes;
  /// The original model nodes that this one stands for.
  std::vector<std::shared_ptr<const OriginalNode>> provenance;

  const Attribute* attribute(std::string_view name) const;
  /// "Conv(17)", "com.microsoft::Gelu(1)".
  std::string op_text() const;
  /// The name, or "#<id>" where it has none.
  std::string display_name() const;
  Where where() const { return {.file = {}, .node = display_name(), .op = op_text(), .tensor = {}}; }
};

/// Where the data of an initializer lies outside the model file.
struct ExternalLocation {
  std::string file;  ///< as the model names it, relative to its folder
  int64_t offset = 0;
  size_t bytes = 0;
};

/// An edge: what one node (or the caller, or the file) gives and others take.
struct GraphValue {
  ValueId id = kNoValue;
  std::string name;
  ValueType type;
  ValueType hint;  ///< the shape that the file declares for what a node gives, which may be wrong: for views of the graph alone
  NodeId producer = kNoNode;
  int output_index = -1;          ///< of the producer
  std::vector<NodeId> consumers;  ///< a node stands here once for each input (implicit ones included) that takes this value
  Value initializer;              ///< empty where the value is not in the file
  std::shared_ptr<const ExternalLocation> external;  ///< of an initializer as it was read; null where the model file holds its data
  bool is_input = false;                             ///< an input that also has an initializer is overridable, not constant
  bool is_output = false;
  bool is_pinned = false;    ///< no output of the graph, but to be kept as one: is_output as well
  ValueId outer = kNoValue;  ///< in a subgraph: the value of the enclosing graph that this one stands for

  bool is_constant() const { return !initializer.empty() && !is_input; }
  const Tensor* constant_tensor() const { return is_constant() && initializer.is_tensor() ? &initializer.tensor() : nullptr; }
};

/// A faithful ONNX graph. Ids stay valid, and addresses of nodes and values stable, until removed.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  std::string name;
  std::map<std::string, int> opset_imports;  ///< by domain; a subgraph has a copy

  // --- reading
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  ValueId value_count() const { return static_cast<ValueId>(values_.size()); }  ///< ids run from 0; some may be unused
  NodeId node_slots() const { return static_cast<NodeId>(nodes_.size()); }
  size_t node_count() const { return live_nodes_; }
  const GraphValue& value(ValueId id) const { return values_[id]; }
  const Node& node(NodeId id) const { return *nodes_[id]; }
  const Node* find_node(NodeId id) const { return id >= 0 && id < node_slots() ? nodes_[id].get() : nullptr; }
  ValueId find_value(std::string_view name) const;  ///< kNoValue where there is none
  const Node* producer(ValueId id) const { return id == kNoValue ? nullptr : find_node(values_[id].producer); }
  /// Live nodes, each after those it depends on, otherwise in the order of the file. Throws Error{fail} naming a cycle.
  std::vector<NodeId> topological_order() const;
  /// Live nodes in the order in which they were added.
  std::vector<NodeId> nodes() const;
  /// Calls visit(graph) for each subgraph of a node.
  static void for_each_subgraph(const Node& node, FunctionRef<void(const Graph&)> visit);
  static void for_each_subgraph(Node& node, FunctionRef<void(Graph&)> visit);

  // --- building and changing (loader, driver of the passes)
  /// A new value; an empty name, or one already taken, gets a fresh one.
  ValueId add_value(std::string_view name, ValueType type = {});
  ValueId add_input(std::string_view name, ValueType type);
  ValueId add_initializer(std::string_view name, Value value);
  /// In a subgraph: the value that stands for `outer_id` of the enclosing graph.
  ValueId add_outer(std::string_view name, ValueId outer_id, ValueType type);
  void add_output(ValueId id);
  /// Marks a value to be kept as an output is; one that is an output stays as it is.
  void pin(ValueId id);
  /// Ends that for all values.
  void unpin_all();
  /// Takes a node with all filled in but ids, producers, consumers and implicit inputs. `opset` 0 becomes the graph's import; where all
  /// outputs are left out, the first becomes a value of its own. Throws Error{fail} where an output already has a producer.
  NodeId add_node(Node node);
  void remove_node(NodeId id);
  void set_type(ValueId id, ValueType type) { values_[id].type = std::move(type); }
  void set_hint(ValueId id, ValueType hint) { values_[id].hint = std::move(hint); }
  void set_initializer(ValueId id, Value value);
  void set_external(ValueId id, ExternalLocation location) {
    values_[id].external = std::make_shared<const ExternalLocation>(std::move(location));
  }
  void set_input(NodeId node, size_t index, ValueId value);
  void set_attribute(NodeId node, Attribute attribute);
  void set_node_name(NodeId node, std::string name) { nodes_[node]->name = std::move(name); }
  void add_provenance(NodeId node, std::span<const std::shared_ptr<const OriginalNode>> originals);
  /// All consumers and subgraphs that take `from` take `to`; so does a graph output where `to` can take its name over (can_stand_in), else
  /// it stays.
  void replace_uses(ValueId from, ValueId to);
  /// Whether every use of `from` can become one of `to`: a graph output keeps its name, and inputs, captures and other outputs keep theirs.
  bool can_stand_in(ValueId from, ValueId to) const;
  /// Gives the value (and what stands for it in subgraphs) a name; one already taken gets a suffix.
  void rename(ValueId id, std::string_view name);
  /// `to` gets the name of `from`, which gets a fresh one.
  void pass_name(ValueId from, ValueId to);
  /// Empties the values that nothing gives and nothing takes: initializers and captures that passes left without a use. Their ids stay
  /// reserved.
  void drop_unused_values();
  /// A deep copy, subgraphs included, with the same ids; tensors share their memory.
  std::shared_ptr<Graph> clone() const;
  /// Becomes what `copy`, a clone of it as it was, is. Ids stay valid; addresses of nodes, values and subgraphs do not.
  void restore(Graph&& copy) { *this = std::move(copy); }
  /// In a subgraph that moves to another graph: captures of value `i` become captures of `outer_ids[i]`.
  void remap_captures(std::span<const ValueId> outer_ids);
  Node& mutable_node(NodeId id) { return *nodes_[id]; }  ///< for attributes and opsets only
  /// Recomputes a node's implicit inputs after its subgraphs changed.
  void refresh_implicit_inputs(NodeId id);
  /// Turns an output into one that reads another value (the old one stays).
  void set_output(size_t index, ValueId value);
  /// Takes these values as the graph's inputs, or outputs, in place of those it had; the old values stay.
  void set_inputs(std::vector<ValueId> values);
  void set_outputs(std::vector<ValueId> values);
  /// Graph inputs that are also initializers stop being inputs (models before IR version 4).
  void drop_input(ValueId id);
  /// An initializer becomes an input that the caller may override.
  void make_input(ValueId id);
  std::string fresh_name(std::string_view hint) const;
  /// Of constant tensors, attributes and subgraphs included.
  size_t constant_bytes() const;

 private:
  Graph& operator=(Graph&&) = default;
  void add_consumer(ValueId value, NodeId node);
  void remove_consumer(ValueId value, NodeId node);
  void replace_consumers(ValueId from, ValueId to);
  void retarget_captures(ValueId from, ValueId to);  ///< in a subgraph: captures of `from` become captures of `to`
  void sync_captures(Node& node);                    ///< what stands for a value in subgraphs has its name
  void take_name(ValueId id, const std::string& name);
  void pass_output(ValueId from, ValueId to);  ///< the marks of an output

  std::deque<GraphValue> values_;
  std::vector<std::unique_ptr<Node>> nodes_;
  size_t live_nodes_ = 0;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  std::unordered_map<std::string, ValueId> by_name_;
  mutable uint64_t next_fresh_ = 0;
};

/// What a model without a version of its own answers.
inline constexpr int64_t kNoModelVersion = std::numeric_limits<int64_t>::max();

/// What a model says about itself.
struct ModelInfo {
  int64_t ir_version = 0;
  int64_t model_version = kNoModelVersion;
  std::string producer_name, producer_version, domain, description, graph_description;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string path;  ///< empty where it came from a buffer
};

/// A loaded model: the graph and what the file says about itself.
struct Model : ModelInfo {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<std::shared_ptr<const void>> keep_alive;  ///< mapped files and buffers that tensors look into
};

}  // namespace rh
