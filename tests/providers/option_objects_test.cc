// Option objects of single providers: they work where the provider is there, and say that it is not where it is not.
#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kCuda[] = "CUDAExecutionProvider";

std::string message_of_status(OrtStatus* status) { return status ? Ort::Status(status).GetErrorMessage() : std::string(); }

TEST_F(PluginTest, OptionObjectsOfProvidersThatAreNotThere) {
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  OrtTensorRTProviderOptionsV2* tensorrt = nullptr;
  OrtDnnlProviderOptions* dnnl = nullptr;
  const OrtCUDAProviderOptions plain;
  Ort::SessionOptions options;
  EXPECT_NE(message_of_status(api.CreateCUDAProviderOptions(&cuda)).find("CUDA execution provider is not enabled"), std::string::npos);
  EXPECT_EQ(code_of(api.CreateTensorRTProviderOptions(&tensorrt)), ORT_FAIL);
  EXPECT_EQ(code_of(api.CreateDnnlProviderOptions(&dnnl)), ORT_FAIL);
  EXPECT_EQ(code_of(api.SessionOptionsAppendExecutionProvider_CUDA(options, &plain)), ORT_FAIL);
  EXPECT_NE(code_of(api.SessionOptionsAppendExecutionProvider_OpenVINO_V2(options, nullptr, nullptr, 0)), ORT_OK);
  api.ReleaseCUDAProviderOptions(nullptr);
}

TEST_F(PluginTest, OptionObjectsOfAPluginsProvider) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library knows its own provider alone";
  setenv("RH_PLUGIN_NAME", kCuda, 1);
  register_library("cuda", test_plugin("faulty"));
  unsetenv("RH_PLUGIN_NAME");
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&cuda));
  const char* keys[] = {"gpu_mem_limit", "device_id"};
  const char* values[] = {"1024", "1"};
  Ort::ThrowOnError(api.UpdateCUDAProviderOptions(cuda, keys, values, 2));
  Ort::ThrowOnError(api.UpdateCUDAProviderOptionsWithValue(cuda, "user_compute_stream", cuda));
  void* stream = nullptr;
  Ort::ThrowOnError(api.GetCUDAProviderOptionsByName(cuda, "user_compute_stream", &stream));
  EXPECT_EQ(stream, cuda);
  EXPECT_EQ(code_of(api.GetCUDAProviderOptionsByName(cuda, "nothing", &stream)), ORT_INVALID_ARGUMENT);
  char* text = nullptr;
  Ort::ThrowOnError(api.GetCUDAProviderOptionsAsString(cuda, allocator, &text));
  EXPECT_EQ(std::string(text).find("device_id=1;gpu_mem_limit=1024;user_compute_stream="), 0u) << text;
  allocator.Free(text);
  OrtCUDAProviderOptions plain;
  plain.device_id = 3;
  for (const bool object : {true, false}) {
    Ort::SessionOptions options;
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    Ort::ThrowOnError(object ? api.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda)
                             : api.SessionOptionsAppendExecutionProvider_CUDA(options, &plain));
    EXPECT_EQ(options.GetConfigEntry("ep.cudaexecutionprovider.device_id"), object ? "1" : "3");
    Ort::Session session = session_of(mixed_model(), options);
    expect_like_cpu(session);
  }
  api.ReleaseCUDAProviderOptions(cuda);
}

TEST_F(PluginTest, TheStructOfRocm) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library knows its own provider alone";
  setenv("RH_PLUGIN_NAME", "ROCMExecutionProvider", 1);
  register_library("rocm", test_plugin("faulty"));
  unsetenv("RH_PLUGIN_NAME");
  OrtROCMProviderOptions* rocm = nullptr;
  Ort::ThrowOnError(api.CreateROCMProviderOptions(&rocm));
  EXPECT_EQ(rocm->gpu_mem_limit, SIZE_MAX);
  const char* keys[] = {"gpu_mem_limit", "device_id", "arena_extend_strategy", "enable_hip_graph"};
  const char* values[] = {"1024", "2", "kSameAsRequested", "1"};
  Ort::ThrowOnError(api.UpdateROCMProviderOptions(rocm, keys, values, 4));
  EXPECT_EQ(rocm->device_id, 2);
  EXPECT_EQ(rocm->gpu_mem_limit, 1024u);
  EXPECT_EQ(rocm->arena_extend_strategy, 1);
  const char* wrong[] = {"many"};
  EXPECT_EQ(code_of(api.UpdateROCMProviderOptions(rocm, keys, wrong, 1)), ORT_INVALID_ARGUMENT);
  const char* unknown[] = {"tunable"};
  const std::string message = message_of_status(api.UpdateROCMProviderOptions(rocm, unknown, values, 1));
  EXPECT_NE(message.find("has no field 'tunable'"), std::string::npos) << message;
  EXPECT_EQ(rocm->gpu_mem_limit, 1024u);
  char* text = nullptr;
  Ort::ThrowOnError(api.GetROCMProviderOptionsAsString(rocm, allocator, &text));
  EXPECT_EQ(std::string(text).find("arena_extend_strategy=kSameAsRequested;device_id=2;do_copy_in_default_stream=1;"), 0u) << text;
  allocator.Free(text);
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
  options.AppendExecutionProvider_ROCM(*rocm);
  EXPECT_EQ(options.GetConfigEntry("ep.rocmexecutionprovider.gpu_mem_limit"), "1024");
  EXPECT_EQ(options.GetConfigEntry("ep.rocmexecutionprovider.enable_hip_graph"), "1");
  Ort::Session session = session_of(mixed_model(), options);
  expect_like_cpu(session);
  api.ReleaseROCMProviderOptions(rocm);
}

}  // namespace
}  // namespace rh::test
