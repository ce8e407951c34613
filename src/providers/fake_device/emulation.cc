#include "emulation.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "memory.h"
#include "queue.h"

namespace fake_device {

namespace {

using namespace roundhouse::ep;
using detail::check;

const OrtApi& api() { return *detail::host.api; }
const OrtModelEditorApi& editor() { return *api().GetModelEditorApi(); }

template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

std::vector<const OrtOpAttr*> attributes_of(const Node& node) {
  size_t count = 0;
  check(api().Node_GetNumAttributes(node.raw(), &count));
  std::vector<const OrtOpAttr*> attributes(count);
  check(api().Node_GetAttributes(node.raw(), attributes.data(), count));
  return attributes;
}

OrtOpAttrType type_of(const OrtOpAttr* attribute) {
  OrtOpAttrType type = ORT_OP_ATTR_UNDEFINED;
  check(api().OpAttr_GetType(attribute, &type));
  return type;
}

OrtOpAttr* copy_of(const OrtOpAttr* attribute) {
  const OrtOpAttrType type = type_of(attribute);
  const char* name = nullptr;
  size_t bytes = 0;
  check(api().OpAttr_GetName(attribute, &name));
  if (OrtStatus* too_small = api().ReadOpAttr(attribute, type, nullptr, 0, &bytes)) api().ReleaseStatus(too_small);
  std::vector<char> data(bytes + 1);
  check(api().ReadOpAttr(attribute, type, data.data(), bytes, &bytes));
  size_t count = 1;
  if (type == ORT_OP_ATTR_INTS) count = bytes / sizeof(int64_t);
  if (type == ORT_OP_ATTR_FLOATS) count = bytes / sizeof(float);
  if (type == ORT_OP_ATTR_STRING) count = bytes;
  OrtOpAttr* copy = nullptr;
  check(api().CreateOpAttr(name, data.data(), static_cast<int>(count), type, &copy));
  return copy;
}

bool is_numbers(const NodeArg& value) {
  if (!value.exists()) return true;
  const ONNXTensorElementDataType type = value.element_type();
  return type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED && type != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
}

std::vector<std::string> names_of(const std::vector<NodeArg>& values) {
  std::vector<std::string> names;
  for (const NodeArg& value : values) names.push_back(value.exists() ? value.name() : "");
  return names;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

std::vector<OrtValueInfo*> infos_of(const std::vector<NodeArg>& values) {
  std::vector<OrtValueInfo*> infos;
  for (const NodeArg& value : values) {
    const OrtTypeInfo* type = nullptr;
    OrtValueInfo* info = nullptr;
    check(api().GetValueInfoTypeInfo(value.raw(), &type));
    check(editor().CreateValueInfo(value.name().c_str(), type, &info));
    infos.push_back(info);
  }
  return infos;
}

OrtNode* copy_of(const Node& node) {
  std::vector<OrtOpAttr*> attributes;
  for (const OrtOpAttr* attribute : attributes_of(node)) attributes.push_back(copy_of(attribute));
  const std::vector<std::string> inputs = names_of(node.inputs()), outputs = names_of(node.outputs());
  OrtNode* copy = nullptr;
  check(editor().CreateNode(node.op_type().c_str(), node.domain().c_str(), node.name().c_str(), pointers_to(inputs).data(), inputs.size(),
                            pointers_to(outputs).data(), outputs.size(), attributes.data(), attributes.size(), &copy));
  return copy;
}

/// With the operator sets of the unit.
Handle<OrtModel> model_of(const GraphViewer& unit, const Node& fused) {
  size_t count = 0;
  check(api().Graph_GetNumOperatorSets(unit.raw(), &count));
  std::vector<const char*> domains(count);
  std::vector<int64_t> versions(count);
  check(api().Graph_GetOperatorSets(unit.raw(), domains.data(), versions.data(), count));
  const auto standard = [](const char* domain) { return !*domain || std::strcmp(domain, "ai.onnx") == 0; };
  if (std::none_of(domains.begin(), domains.end(), standard)) {  // a model being built has to name it
    domains.push_back("");
    versions.push_back(21);
  }
  OrtModel* model = nullptr;
  check(editor().CreateModel(domains.data(), std::vector<int>(versions.begin(), versions.end()).data(), domains.size(), &model));
  Handle<OrtModel> owner(model, api().ReleaseModel);
  OrtGraph* graph = nullptr;
  check(editor().CreateGraph(&graph));
  std::vector<OrtValueInfo*> inputs = infos_of(fused.inputs()), outputs = infos_of(fused.outputs());
  check(editor().SetGraphInputs(graph, inputs.data(), inputs.size()));
  check(editor().SetGraphOutputs(graph, outputs.data(), outputs.size()));
  for (const Node& node : unit.nodes()) check(editor().AddNodeToGraph(graph, copy_of(node)));
  check(editor().AddGraphToModel(model, graph));
  return owner;
}

/// Nothing where a dimension is known only when the model runs.
std::optional<std::vector<int64_t>> fixed_shape(const NodeArg& value) {
  std::vector<int64_t> dims;
  if (!value.shape(dims) || std::find(dims.begin(), dims.end(), -1) != dims.end()) return std::nullopt;
  return dims;
}

Handle<OrtValue> value_over(const OrtMemoryInfo* host, const TensorView& view) {
  OrtValue* value = nullptr;
  check(
      api().CreateTensorWithDataAsOrtValue(host, to_host(view.data), view.bytes, view.shape.data(), view.shape.size(), view.type, &value));
  return {value, api().ReleaseValue};
}

}  // namespace

struct Emulation::Impl {
  std::vector<std::string> inputs, outputs;
  std::vector<std::optional<std::vector<int64_t>>> shapes;  ///< of the outputs
  OrtEnv* env = nullptr;
  OrtMemoryInfo* host = nullptr;
  OrtSession* session = nullptr;

