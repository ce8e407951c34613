#include "session/context_model.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/known_words.h"
#include "base/paths.h"
#include "onnx/tensor_writer.h"

namespace rh {

namespace {

class ContextPlacer {
 public:
  ContextPlacer(const Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers)
      : assignment_(assignment), providers_(providers) {}

  /// Walks a graph beside its older self, whose nodes have the same ids but for those that went into units.
  void place(Graph& original, const Graph& assigned) {
    const NodeId slots = original.node_slots();
    for (NodeId id : assigned.nodes()) {
      const NodeAssignment& node = assignment_.of(assigned, id);
      if (node.unit) {
        place_unit(original, *node.unit, *providers_[static_cast<size_t>(node.provider)]);
        continue;
      }
      if (id >= slots) continue;  // a copy between devices
      std::vector<Graph*> older;
      Graph::for_each_subgraph(original.mutable_node(id), [&](Graph& subgraph) { older.push_back(&subgraph); });
      size_t next = 0;
      Graph::for_each_subgraph(assigned.node(id), [&](const Graph& subgraph) { place(*older[next++], subgraph); });
      original.refresh_implicit_inputs(id);
    }
  }

  int64_t placed() const { return placed_; }

 private:
  void place_unit(Graph& graph, const Unit& unit, const Provider& provider) {
    std::optional<ContextNode> context = provider.context_node(unit);
    if (!context) return;
    Node node;
    node.name = context->name;
    node.op_type = context->op_type;
    node.domain = context->domain;
    node.opset = 1;
    node.attributes = std::move(context->attributes);
    const auto find_all = [&](const std::vector<std::string>& names, const char* what) {
      std::vector<ValueId> ids;
      for (const std::string& name : names) {
        ids.push_back(name.empty() ? kNoValue : graph.find_value(name));
        if (name.empty() || ids.back() != kNoValue) continue;
        fail(ErrorCode::ep_fail, "{}: the node '{}' for unit '{}' {} '{}', which the graph does not have", provider.name(), context->name,
             unit.name, what, name);
      }
      return ids;
    };
    node.inputs = find_all(context->inputs, "takes");
    node.outputs = find_all(context->outputs, "gives");
    for (NodeId id : nodes_of(graph, unit)) {
      const Node& member = graph.node(id);
      node.provenance.insert(node.provenance.end(), member.provenance.begin(), member.provenance.end());
      graph.remove_node(id);
    }
    graph.add_node(std::move(node));
    ++placed_;
  }

  /// The nodes of the older graph that the unit stands for: those that give what its body's nodes give.
  static std::vector<NodeId> nodes_of(const Graph& graph, const Unit& unit) {
    std::vector<NodeId> found;
    for (NodeId id : unit.body->nodes()) {
      const auto& outputs = unit.body->node(id).outputs;
      const auto named = std::ranges::find_if(outputs, [](ValueId value) { return value != kNoValue; });
      if (named == outputs.end()) continue;
      const ValueId value = graph.find_value(unit.body->value(*named).name);
      const Node* producer = graph.producer(value);
      if (producer) found.push_back(producer->id);
    }
    return found;
  }

  const Assignment& assignment_;
  std::span<const std::shared_ptr<Provider>> providers_;
  int64_t placed_ = 0;
};

}  // namespace

int64_t place_context_nodes(Graph& original, const Graph& assigned, const Assignment& assignment,
                            std::span<const std::shared_ptr<Provider>> providers) {
  ContextPlacer placer(assignment, providers);
  placer.place(original, assigned);
  return placer.placed();
}

std::vector<std::pair<std::string, std::string>> compatibility_metadata(const Graph& original,
                                                                        std::span<const std::shared_ptr<Provider>> providers) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& provider : providers) {
    std::string text = provider->compatibility_info(original);
    if (!text.empty()) entries.emplace_back("ep_compatibility_info." + std::string(provider->name()), std::move(text));
  }
  return entries;
}

void add_metadata(ModelInfo& info, const std::vector<std::pair<std::string, std::string>>& entries) {
  for (const auto& entry : entries) {
    std::erase_if(info.metadata, [&](const auto& old) { return old.first == entry.first; });
    info.metadata.push_back(entry);
  }
}

bool wants_context_model(const SessionOptions& options) { return options.settings.write_context_model; }

std::string context_model_path(const ModelInfo& model, const SessionOptions& options) {
  std::string path = options.settings.context_model_path;
  if (path.empty() && !model.path.empty()) {
    const std::filesystem::path from = as_path(model.path);
    path = utf8(from.parent_path() / (from.stem() += "_ctx.onnx"));
  }
  if (path.empty()) {
    fail(ErrorCode::invalid_argument,
         "'ep.context_enable' is 1, but the model came from memory: say in 'ep.context_file_path' where its compiled form goes");
  }
  return path;
}

void write_context_model(const ModelInfo& model, const Graph& graph, const SessionOptions& options) {
  namespace fs = std::filesystem;
  const std::string path = context_model_path(model, options);
  if (fs::is_directory(as_path(path))) fail(ErrorCode::fail, "'ep.context_file_path' is the folder '{}', expected a file", path);
  if (fs::exists(as_path(path))) {
    fail(ErrorCode::fail, "the file \"{}\" of the compiled model {} Or name another in 'ep.context_file_path'", path, words::kContextThere);
  }
  const std::string& external = options.settings.context_weights_file;
  if (external.empty()) return write_file(path, onnx::write_model(model, graph));
  onnx::FileSink sink(join_path(parent_folder(path), external), external, 0);
  const std::string bytes = onnx::write_model(model, graph, {}, &sink);
  sink.commit();
  write_file(path, bytes);
}

int64_t count_context_nodes(const Graph& graph) {
  int64_t count = 0;
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    count += node.op_type == "EPContext" && node.domain == "com.microsoft";
    Graph::for_each_subgraph(node, [&](const Graph& subgraph) { count += count_context_nodes(subgraph); });
  }
  return count;
}

}  // namespace rh
