#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "abi/type_info.h"
#include "abi/value.h"
#include "graph/graph.h"
#include "roundhouse/onnxruntime_ep_c_api.h"

struct OrtExternalInitializerInfo {
  std::filesystem::path file;
  int64_t offset = 0;
  size_t bytes = 0;
};

namespace rh::abi {

/// What an initializer holds. Who sees it as a tensor gets it at an address that its type allows: one that lies at another is copied when
/// it is asked for first. Thread-safe.
class Initializer {
 public:
  explicit Initializer(Value content, bool any_address = false);
  ~Initializer() { delete copy_.load(); }
  Initializer(const Initializer&) = delete;
  Initializer& operator=(const Initializer&) = delete;

  const Value& content() const { return own_.value; }
  const OrtValue& shown() const;

 private:
  const OrtValue own_;
  const bool is_shown_;  ///< as it lies
  mutable std::atomic<const OrtValue*> copy_ = nullptr;
};

}  // namespace rh::abi

/// An attribute: of a node of a view, or made by a caller. Subgraphs have no content here (OrtNode::subgraphs).
struct OrtOpAttr {
  rh::Attribute attribute;

  OrtOpAttrType type() const;  ///< ORT_OP_ATTR_UNDEFINED for the kinds that the ABI has no number for
};

/// A value of a graph view; one made by a caller has a name and a type only.
struct OrtValueInfo {
  struct Use {
    const OrtNode* node;
    int64_t input;  ///< -1: implicit, through a subgraph
  };
  std::string name;
  std::shared_ptr<const OrtTypeInfo> type;
  const OrtGraph* graph = nullptr;    ///< null: made by a caller
  const OrtNode* producer = nullptr;  ///< null: input, initializer, or produced outside of the view
  size_t output_index = 0;
  std::vector<Use> consumers;                               ///< in the view, in the order of its nodes
  std::shared_ptr<const rh::abi::Initializer> initializer;  ///< shares the graph's memory
  std::shared_ptr<const OrtExternalInitializerInfo> external;
  bool is_required_input = false;  ///< an input of the graph without an initializer
  bool is_optional_input = false;  ///< one with an initializer, or outer and one of its own graph
  bool is_output = false;
  bool is_outer = false;  ///< of an enclosing graph
  bool is_constant = false;
  bool is_callers = false;  ///< to release

  void mark_input() { (initializer && !is_outer ? is_optional_input : is_required_input) = true; }
};

/// A node of a graph view, or made by a caller: then its values are its own.
struct OrtNode {
  struct Subgraph {
    std::string attribute;
    std::unique_ptr<OrtGraph> graph;
  };
  OrtNode();
  ~OrtNode();

  rh::NodeId id = rh::kNoNode;  ///< in the graph that the view was made from
  std::string name, domain, op_type;
  int since_version = 0;
  std::vector<const OrtValueInfo*> inputs, outputs;  ///< null where left out
  std::vector<const OrtValueInfo*> implicit_inputs;
  /// Those that the model leaves to their defaults among them.
  std::shared_ptr<const std::vector<OrtOpAttr>> attributes;
  std::vector<Subgraph> subgraphs;
  const OrtGraph* graph = nullptr;
  std::string provider;  ///< that took the node already; empty: none
  std::deque<OrtValueInfo> own_values;
  bool is_callers = false;  ///< to release

  const OrtOpAttr* attribute(std::string_view name) const;  ///< null where there is none
};

/// A frozen picture of a graph or of some of its nodes. It refers to nothing that may change and shares the memory of tensors. Graphs that
/// callers build have the same form.
struct OrtGraph {
  std::shared_ptr<const rh::ModelInfo> model = std::make_shared<const rh::ModelInfo>();
  std::filesystem::path model_path;  ///< that of `model`, as the interface gives it
  std::string model_graph;           ///< name of the model's main graph
  std::string name;
  std::vector<std::pair<std::string, int>> opsets;
  std::vector<const OrtValueInfo*> inputs, outputs;
  std::vector<const OrtValueInfo*> initializers;
  std::vector<std::unique_ptr<OrtNode>> nodes;  ///< each after those it depends on
  const OrtNode* parent = nullptr;
  const rh::Graph* source = nullptr;  ///< what it is a view of: to be compared, for the graph itself may be gone
  std::deque<OrtValueInfo> values;
  std::unordered_map<std::string_view, OrtValueInfo*> by_name;
  bool is_callers = false;                             ///< to release
  bool is_built = false;                               ///< by a caller, who may add to it
  std::vector<std::unique_ptr<OrtValueInfo>> adopted;  ///< of one built: the caller's values
  std::vector<std::unique_ptr<OrtValue>> adopted_initializers;

  OrtValueInfo& add_value(std::string_view value_name);
  OrtValueInfo* find(std::string_view value_name) const;
};

namespace rh::abi {

/// Where the view of a graph has its model's facts from, and who took its nodes.
struct GraphViewSource {
  std::shared_ptr<const ModelInfo> model;
  /// The provider that took a node of the graph or of one of its subgraphs already; "" where it is free. Empty: all are.
  std::function<std::string_view(const Graph&, NodeId)> provider = {};
  bool any_address = false;  ///< initializers are shown where they lie, at any address
};

/// The graph as plugins see it, subgraphs of its nodes included. Node ids are those of `graph`; addresses stay as long as the view lives.
/// A body's `parent`, a node of another view, outlives it.
std::unique_ptr<OrtGraph> make_graph_view(const Graph& graph, const GraphViewSource& source, const OrtNode* parent = nullptr);

/// The node of `view`, or of the bodies in it, that has `body` as its own; null where none has.
const OrtNode* find_parent(const OrtGraph& view, const Graph& body);

struct SubsetOptions {
  std::string name = "sub_graph";
  bool constants_are_inputs = false;  ///< constant initializers of the graph are among the inputs as well
};

/// Some nodes of a view as a graph of their own: what they take from outside becomes inputs or initializers, what others or the graph's
/// caller need of them outputs. Lives on its own. Throws Error{invalid_argument} for a node that is not of `source`.
std::unique_ptr<OrtGraph> make_subset_view(const OrtGraph& source, std::span<const OrtNode* const> nodes,
                                           const SubsetOptions& options = {});

/// One node that stands for a whole subset, with inputs and outputs named and typed like those of the subset. Its operator has the name of
/// the subset, in a domain of the provider's name.
std::unique_ptr<OrtNode> make_fused_node(const OrtGraph& subset, NodeId id, std::string node_name, std::string provider);

}  // namespace rh::abi
