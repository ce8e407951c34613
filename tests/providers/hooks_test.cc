// Optional members of a plugin's OrtEp: compiled models that it makes and loads, and what it measures.
#include <unistd.h>

#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

namespace fs = std::filesystem;

constexpr char kHooks[] = "HooksExecutionProvider";

class HooksTest : public PluginTest {
 protected:
  HooksTest() : folder_(fs::temp_directory_path() / ("rh_hooks_" + std::to_string(::getpid()))) { fs::create_directories(folder_); }
  ~HooksTest() override { fs::remove_all(folder_); }
  void SetUp() override { register_library("hooks", test_plugin("hooks")); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(in)), {});
  }

  /// y = Relu(x * w + b), u = Exp(y).
  const std::string model_ = ModelBytes()
                                 .input("x", 1, {"N", 4})
                                 .initializer("w", {1, 2, 3, 4})
                                 .initializer("b", {0.5f, -6, 0.5f, 0.5f})
                                 .node("Mul", {"x", "w"}, {"p"})
                                 .node("Add", {"p", "b"}, {"q"})
                                 .node("Relu", {"q"}, {"y"})
                                 .node("Exp", {"y"}, {"u"})
                                 .output("y", 1, {"N", 4})
                                 .output("u", 1, {"N", 4})
                                 .model(17);

  void expect_right(Ort::Session& session) {
    Floats x = {1, 1, 1, 1, 2, 2, 2, 2};
    const int64_t dims[] = {2, 4};
    const char* input = "x";
    const char* output = "y";
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 2);
    const auto results = session.Run(Ort::RunOptions{nullptr}, &input, &value, 1, &output, 1);
    const auto* data = results[0].GetTensorData<float>();
    EXPECT_EQ(Floats(data, data + 8), (Floats{1.5f, 0, 3.5f, 4.5f, 2.5f, 0, 6.5f, 8.5f}));
  }
  void expect_right_from(const std::string& bytes, const Ort::SessionOptions& options) {
    Ort::Session session = session_of(bytes, options);
    expect_right(session);
  }

 private:
  fs::path folder_;
};

TEST_F(HooksTest, ASessionWritesWhatThePluginCompiled) {
  const std::string file = path("session_ctx.onnx");
  Ort::SessionOptions options = options_for(kHooks, {{"compatibility", "optimal"}});
  options.AddConfigEntry("ep.context_enable", "1");
  options.AddConfigEntry("ep.context_embed_mode", "1");
  options.AddConfigEntry("ep.context_file_path", file.c_str());
  {
    Ort::Session session = session_of(model_, options);
    expect_right(session);
  }
  const std::string made = content(file);
  EXPECT_NE(made.find("EPContext"), std::string::npos);
  EXPECT_EQ(made.find("Relu_node"), std::string::npos);
  char* text = nullptr;
  Ort::ThrowOnError(api.GetCompatibilityInfoFromModel(file.c_str(), kHooks, allocator, &text));
  ASSERT_NE(text, nullptr);
  EXPECT_STREQ(text, "optimal");
  const auto devices = devices_of(kHooks);
  OrtCompiledModelCompatibility fits = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  Ort::ThrowOnError(api.GetModelCompatibilityForEpDevices(devices.data(), devices.size(), text, &fits));
  EXPECT_EQ(fits, OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL);
  allocator.Free(text);
  expect_right_from(made, options_for(kHooks));
  Ort::SessionOptions plain;  // nobody else runs what the plugin compiled
  EXPECT_NE(message_of([&] { session_of(made, plain); }).find("EPContext"), std::string::npos);
}

class CompiledTest : public HooksTest {
 protected:
  void TearDown() override {
    compile.ReleaseModelCompilationOptions(options);
    HooksTest::TearDown();
  }
  void prepare(const char* compatibility, bool embed) {
    session_options = options_for(kHooks, {{"compatibility", compatibility}});
    Ort::ThrowOnError(compile.CreateModelCompilationOptionsFromSessionOptions(env(), session_options, &options));
    Ort::ThrowOnError(compile.ModelCompilationOptions_SetInputModelFromBuffer(options, model_.data(), model_.size()));
    Ort::ThrowOnError(compile.ModelCompilationOptions_SetEpContextEmbedMode(options, embed));
    Ort::ThrowOnError(compile.ModelCompilationOptions_SetFlags(options, OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED));
  }
  std::string to_memory() {
    void* data = nullptr;
    size_t size = 0;
    Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelBuffer(options, allocator, &data, &size));
    Ort::ThrowOnError(compile.CompileModel(env(), options));
    std::string made(static_cast<const char*>(data), size);
    allocator.Free(data);
    return made;
  }

  const OrtCompileApi& compile = Ort::GetCompileApi();
  Ort::SessionOptions session_options{nullptr};
  OrtModelCompilationOptions* options = nullptr;
};

