#include "providers/fake_device/emulation.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "onnx/writer.h"
#include "ops/schema.h"
#include "providers/kit/graph/value_import.h"
#include "tensor/interface_types.h"

namespace rh::fake_device {

namespace {

constexpr size_t kSmallBytes = 64;  // constants up to this size are part of the compiled region, as shapes and axes are

template <typename T>
using Handle = std::unique_ptr<T, void(ORT_API_CALL*)(T*)>;

kit::Support number_support(const ValueType& type, const char* what, size_t i) {
  if (type.is_tensor() && type.tensor().dtype != DType::string && type.tensor().dtype != DType::undefined) return {};
  return kit::refuse(RhRefusalCode_TYPE, "{} {} is {}, it runs tensors of numbers", what, i, type.to_string());
}

void collect_domains(const Graph& graph, std::set<std::string>& domains) {
  for (NodeId id : graph.nodes()) {
    domains.insert(graph.node(id).domain);
    Graph::for_each_subgraph(graph.node(id), [&](const Graph& body) { collect_domains(body, domains); });
  }
}

/// The region as a model of its own, which takes uploaded constants after its inputs.
std::string model_of(const kit::Region& region, const std::vector<ValueId>& constants) {
  const std::shared_ptr<Graph> graph = region.graph->clone();
  std::vector<ValueId> inputs = region.inputs;
  for (ValueId id : constants) {
    const ValueId input = graph->add_value(graph->fresh_name(graph->value(id).name), graph->value(id).type);
    graph->replace_uses(id, input);
    inputs.push_back(input);
  }
  graph->set_inputs(inputs);
  graph->set_outputs(region.outputs);
  if (graph->name.empty()) graph->name = "region";
  std::set<std::string> domains = {""};
  collect_domains(*graph, domains);
  std::erase_if(graph->opset_imports, [&](const auto& import) { return !domains.contains(import.first); });
  graph->opset_imports.emplace("", 21);  // a model has to name it
  ModelInfo model;
  model.ir_version = 10;
  return onnx::write_model(model, *graph, {.value_info = false});
}

class Emulation final : public kit::Executable {
 public:
  Emulation(const kit::Host& host, Session session, const kit::Region& region)
      : host_(host), session_(std::move(session)), env_(make_env()), memory_(make_memory()), host_inputs_(region.host_inputs) {
    std::vector<ValueId> constants;
    std::vector<const Tensor*> tensors;
    for (ValueId id = 0; id < region.graph->value_count(); ++id) {
      const GraphValue& value = region.graph->value(id);
      const Tensor* constant = value.constant_tensor();
      if (!constant || value.is_output || value.consumers.empty() || constant->dtype() == DType::string) continue;
      if (constant->bytes() <= kSmallBytes || std::ranges::find(region.inputs, id) != region.inputs.end()) continue;
      constants.push_back(id);
      tensors.push_back(constant);
    }
    constants_ = region.constants->upload(tensors);
    for (ValueId output : region.outputs) {
      const ValueType& type = region.graph->value(output).type;
      const bool is_fixed = type.is_tensor() && type.tensor().has_rank() && type.tensor().is_static();
      shapes_.push_back(is_fixed ? std::optional(type.tensor().shape()) : std::nullopt);
    }
    make_session(model_of(region, constants), region.inputs.size() + constants.size(), region.outputs.size());
  }

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    session_.begin_run();
    std::vector<Tensor> given;  // as the host reads them
    for (size_t i = 0; i < inputs.size(); ++i)
      given.push_back(takes_on_host(i) ? read(inputs[i]) : on_host(inputs[i], "an input of a region"));
    for (const Tensor& constant : constants_) given.push_back(on_host(constant.view(), "a constant of a region"));
    if (std::ranges::all_of(shapes_, [](const auto& shape) { return shape.has_value(); })) {
      std::vector<Tensor> targets;
      for (size_t i = 0; i < shapes_.size(); ++i) targets.push_back(on_host(outputs.make(i, *shapes_[i]), "an output of a region"));
      FakeDriver::submit(outputs.stream(), [this, given, targets] { compute(given, targets); });
      return;
    }
    if (outputs.stream()) session_.driver->drain(outputs.stream());
    const std::vector<OrtValue*> results = compute(given, {});
    std::vector<Handle<OrtValue>> owners;
    for (OrtValue* result : results) owners.emplace_back(result, host_.api->ReleaseValue);
    for (size_t i = 0; i < owners.size(); ++i) {
      const Tensor made = kit::import_tensor(host_, *owners[i]);
      Tensor target = on_host(outputs.make(i, made.shape()), "an output of a region");
      if (made.bytes() > 0) std::memcpy(target.raw(), made.raw(), made.bytes());
    }
  }

 private:
  Handle<OrtEnv> make_env() const {
    OrtEnv* env = nullptr;
    check(host_, host_.api->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "fake_device", &env));
    return {env, host_.api->ReleaseEnv};
  }

