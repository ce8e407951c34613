#include "providers/openvino/compiled.h"

#include <algorithm>
#include <cstring>

#include "base/memory_file.h"
#include "onnx/writer.h"
#include "providers/openvino/checks.h"
#include "providers/openvino/rewrites.h"
#include "providers/openvino/weights.h"

namespace rh::openvino {

namespace {

constexpr size_t kInMessage = 1024;     ///< smaller constants stand in the model itself
constexpr size_t kMostProperties = 24;  ///< as many as the call below has room for

/// Nodes that hand on an input: where such a one is a whole region, OpenVINO writes nothing to the memory that it is given, but for
/// Identity. Dropout that the provider takes is no training.
void rewrite_pass_through(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.domain.empty()) continue;
    const bool is_dropout = node.op_type == "Dropout" && (node.outputs.size() == 1 || node.outputs[1] == kNoValue);
    const bool is_of_one =
        node.inputs.size() == 1 && (node.op_type == "Max" || node.op_type == "Min" || node.op_type == "Sum" || node.op_type == "Mean");
    if (!is_dropout && !is_of_one) continue;
    Node made = node;
    made.op_type = "Identity";
    made.inputs.resize(1);
    made.outputs.resize(1);
    made.attributes.clear();
    graph.remove_node(id);
    graph.add_node(std::move(made));
  }
}

/// Leaves weights out of the model: OpenVINO reads them at the address that the model names, by a location that it knows.
class MemorySink final : public onnx::ExternalSink {
 public:
  explicit MemorySink(const kit::Region& region) : files_(*region.graph, region.model) {}

  std::optional<ExternalLocation> place(const Tensor& tensor, std::string_view) override {
    if (tensor.bytes() < kInMessage) return std::nullopt;
    std::optional<Tensor> mapped = files_.find(tensor);
    weights->push_back(mapped ? std::move(*mapped) : tensor.clone());
    return ExternalLocation{"*/_ORT_MEM_ADDR_/*", static_cast<int64_t>(reinterpret_cast<intptr_t>(weights->back().raw())), tensor.bytes()};
  }

  std::shared_ptr<Weights> weights = std::make_shared<Weights>();

 private:
  WeightFiles files_;
};

/// Those that nodes take, or that are outputs: OpenVINO leaves others out of its model.
std::vector<size_t> used_inputs(const Graph& graph, const std::vector<ValueId>& inputs) {
  std::vector<size_t> used;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const GraphValue& value = graph.value(inputs[i]);
    if (!value.consumers.empty() || value.is_output) used.push_back(i);
  }
  return used;
}

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

void apply_bounds(const Runtime& runtime, const Model& model, const Source& source, const std::vector<InputBounds>& bounds,
                  const std::vector<std::string>& names) {
  std::vector<size_t> places;
  std::vector<std::vector<VendorDimension>> dims;
  for (size_t i = 0; i < source.inputs.size(); ++i) {
    const auto at = std::ranges::find(bounds, names[source.inputs[i]], &InputBounds::name);
    if (at == bounds.end()) continue;
    places.push_back(i);
    dims.push_back(at->dims);
  }
  reshape(runtime, model, places, dims);
}

void fix_shapes(const Runtime& runtime, const Model& model, const Source& source, const std::vector<Shape>& shapes) {
  std::vector<size_t> places;
  std::vector<std::vector<VendorDimension>> dims;
  for (size_t i = 0; i < source.inputs.size(); ++i) {
    places.push_back(i);
    dims.emplace_back();
    for (int64_t dim : shapes[source.inputs[i]]) dims.back().push_back({dim, dim});
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
  MemorySink sink(region);
  const std::shared_ptr<Graph> graph = region.graph->clone();
  graph->set_outputs(region.outputs);
  rewrite_pass_through(*graph);
  rewrite(*graph);
  const std::vector<size_t> used = used_inputs(*graph, region.inputs);
  std::vector<ValueId> inputs;
  for (size_t i : used) inputs.push_back(region.inputs[i]);
  graph->set_inputs(inputs);
  std::string bytes = onnx::write_model(ModelInfo(), *graph, {.value_info = false}, in_place ? &sink : nullptr);
  return {std::move(bytes), std::move(sink.weights), used, loses_scales(*region.graph)};
}

OwnedCompiled compile(const Runtime& runtime, const Source& source, const CompileSettings& settings, const std::vector<std::string>& names,
                      const std::vector<Shape>* shapes) {
  const Api& api = runtime.api();
  const OwnedModel model = read(runtime, source);
  if (shapes) {
    fix_shapes(runtime, *model, source, *shapes);
  } else {
    apply_bounds(runtime, *model, source, settings.bounds, names);
  }
  Properties given = settings.properties;
  if (source.in_floats && settings.device == "CPU" && settings.config.find(kBytesMode) == std::string::npos) {
    given.emplace_back(kBytesMode, "NO");
  }
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

// The interface takes no properties with the bytes: they are the device's in this session's core. Without them precision is lost.
OwnedCompiled import_model(const Runtime& runtime, std::string_view bytes, const CompileSettings& settings) {
  for (const auto& [name, value] : settings.properties) runtime.set_property(settings.device, name, value);
  CompiledModel* compiled = nullptr;
  runtime.check(runtime.api().core_import_model(runtime.core(), bytes.data(), bytes.size(), settings.device.c_str(), &compiled),
                "import_model");
  return {compiled, runtime.api().compiled_model_free};
}

std::string export_model(const Runtime& runtime, const CompiledModel& model, std::string head) {
  const MemoryFile file("a compiled model");
  runtime.check(runtime.api().compiled_model_export_model(&model, file.path().c_str()), "export_model");
  const size_t before = head.size();
  file.append_to(head);
  if (head.size() == before) fail(ErrorCode::ep_fail, "OpenVINO's export_model writes nothing");
  return head;
}

}  // namespace rh::openvino