TEST_F(CompiledTest, ToAFile) {
  prepare("", true);
  const std::string file = path("compiled.onnx");
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelPath(options, file.c_str()));
  Ort::ThrowOnError(compile.CompileModel(env(), options));
  expect_right_from(content(file), options_for(kHooks));
}

TEST_F(CompiledTest, ToMemory) {
  prepare("", true);
  expect_right_from(to_memory(), options_for(kHooks));
}

TEST_F(CompiledTest, ToAFunction) {
  prepare("", true);
  std::string made;
  const auto append = [](void* state, const void* data, size_t size) -> OrtStatus* {
    static_cast<std::string*>(state)->append(static_cast<const char*>(data), size);
    return nullptr;
  };
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelWriteFunc(options, append, &made));
  Ort::ThrowOnError(compile.CompileModel(env(), options));
  expect_right_from(made, options_for(kHooks));
}

using Files = std::map<std::string, std::string>;

OrtStatus* ORT_API_CALL keep_file(void* state, const ORTCHAR_T* name, const void* data, size_t size) {
  (*static_cast<Files*>(state))[name] = std::string(static_cast<const char*>(data), size);
  return nullptr;
}

OrtStatus* ORT_API_CALL give_file(void* state, const ORTCHAR_T* name, OrtAllocator* allocator, void** data, size_t* size) {
  const auto& files = *static_cast<const Files*>(state);
  const auto found = files.find(name);
  if (found == files.end()) return Ort::GetApi().CreateStatus(ORT_FAIL, "no such context");
  *size = found->second.size();
  *data = allocator->Alloc(allocator, *size);
  std::memcpy(*data, found->second.data(), *size);
  return nullptr;
}

TEST_F(CompiledTest, ContextsOutsideOfTheModel) {
  prepare("", false);
  Files files;
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetEpContextDataWriteFunc(options, keep_file, &files));
  const std::string made = to_memory();
  EXPECT_EQ(files.size(), 1u);
  Ort::SessionOptions load = options_for(kHooks);
  Ort::ThrowOnError(api.SessionOptionsSetEpContextDataReadFunc(load, give_file, &files));
  expect_right_from(made, load);
  files.clear();
  EXPECT_NE(message_of([&] { session_of(made, load); }).find("no such context"), std::string::npos);
}

TEST_F(CompiledTest, ModelsThatFitWorse) {
  prepare("worse", true);
  const std::string made = to_memory();
  expect_right_from(made, options_for(kHooks));
  Ort::SessionOptions strict = options_for(kHooks);
  strict.AddConfigEntry("session.fail_on_suboptimal_compiled_model", "1");
  EXPECT_NE(message_of([&] { session_of(made, strict); }), "");
}

TEST_F(CompiledTest, CompilingMayBeForbidden) {
  prepare("", true);
  const std::string made = to_memory();
  Ort::SessionOptions forbidden = options_for(kHooks);
  forbidden.AddConfigEntry("session.disable_model_compile", "1");
  expect_right_from(made, forbidden);
  if (!Library::get().ours) return;
  EXPECT_NE(message_of([&] { session_of(model_, forbidden); }).find("session.disable_model_compile"), std::string::npos);
}

TEST_F(CompiledTest, ModelsThatDoNotFit) {
  prepare("older", true);
  const std::string made = to_memory();
  const std::string message = message_of([&] { session_of(made, options_for(kHooks)); });
  EXPECT_NE(message.find(kHooks), std::string::npos) << message;
}

TEST_F(HooksTest, WhatThePluginMeasuresStandsInTheTrace) {
  Ort::SessionOptions options = options_for(kHooks);
  options.EnableProfiling(path("trace").c_str());
  Ort::Session session = session_of(model_, options);
  expect_right(session);
  expect_right(session);
  auto name = session.EndProfilingAllocated(allocator);
  const std::string trace = content(name.get());
  const size_t at = trace.find(R"(hooks \"work\")");
  ASSERT_NE(at, std::string::npos) << trace;
  const std::string line = trace.substr(trace.rfind('\n', at) + 1, trace.find('\n', at) - trace.rfind('\n', at));
  EXPECT_NE(line.find(R"("cat" : "Kernel")"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("pid" :7,"tid" :8)"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("runs" : "2")"), std::string::npos) << line;
  if (!Library::get().ours) return;
  EXPECT_NE(line.find(R"("started" : "8","stopped" : "8")"), std::string::npos) << line;  // two runs, of the executor, a unit and a node
  expect_right(session);                                                                  // the plugin is not asked any more
}

}  // namespace
}  // namespace rh::test