  ~Impl() {
    if (session) api().ReleaseSession(session);
    if (host) api().ReleaseMemoryInfo(host);
    if (env) api().ReleaseEnv(env);
  }

  /// Results go to `targets`; where there are none, new values are given.
  std::vector<OrtValue*> compute(const std::vector<TensorView>& given, const std::vector<TensorView>& targets) const {
    std::vector<Handle<OrtValue>> owners;
    std::vector<const OrtValue*> values;
    std::vector<OrtValue*> results(outputs.size(), nullptr);
    for (const TensorView& view : given) values.push_back(owners.emplace_back(value_over(host, view)).get());
    for (size_t i = 0; i < targets.size(); ++i) results[i] = owners.emplace_back(value_over(host, targets[i])).get();
    check(api().Run(session, nullptr, pointers_to(inputs).data(), values.data(), values.size(), pointers_to(outputs).data(), outputs.size(),
                    results.data()));
    return results;
  }
};

bool Emulation::is_possible(const Node& node) {
  size_t subgraphs = 0;
  check(api().Node_GetNumSubgraphs(node.raw(), &subgraphs));
  const std::vector<NodeArg> inputs = node.inputs(), outputs = node.outputs();
  if (subgraphs > 0 || inputs.empty() || !std::all_of(inputs.begin(), inputs.end(), is_numbers)) return false;
  if (!std::all_of(outputs.begin(), outputs.end(), is_numbers)) return false;
  for (const OrtOpAttr* attribute : attributes_of(node)) {
    const OrtOpAttrType type = type_of(attribute);
    if (type < ORT_OP_ATTR_INT || type > ORT_OP_ATTR_STRING) return false;
  }
  return true;
}

Emulation::Emulation(const GraphViewer& unit, const Node& fused) : impl_(std::make_unique<Impl>()) {
  impl_->inputs = names_of(fused.inputs());
  impl_->outputs = names_of(fused.outputs());
  for (const NodeArg& output : fused.outputs()) impl_->shapes.push_back(fixed_shape(output));
  check(api().CreateEnv(ORT_LOGGING_LEVEL_WARNING, "fake_device", &impl_->env));
  check(api().CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &impl_->host));
  OrtSessionOptions* raw = nullptr;
  check(api().CreateSessionOptions(&raw));
  const Handle<OrtSessionOptions> options(raw, api().ReleaseSessionOptions);
  check(api().SetIntraOpNumThreads(raw, 1));
  check(api().SetSessionGraphOptimizationLevel(raw, ORT_DISABLE_ALL));
  const Handle<OrtModel> model = model_of(unit, fused);
  check(editor().CreateSessionFromModel(impl_->env, model.get(), raw, &impl_->session));
}

Emulation::~Emulation() = default;

void Emulation::run(OpKernelContext& context) const {
  if (impl_->outputs.empty()) return;  // nobody wants what the unit computes
  std::vector<TensorView> given, targets;
  for (size_t i = 0; i < impl_->inputs.size(); ++i) given.push_back(context.input(i));
  auto* queue = static_cast<Queue*>(context.stream());
  const bool fixed = std::all_of(impl_->shapes.begin(), impl_->shapes.end(), [](const auto& shape) { return shape.has_value(); });
  for (size_t i = 0; fixed && i < impl_->outputs.size(); ++i) targets.push_back(context.output(i, *impl_->shapes[i]));
  if (fixed && queue) {
    queue->submit([this, given, targets] { impl_->compute(given, targets); });
    return;
  }
  if (queue) queue->wait(queue->submitted());
  const std::vector<OrtValue*> results = impl_->compute(given, targets);
  if (fixed) return;
  for (size_t i = 0; i < results.size(); ++i) {
    const Handle<OrtValue> owner(results[i], api().ReleaseValue);
    const TensorView made = view_of(results[i]);
    const TensorView target = context.output(i, made.shape);
    if (made.bytes > 0) std::memcpy(to_host(target.data), made.data, made.bytes);
  }
}

}  // namespace fake_device