  Handle<OrtMemoryInfo> make_memory() const {
    OrtMemoryInfo* memory = nullptr;
    check(host_, host_.api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
    return {memory, host_.api->ReleaseMemoryInfo};
  }

  void make_session(const std::string& model, size_t inputs, size_t outputs) {
    const OrtApi& api = *host_.api;
    OrtSessionOptions* raw = nullptr;
    check(host_, api.CreateSessionOptions(&raw));
    const Handle<OrtSessionOptions> options(raw, api.ReleaseSessionOptions);
    check(host_, api.SetIntraOpNumThreads(raw, 1));
    check(host_, api.SetSessionGraphOptimizationLevel(raw, ORT_DISABLE_ALL));
    OrtSession* made = nullptr;
    check(host_, api.CreateSessionFromArray(env_.get(), model.data(), model.size(), raw, &made));
    model_ = {made, api.ReleaseSession};
    OrtAllocator* allocator = nullptr;
    check(host_, api.GetAllocatorWithDefaultOptions(&allocator));
    const auto name = [&](OrtStatus*(ORT_API_CALL * get)(const OrtSession*, size_t, OrtAllocator*, char**), size_t i) {
      char* text = nullptr;
      check(host_, get(made, i, allocator, &text));
      std::string copy = text;
      allocator->Free(allocator, text);
      return copy;
    };
    for (size_t i = 0; i < inputs; ++i) inputs_.push_back(name(api.SessionGetInputName, i));
    for (size_t i = 0; i < outputs; ++i) outputs_.push_back(name(api.SessionGetOutputName, i));
  }

  bool takes_on_host(size_t i) const { return i < host_inputs_.size() && host_inputs_[i]; }

  /// A value of the host, which is there while the call lasts: the work may come later.
  static Tensor read(const TensorView& view) {
    DeviceMemory::check_host(view.raw(), "a host value of a region");
    return Tensor(view.dtype(), view.shape(), const_cast<void*>(view.raw()), nullptr).clone();
  }

  Tensor on_host(const TensorView& view, std::string_view what) const {
    void* address = view.bytes() == 0 ? const_cast<int64_t*>(&kNothing) : session_.driver->memory().at(view.raw(), view.bytes(), what);
    return Tensor(view.dtype(), view.shape(), address, nullptr);
  }

  Handle<OrtValue> value_over(const Tensor& tensor) const {
    OrtValue* value = nullptr;
    const auto type = static_cast<ONNXTensorElementDataType>(interface_number(tensor.dtype()));
    check(host_, host_.api->CreateTensorWithDataAsOrtValue(memory_.get(), const_cast<void*>(tensor.raw()), tensor.bytes(),
                                                           tensor.shape().begin(), tensor.shape().size(), type, &value));
    return {value, host_.api->ReleaseValue};
  }

  /// Results go to `targets`; where there are none, new values are given.
  std::vector<OrtValue*> compute(const std::vector<Tensor>& given, const std::vector<Tensor>& targets) const {
    Fault::at_device("work");
    std::vector<Handle<OrtValue>> owners;
    std::vector<const OrtValue*> values;
    std::vector<OrtValue*> results(outputs_.size(), nullptr);
    std::vector<const char*> input_names, output_names;
    for (const std::string& name : inputs_) input_names.push_back(name.c_str());
    for (const std::string& name : outputs_) output_names.push_back(name.c_str());
    for (const Tensor& tensor : given) values.push_back(owners.emplace_back(value_over(tensor)).get());
    for (size_t i = 0; i < targets.size(); ++i) results[i] = owners.emplace_back(value_over(targets[i])).get();
    check(host_, host_.api->Run(model_.get(), nullptr, input_names.data(), values.data(), values.size(), output_names.data(),
                                output_names.size(), results.data()));
    if (session_.error() != 0) add_error(results);
    return targets.empty() ? results : std::vector<OrtValue*>();
  }

  void add_error(const std::vector<OrtValue*>& results) const {
    for (OrtValue* result : results) {
      Tensor tensor = kit::import_tensor(host_, *result);
      for (int64_t i = 0; tensor.dtype() == DType::float32 && i < tensor.elements(); ++i) tensor.data<float>()[i] += session_.error();
    }
  }

  static constexpr int64_t kNothing = 0;
  kit::Host host_;
  Session session_;
  Handle<OrtEnv> env_;
  Handle<OrtMemoryInfo> memory_;
  Handle<OrtSession> model_{nullptr, nullptr};
  std::vector<std::string> inputs_, outputs_;
  std::vector<bool> host_inputs_;
  std::vector<std::optional<Shape>> shapes_;  // of the outputs
  std::vector<Tensor> constants_;             // in the device's memory
};

}  // namespace

kit::Support emulation_support(const NodeView& node) {
  const Graph& graph = node.graph();
  if (!ops::find_schema(node.domain(), node.op_type(), node.opset())) {  // one of the model's own functions, or of a library
    return kit::refuse(RhRefusalCode_OP, "it has no operator {}", node.node().op_text());
  }
  if (node.input_count() == 0) return kit::refuse(RhRefusalCode_OP, "it runs nodes with inputs");
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    if (kit::Support refusal = number_support(node.input_type(i), "input", static_cast<size_t>(i))) return refusal;
  }
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.has_output(i)) continue;
    if (kit::Support refusal = number_support(graph.value(node.node().outputs[i]).type, "output", static_cast<size_t>(i))) return refusal;
  }
  for (const Attribute& attribute : node.node().attributes) {
    if (attribute.get<std::monostate>()) return kit::refuse(RhRefusalCode_ATTRIBUTE, "attribute '{}' is of no known kind", attribute.name);
  }
  return {};
}

std::unique_ptr<kit::Executable> emulate(const kit::Host& host, const Session& session, const kit::Region& region) {
  return std::make_unique<Emulation>(host, session, region);
}

}  // namespace rh::fake_device
