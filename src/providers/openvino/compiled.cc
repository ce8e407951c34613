#include "providers/openvino/compiled.h"

#include <algorithm>

#include "onnx/writer.h"

namespace rh::openvino {

namespace {

constexpr size_t kInMessage = 1024;     ///< smaller constants stand in the model itself
constexpr size_t kMostProperties = 24;  ///< as many as the call below has room for

/// Nodes that hand on their one input: where such a one is a whole region, OpenVINO writes nothing to the memory that it is given, but for
/// Identity.
void rewrite_pass_through(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    if (!node.domain.empty() || node.inputs.size() != 1) continue;
    if (node.op_type == "Max" || node.op_type == "Min" || node.op_type == "Sum" || node.op_type == "Mean" || node.op_type == "Dropout") {
      node.op_type = "Identity";
      node.attributes.clear();
    }
  }
}

/// Leaves weights out of the model: OpenVINO reads them at the address that the model names, by a location that it knows.
class MemorySink final : public onnx::ExternalSink {
 public:
  std::optional<ExternalLocation> place(const Tensor& tensor, std::string_view) override {
    if (tensor.bytes() < kInMessage) return std::nullopt;
    weights->push_back(tensor.clone());
    return ExternalLocation{"*/_ORT_MEM_ADDR_/*", static_cast<int64_t>(reinterpret_cast<intptr_t>(weights->back().raw())), tensor.bytes()};
  }

  std::shared_ptr<Weights> weights = std::make_shared<Weights>();
};

using OwnedModel = std::unique_ptr<Model, void (*)(Model*)>;

OwnedModel read(const Runtime& runtime, const Source& source) {
  const Api& api = runtime.api();
  Model* model = nullptr;
  runtime.check(api.core_read_model_from_memory_buffer(runtime.core(), source.bytes.data(), source.bytes.size(), nullptr, &model),
                "read_model");
  return {model, api.model_free};
}

void reshape(const Runtime& runtime, const Model& model, const std::vector<size_t>& places,
             std::vector<std::vector<VendorDimension>>& dims) {
  if (places.empty()) return;
  std::vector<VendorPartialShape> shapes;
  for (auto& of_input : dims) {
    const auto rank = static_cast<int64_t>(of_input.size());
    shapes.push_back({{rank, rank}, of_input.data()});
  }
  runtime.check(runtime.api().model_reshape_by_port_indexes(&model, places.data(), shapes.data(), places.size()), "reshape");
}

void apply_bounds(const Runtime& runtime, const Model& model, const std::vector<InputBounds>& bounds, const Graph& graph) {
  std::vector<size_t> places;
  std::vector<std::vector<VendorDimension>> dims;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto at = std::ranges::find(bounds, graph.value(graph.inputs()[i]).name, &InputBounds::name);
    if (at == bounds.end()) continue;
    places.push_back(i);
    dims.push_back(at->dims);
  }
  reshape(runtime, model, places, dims);
}

void fix_shapes(const Runtime& runtime, const Model& model, const std::vector<Shape>& shapes) {
  std::vector<size_t> places;
  std::vector<std::vector<VendorDimension>> dims;
  for (size_t i = 0; i < shapes.size(); ++i) {
    places.push_back(i);
    dims.emplace_back();
    for (int64_t dim : shapes[i]) dims.back().push_back({dim, dim});
  }
  reshape(runtime, model, places, dims);
}

}  // namespace

void LiveModels::add(const CompiledModel* model) {
  const std::lock_guard lock(mutex_);
  models_.insert(model);
}

void LiveModels::remove(const CompiledModel* model) {
  const std::lock_guard lock(mutex_);
  models_.erase(model);
}

void LiveModels::set_property(const Runtime& runtime, const std::string& name, const std::string& value) {
  const std::lock_guard lock(mutex_);
  for (const CompiledModel* model : models_) {
    const VendorStatus status = runtime.api().compiled_model_set_property(model, name.c_str(), value.c_str());
    runtime.check(status, fmt::format("property {} = '{}'", name, value));
  }
}

Source source_of(const kit::Region& region, bool in_place) {
  MemorySink sink;
  const std::shared_ptr<Graph> graph = region.graph->clone();
  rewrite_pass_through(*graph);
  std::string bytes = onnx::write_model(ModelInfo(), *graph, {.value_info = false}, in_place ? &sink : nullptr);
  return {std::move(bytes), std::move(sink.weights)};
}

OwnedCompiled compile(const Runtime& runtime, const Source& source, const CompileSettings& settings, const Graph& graph,
                      const std::vector<Shape>* shapes) {
  const Api& api = runtime.api();
  const OwnedModel model = read(runtime, source);
  if (shapes) {
    fix_shapes(runtime, *model, *shapes);
  } else {
    apply_bounds(runtime, *model, settings.bounds, graph);
  }
  const Properties& given = settings.properties;
  if (given.size() > kMostProperties) fail(ErrorCode::invalid_argument, "more than {} properties of OpenVINO are set", kMostProperties);
  const char* p[2 * kMostProperties] = {};
  for (size_t i = 0; i < given.size(); ++i) p[2 * i] = given[i].first.c_str(), p[2 * i + 1] = given[i].second.c_str();
  CompiledModel* compiled = nullptr;  // as many of what follows are read as the count says
  const VendorStatus status =
      api.core_compile_model(runtime.core(), model.get(), settings.device.c_str(), 2 * given.size(), &compiled, p[0], p[1], p[2], p[3],
                             p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16], p[17], p[18], p[19],
                             p[20], p[21], p[22], p[23], p[24], p[25], p[26], p[27], p[28], p[29], p[30], p[31], p[32], p[33], p[34], p[35],
                             p[36], p[37], p[38], p[39], p[40], p[41], p[42], p[43], p[44], p[45], p[46], p[47]);
  runtime.check(status, "compile_model");
  return {compiled, api.compiled_model_free};
}

}  // namespace rh::openvino
