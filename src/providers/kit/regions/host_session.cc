#include "providers/kit/regions/host_session.h"

#include <cstring>

#include "onnx/writer.h"
#include "providers/kit/graph/value_import.h"
#include "tensor/interface_types.h"

namespace rh::kit {

namespace {

template <typename T>
using Handle = std::unique_ptr<T, void(ORT_API_CALL*)(T*)>;

template <typename T, typename... Given, typename... Passed>
Handle<T> make(const Host& host, void(ORT_API_CALL* release)(T*), OrtStatus*(ORT_API_CALL* function)(Given...), Passed... passed) {
  T* made = nullptr;
  check(host, function(passed..., &made));
  return {made, release};
}

}  // namespace

struct HostSession::State {
  State(const Host& the_host, const std::string& model)
      : host(the_host),
        env(make(host, host.api->ReleaseEnv, host.api->CreateEnv, ORT_LOGGING_LEVEL_WARNING, "region")),
        memory(make(host, host.api->ReleaseMemoryInfo, host.api->CreateCpuMemoryInfo, OrtDeviceAllocator, OrtMemTypeDefault)) {
    const OrtApi& api = *host.api;
    const auto options = make(host, api.ReleaseSessionOptions, api.CreateSessionOptions);
    OrtSession* made = nullptr;
    check(host, api.CreateSessionFromArray(env.get(), model.data(), model.size(), options.get(), &made));
    session.reset(made);
    OrtAllocator* allocator = nullptr;
    check(host, api.GetAllocatorWithDefaultOptions(&allocator));
    const auto read = [&](auto get_count, auto get_name, std::vector<std::string>& names) {
      size_t count = 0;
      check(host, get_count(made, &count));
      for (size_t i = 0; i < count; ++i) {
        char* text = nullptr;
        check(host, get_name(made, i, allocator, &text));
        names.emplace_back(text);
        allocator->Free(allocator, text);
      }
    };
    read(api.SessionGetInputCount, api.SessionGetInputName, inputs);
    read(api.SessionGetOutputCount, api.SessionGetOutputName, outputs);
  }

  Host host;
  Handle<OrtEnv> env;
  Handle<OrtMemoryInfo> memory;
  Handle<OrtSession> session{nullptr, host.api->ReleaseSession};
  std::vector<std::string> inputs, outputs;
};

std::string model_of(const Region& region) {
  const std::shared_ptr<Graph> graph = region.graph->clone();
  graph->set_outputs(region.outputs);
  graph->set_inputs(region.inputs);
  if (graph->name.empty()) graph->name = "region";
  return onnx::write_model(ModelInfo(), *graph, {.value_info = false});
}

HostSession::HostSession(const Host& host, const std::string& model) : state_(std::make_unique<State>(host, model)) {}
HostSession::~HostSession() = default;

void HostSession::run(std::span<const TensorView> inputs, RunOutputs& outputs) const {
  const Host& host = state_->host;
  const OrtApi& api = *host.api;
  if (inputs.size() != state_->inputs.size()) {
    fail(ErrorCode::ep_fail, "a session of the host takes {} inputs, given are {}", state_->inputs.size(), inputs.size());
  }
  std::vector<Handle<OrtValue>> owners;
  std::vector<const OrtValue*> values;
  std::vector<const char*> input_names, output_names;
  for (const std::string& name : state_->inputs) input_names.push_back(name.c_str());
  for (const std::string& name : state_->outputs) output_names.push_back(name.c_str());
  for (const TensorView& input : inputs) {
    const auto type = static_cast<ONNXTensorElementDataType>(interface_number(input.dtype()));
    owners.push_back(make(host, api.ReleaseValue, api.CreateTensorWithDataAsOrtValue,
                          static_cast<const OrtMemoryInfo*>(state_->memory.get()), const_cast<void*>(input.raw()), input.bytes(),
                          input.shape().begin(), static_cast<size_t>(input.rank()), type));
    values.push_back(owners.back().get());
  }
  std::vector<OrtValue*> results(output_names.size(), nullptr);
  check(host, api.Run(state_->session.get(), nullptr, input_names.data(), values.data(), values.size(), output_names.data(),
                      output_names.size(), results.data()));
  for (OrtValue* result : results) owners.emplace_back(result, api.ReleaseValue);
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor made = import_tensor(host, *results[i]);
    const MutableView into = outputs.make(i, made.shape());
    if (made.bytes() > 0) std::memcpy(into.raw(), made.raw(), made.bytes());
  }
}

}  // namespace rh::kit
