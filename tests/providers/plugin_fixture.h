#pragma once

// Providers in shared libraries, loaded into the library under test.
#include <dlfcn.h>

#include <filesystem>
#include <fstream>

#include "capi/library.h"
#include "capi/model_bytes.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::test {

using Floats = std::vector<float>;
inline constexpr char kExample[] = "ExampleExecutionProvider", kFake[] = "FakeDeviceExecutionProvider";

inline std::string library(const char* name) { return std::string(RH_BUILD_DIR "/lib/roundhouse_provider_").append(name).append(".so"); }

/// A provider of tests/plugins.
inline std::string test_plugin(const char* name) { return std::string(RH_BUILD_DIR "/lib/").append(name).append("_plugin.so"); }

/// y = Relu(x + z), w = Exp(y), u = Tanh(y * w): a device that knows all but Exp is entered twice.
inline std::string mixed_model(bool fixed = true) {
  const std::vector<DimText> dims = fixed ? std::vector<DimText>{4} : std::vector<DimText>{"N"};
  return ModelBytes()
      .node("Add", {"x", "z"}, {"s"})
      .node("Relu", {"s"}, {"y"})
      .node("Exp", {"y"}, {"w"})
      .node("Mul", {"y", "w"}, {"m"})
      .node("Tanh", {"m"}, {"u"})
      .input("x", 1, dims)
      .input("z", 1, dims)
      .output("y", 1, dims)
      .output("u", 1, dims)
      .model();
}

class PluginTest : public ApiTest {
 protected:
  static Ort::Env& env() {
    static Ort::Env* made = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "plugins");
    return *made;
  }

  void register_library(const char* name, const std::string& path) {
    Ort::ThrowOnError(api.RegisterExecutionProviderLibrary(env(), name, path.c_str()));
    registered_.emplace_back(name);
  }
  void TearDown() override {
    for (const std::string& name : registered_) Ort::ThrowOnError(api.UnregisterExecutionProviderLibrary(env(), name.c_str()));
  }

  std::vector<const OrtEpDevice*> devices_of(const std::string& name) {
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    Ort::ThrowOnError(api.GetEpDevices(env(), &devices, &count));
    std::vector<const OrtEpDevice*> found;
    for (size_t i = 0; i < count; ++i) {
      if (api.EpDevice_EpName(devices[i]) == name) found.push_back(devices[i]);
    }
    return found;
  }

  Ort::SessionOptions options_for(const char* name, const std::vector<std::pair<const char*, const char*>>& options = {}) {
    Ort::SessionOptions made;
    made.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    const auto devices = devices_of(name);
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key);
      values.push_back(value);
    }
    Ort::ThrowOnError(
        api.SessionOptionsAppendExecutionProvider_V2(made, env(), devices.data(), devices.size(), keys.data(), values.data(), keys.size()));
    return made;
  }

  Ort::Session session_of(const std::string& model, const Ort::SessionOptions& options) {
    return Ort::Session(env(), model.data(), model.size(), options);
  }

  std::vector<Floats> run(Ort::Session& session, Floats x, Floats z) {
    const int64_t dims[] = {static_cast<int64_t>(x.size())};
    const Ort::Value inputs[] = {Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 1),
                                 Ort::Value::CreateTensor<float>(cpu, z.data(), z.size(), dims, 1)};
    const char* input_names[] = {"x", "z"};
    const char* output_names[] = {"y", "u"};
    const auto outputs = session.Run(Ort::RunOptions{nullptr}, input_names, inputs, 2, output_names, 2);
    std::vector<Floats> results;
    for (const Ort::Value& output : outputs) {
      const auto* data = output.GetTensorData<float>();
      results.emplace_back(data, data + output.GetTensorTypeAndShapeInfo().GetElementCount());
    }
    return results;
  }

  void expect_like_cpu(Ort::Session& session, bool fixed = true) {
    Ort::SessionOptions plain;
    Ort::Session cpu_session = session_of(mixed_model(fixed), plain);
    const Floats x = {1, -2, 0.5, 3}, z = {0.25, 1, -1, 0};
    for (int i = 0; i < 3; ++i) {
      const auto given = run(session, x, z), expected = run(cpu_session, x, z);
      for (size_t k = 0; k < 2; ++k) {
        ASSERT_EQ(given[k].size(), expected[k].size());
        for (size_t e = 0; e < given[k].size(); ++e) EXPECT_NEAR(given[k][e], expected[k][e], 1e-6f) << k << " " << e;
      }
    }
  }

  std::vector<std::string> registered_;
};

inline std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Ort::Exception& error) {
    return error.what();
  }
  return {};
}

/// A number of the session's report.
inline int64_t counter(const OrtSession* session, const char* name) {
  const auto report = reinterpret_cast<decltype(&RhSessionGetReport)>(dlsym(Library::get().handle, "RhSessionGetReport"));
  OrtAllocator* allocator = nullptr;
  char* json = nullptr;
  Ort::ThrowOnError(Ort::GetApi().GetAllocatorWithDefaultOptions(&allocator));
  Ort::ThrowOnError(report(session, allocator, &json));
  const std::string text = json;
  allocator->Free(allocator, json);
  const std::string key = std::string("\"") + name + "\":";
  for (size_t at = text.find(key, text.find("\"statistics\":")); at != std::string::npos; at = text.find(key, at + 1)) {
    const char* value = text.c_str() + at + key.size();
    if (std::isdigit(static_cast<unsigned char>(*value))) return std::atoll(value);
  }
  return -1;
}

}  // namespace rh::test
