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

}  // namespace
}  // namespace rh::test
