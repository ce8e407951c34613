#include <nlohmann/json.hpp>

#include "abi/allocator.h"
#include "abi/value.h"
#include "base/paths.h"
#include "capi/guard.h"
#include "graph/graph.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "ops/inference.h"
#include "providers/cpu/kernel.h"
#include "roundhouse/roundhouse_c_api.h"
#include "session/model_options.h"

namespace rh::capi {

namespace {

/// Counts over a graph and its subgraphs.
struct Census {
  int64_t nodes = 0, weights = 0, elements = 0;
  double bytes = 0;
  std::map<std::string, int64_t> operators;
  std::map<std::pair<std::string, std::string>, int64_t> unsupported;  ///< by operator and reason

  void take(const Graph& graph) {
    for (ValueId id = 0; id < graph.value_count(); ++id) {
      const GraphValue& value = graph.value(id);
      if (value.initializer.empty() || !value.initializer.is_tensor() || value.outer != kNoValue) continue;
      ++weights;
      elements += value.initializer.tensor().elements();
      bytes += static_cast<double>(value.initializer.tensor().bytes());
    }
    for (NodeId id : graph.nodes()) {
      const Node& node = graph.node(id);
      ++nodes;
      ++operators[node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type];
      if (std::string reason = cpu::why_unsupported(NodeView(graph, node)); !reason.empty())
        ++unsupported[{node.op_text(), std::move(reason)}];
      Graph::for_each_subgraph(node, [this](const Graph& subgraph) { take(subgraph); });
    }
  }
};

nlohmann::json values_of(const Graph& graph, const std::vector<ValueId>& ids) {
  nlohmann::json list = nlohmann::json::array();
  for (ValueId id : ids) list.push_back({{"name", graph.value(id).name}, {"type", graph.value(id).type.to_string()}});
  return list;
}

nlohmann::json inspect(const std::string& path) {
  Model model = onnx::read_model(path);
  nlohmann::json report{{"ir_version", model.ir_version}, {"producer", model.producer_name}, {"opsets", nlohmann::json::object()}};
  for (const auto& [domain, version] : model.graph->opset_imports) report["opsets"][domain] = version;
  turn_shapes_into_hints(*model.graph);
  try {
    infer_types(*model.graph);
  } catch (const Error& error) {
    report["inference_error"] = error.what();
  }
  Census census;
  census.take(*model.graph);
  report["inputs"] = values_of(*model.graph, model.graph->inputs());
  report["outputs"] = values_of(*model.graph, model.graph->outputs());
  report["nodes"] = census.nodes;
  report["operators"] = census.operators;
  report["weights"] = {{"tensors", census.weights}, {"elements", census.elements}, {"bytes", census.bytes}};
  report["unsupported"] = nlohmann::json::array();
  for (const auto& [what, count] : census.unsupported) {
    report["unsupported"].push_back({{"operator", what.first}, {"reason", what.second}, {"count", count}});
  }
  return report;
}

void expose_values(const std::string& from, const std::string& to) {
  Model model = onnx::read_model(from);
  Graph& graph = *model.graph;
  turn_shapes_into_hints(graph);
  infer_types(graph);
  for (NodeId id : graph.topological_order()) {
    for (ValueId value : graph.node(id).outputs) {
      if (value != kNoValue && !graph.value(value).is_output && graph.value(value).type.is_tensor()) graph.add_output(value);
    }
  }
  constexpr size_t kExternalBytes = 1024;
  onnx::write_model_file(model, to, kExternalBytes);
}

}  // namespace

}  // namespace rh::capi

OrtStatus* ORT_API_CALL RhExposeValues(const ORTCHAR_T* from, const ORTCHAR_T* to) {
  using namespace rh::capi;
  return guard([&] { expose_values(rh::utf8(&checked(from, "from")), rh::utf8(&checked(to, "to"))); });
}

OrtStatus* ORT_API_CALL RhInspectModel(const ORTCHAR_T* path, OrtAllocator* allocator, char** json) {
  using namespace rh::capi;
  return guard([&] {
    char*& out = checked(json, "json");
    const nlohmann::json report = inspect(rh::utf8(&checked(path, "path")));
    out = rh::abi::copy_string(checked(allocator, "allocator"), report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

OrtStatus* ORT_API_CALL RhCreateValueFromProto(const void* bytes, size_t size, OrtAllocator* allocator, OrtValue** value, char** name) {
  using namespace rh::capi;
  return guard([&] {
    OrtValue*& out = checked(value, "value");
    char*& out_name = checked(name, "name");
    OrtAllocator& strings = checked(allocator, "allocator");
    std::string tensor_name;
    const auto* begin = static_cast<const std::byte*>(checked_array(bytes, size, "bytes"));
    auto result = std::make_unique<OrtValue>(rh::Value(rh::onnx::read_tensor({begin, size}, &tensor_name)));
    out_name = rh::abi::copy_string(strings, tensor_name);
    out = result.release();
  });
}
