// A model divided among providers, with its graph as it was read, for whoever draws it.
#include <nlohmann/json.hpp>

#include "abi/allocator.h"
#include "base/paths.h"
#include "capi/guard.h"
#include "capi/placement_json.h"
#include "capi/session.h"
#include "onnx/reader.h"
#include "roundhouse/roundhouse_c_api.h"
#include "session/explain.h"

namespace rh::capi {

namespace {

using nlohmann::json;

constexpr size_t kMaxAttributeText = 200;

template <typename T>
std::string item_text(const T& item) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return fmt::format("{}{}", to_string(item.dtype()), item.shape().to_string());
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "\"" + item.substr(0, kMaxAttributeText) + "\"";
  } else if constexpr (std::is_same_v<T, std::shared_ptr<Graph>>) {
    return fmt::format("graph of {} nodes", item->node_count());
  } else if constexpr (std::is_same_v<T, ValueType>) {
    return item.to_string();
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{}", item);
  } else {
    return "...";
  }
}

template <typename T>
std::string payload_text(const T& payload) {
  return item_text(payload);
}
template <typename T>
std::string payload_text(const std::vector<T>& items) {
  std::string text = "[";
  for (const T& item : items) {
    if (text.size() > kMaxAttributeText) return text + ", ...]";
    text += (text.size() > 1 ? ", " : "") + item_text(item);
  }
  return text + "]";
}

/// The graph as it was read and its subgraphs, each node beside the row of the report that stands for it.
class GraphWriter {
 public:
  GraphWriter(const Graph& graph, const std::vector<const OriginalNode*>& rows) : nodes_(rows.size()) {
    for (size_t i = 0; i < rows.size(); ++i) row_of_.emplace(rows[i], i);
    add(graph, nullptr, nullptr, {});
    json inputs = json::array(), outputs = json::array();
    for (ValueId id : graph.inputs()) inputs.push_back(index_of(graph, id));
    for (ValueId id : graph.outputs()) outputs.push_back(index_of(graph, id));
    result_ = {{"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}, {"values", std::move(values_)}, {"nodes", nodes_}};
  }
  json take() && { return std::move(result_); }

 private:
  using Indices = std::vector<int64_t>;

  void add(const Graph& graph, const Graph* outer, const Indices* outer_indices, const std::string& inside) {
    Indices& indices = indices_[&graph];
    for (ValueId id = 0; id < graph.value_count(); ++id) {
      const GraphValue& value = graph.value(id);
      const bool captured = outer && value.outer != kNoValue;
      indices.push_back(captured ? (*outer_indices)[static_cast<size_t>(value.outer)] : add_value(value));
    }
    for (NodeId id : graph.nodes()) add_node(graph, graph.node(id), inside);
  }

  int64_t add_value(const GraphValue& value) {
    const bool weight = !value.initializer.empty();
    json entry{{"name", value.name}, {"type", value.type.to_string()}, {"kind", weight ? "weight" : value.is_input ? "input" : "value"}};
    if (const auto bytes = known_bytes(value.type)) entry["bytes"] = *bytes;
    values_.push_back(std::move(entry));
    return static_cast<int64_t>(values_.size()) - 1;
  }

  static std::optional<size_t> known_bytes(const ValueType& type) {
    if (!type.is_tensor() || type.tensor().dtype == DType::string || !type.tensor().is_static()) return {};
    const int64_t elements = type.tensor().shape().elements();
    constexpr int64_t kLargest = int64_t{1} << 58;
    return elements < kLargest ? std::optional(bytes_of(type.tensor().dtype, elements)) : std::nullopt;
  }

  int64_t index_of(const Graph& graph, ValueId id) const { return id == kNoValue ? -1 : indices_.at(&graph)[static_cast<size_t>(id)]; }

  // Several nodes may stand for one call of a function: what they take and give is told together.
  void add_node(const Graph& graph, const Node& node, const std::string& inside) {
    const auto row = row_of_.find(node.provenance.back().get());
    json bodies = json::array();
    for (const Attribute& attribute : node.attributes) {
      if (const auto* body = attribute.get<std::shared_ptr<Graph>>()) bodies.push_back(add_body(graph, node, attribute.name, **body));
    }
    if (row == row_of_.end()) return;
    json& entry = nodes_[row->second];
    if (entry.is_null()) entry = {{"inputs", json::array()}, {"outputs", json::array()}, {"attributes", json::object()}};
    for (ValueId input : node.inputs) entry["inputs"].push_back(index_of(graph, input));
    for (ValueId output : node.outputs) entry["outputs"].push_back(index_of(graph, output));
    for (const Attribute& attribute : node.attributes) entry["attributes"][attribute.name] = attribute_text(attribute);
    if (!bodies.empty()) entry["bodies"] = std::move(bodies);
    if (!inside.empty()) entry["inside"] = inside;
  }

  json add_body(const Graph& graph, const Node& node, const std::string& attribute, const Graph& body) {
    add(body, &graph, &indices_.at(&graph), fmt::format("{} of '{}'", attribute, node.display_name()));
    json inputs = json::array(), outputs = json::array();
    for (ValueId id : body.inputs()) inputs.push_back(index_of(body, id));
    for (ValueId id : body.outputs()) outputs.push_back(index_of(body, id));
    return {{"attribute", attribute}, {"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
  }

  static std::string attribute_text(const Attribute& attribute) {
    return std::visit([](const auto& payload) { return payload_text(payload); }, attribute.value);
  }

  std::unordered_map<const OriginalNode*, size_t> row_of_;
  std::unordered_map<const Graph*, Indices> indices_;
  std::vector<json> nodes_;
  json values_ = json::array(), result_;
};

json explanation_of(const OrtEnv& env, const OrtSessionOptions* given, const std::string& path) {
  SessionOptions options = session_options(env, given);
  Model model = onnx::read_model(path, {.folder = options.external_data_folder});
  const ExplainedModel explained = explain(std::move(model), std::move(options));
  const PlacementRecord& record = explained.placed.placement;
  json report = placement_json(record, explained.copies);
  report["model"] = path;
  report["name"] = explained.as_read->name;
  report["providers"] = explained.providers;
  report["precision"] = explained.precision;
  report["graph"] = GraphWriter(*explained.as_read, record.originals()).take();
  return report;
}

}  // namespace

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhExplainModel(const OrtEnv* env, const ORTCHAR_T* path, const OrtSessionOptions* options, OrtAllocator* allocator,
                                       char** json) {
  using namespace rh::capi;
  return guard([&] {
    char*& out = checked(json, "json");
    OrtAllocator& text = checked(allocator, "allocator");
    const nlohmann::json report = explanation_of(checked(env, "env"), options, rh::utf8(&checked(path, "path")));
    out = rh::abi::copy_string(text, report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}
