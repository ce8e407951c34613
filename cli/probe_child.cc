// The child process of a probe: what is done with the library, told by a JSON line before each step.
#include <roundhouse/roundhouse_c_api.h>

#include <cstdlib>

#include "child_process.h"
#include "model_options.h"
#include "probe.h"
#include "runner.h"
#include "system.h"

namespace rh::cli {

namespace {

using nlohmann::json;

/// y = Relu(MatMul(x, w) + w) on 4 by 4 floats: operators that any provider for inference has.
Ort::Model trial_model() {
  const std::vector<int64_t> shape = {4, 4};
  const auto type = [&] {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    Ort::ThrowOnError(Ort::GetApi().CreateTensorTypeAndShapeInfo(&info));
    const Ort::TensorTypeAndShapeInfo owned(info);
    Ort::ThrowOnError(Ort::GetApi().SetTensorElementType(info, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
    Ort::ThrowOnError(Ort::GetApi().SetDimensions(info, shape.data(), shape.size()));
    return Ort::TypeInfo::CreateTensorInfo(owned.GetConst());
  };
  Ort::Graph graph;
  const Ort::TypeInfo tensor = type();
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", tensor.GetConst());
  inputs.emplace_back("w", tensor.GetConst());
  outputs.emplace_back("y", tensor.GetConst());
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Node product("MatMul", "", "product", {"x", "w"}, {"p"}), sum("Add", "", "sum", {"p", "w"}, {"s"}),
      relu("Relu", "", "relu", {"s"}, {"y"});
  graph.AddNode(product);
  graph.AddNode(sum);
  graph.AddNode(relu);
  Ort::Model model(std::vector<Ort::Model::DomainOpsetPair>{{"", 17}});
  model.AddGraph(graph);
  return model;
}

json run_trial(const std::string& provider, int descriptor) {
  tell(descriptor, {{"step", "make a session of " + provider}});
  Ort::SessionOptions options;
  options.AppendExecutionProvider(provider);
  const Ort::Model model = trial_model();
  Ort::Session session(environment(), model, options);
  tell(descriptor, {{"step", "run a model on " + provider}});
  std::vector<NamedValue> inputs;
  for (const char* name : {"x", "w"}) {
    Ort::Value value = make_tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {4, 4});
    for (int i = 0; i < 16; ++i) value.GetTensorMutableData<float>()[i] = static_cast<float>(i % 5) - 1;
    inputs.emplace_back(name, std::move(value));
  }
  Runner(session, inputs).run();
  const json counts = report_of(session)["counts"];
  return {{"nodes", counts["providers"].value(provider, 0)}, {"of", counts["nodes"]}};
}

json device_json(const Ort::ConstEpDevice& device) {
  const Ort::ConstHardwareDevice hardware = device.Device();
  const OrtHardwareDeviceType type = hardware.Type();
  return {{"type", type == OrtHardwareDeviceType_CPU   ? "CPU"
                   : type == OrtHardwareDeviceType_GPU ? "GPU"
                                                       : "NPU"},
          {"vendor", hardware.Vendor() ? hardware.Vendor() : ""}};
}

void probe(const std::string& library, int descriptor) {
  tell(descriptor, {{"step", "load the library"}});
  void* handle = open_library(library);
  for (const char* name : {"CreateEpFactories", "ReleaseEpFactory"}) {
    if (!find_function(handle, name)) throw std::runtime_error(std::string("it exports no ") + name + ", so it is no library of providers");
  }
  tell(descriptor, {{"step", "register it and list its devices"}});
  const std::vector<std::string> names = register_plugin(library);
  json providers = json::array();
  for (const std::string& name : names) {
    json entry{{"name", name}, {"devices", json::array()}};
    for (const Ort::ConstEpDevice& device : environment().GetEpDevices()) {
      if (device.EpName() != name) continue;
      entry["vendor"] = device.EpVendor() ? device.EpVendor() : "";
      const char* version = device.EpMetadata().GetValue("version");
      entry["version"] = version ? version : "";
      entry["devices"].push_back(device_json(device));
    }
    entry.update(run_trial(name, descriptor));
    providers.push_back(std::move(entry));
  }
  tell(descriptor, {{"step", "end"}, {"providers", std::move(providers)}});
}

}  // namespace

int serve_as_probe(const char* library, const char* descriptor) {
  const int out = std::atoi(descriptor);
  try {
    probe(library, out);
  } catch (const std::exception& error) {
    tell(out, {{"error", error.what()}});
  }
  end_at_once(0);  // what the library does at exit is no concern of the probe
}

}  // namespace rh::cli
