#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "roundhouse/onnxruntime_c_api.h"

namespace rh::test {

inline const OrtApi& api() {
  static const OrtApi* const table = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *table;
}

inline void expect_ok(OrtStatus* status) {
  EXPECT_EQ(status, nullptr) << api().GetErrorMessage(status);
  api().ReleaseStatus(status);
}

class Environment {
 public:
  Environment() { expect_ok(api().CreateEnv(ORT_LOGGING_LEVEL_FATAL, "test", &env)); }
  ~Environment() { api().ReleaseEnv(env); }
  OrtEnv* env = nullptr;
};

/// A session over floats of one input x and one output y, with two threads; it keeps the memory of runs for later ones, or not.
class Client {
 public:
  ~Client() { close(); }

  OrtStatus* open(const Environment& environment, const std::string& model, bool keeps_memory = true) {
    OrtSessionOptions* options = nullptr;
    OrtStatus* status = api().CreateSessionOptions(&options);
    if (!status) status = api().SetIntraOpNumThreads(options, 2);
    if (!status && !keeps_memory) status = api().DisableCpuMemArena(options);
    if (!status) status = api().CreateSessionFromArray(environment.env, model.data(), model.size(), options, &session);
    api().ReleaseSessionOptions(options);
    return status;
  }

  void close() {
    api().ReleaseSession(session);
    session = nullptr;
  }

  OrtStatus* run(std::vector<float>& y, std::vector<float> x) const {
    OrtMemoryInfo* info = nullptr;
    OrtValue *input = nullptr, *output = nullptr;
    const int64_t shape[] = {2, static_cast<int64_t>(x.size() / 2)};
    OrtStatus* status = api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &info);
    if (!status) {
      status = api().CreateTensorWithDataAsOrtValue(info, x.data(), x.size() * sizeof(float), shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                                    &input);
    }
    const char* const in = "x";
    const char* const out = "y";
    if (!status) status = api().Run(session, nullptr, &in, &input, 1, &out, 1, &output);
    if (!status) status = read(output, y);
    api().ReleaseValue(output);
    api().ReleaseValue(input);
    api().ReleaseMemoryInfo(info);
    return status;
  }

  static OrtStatus* read(OrtValue* value, std::vector<float>& y) {
    OrtTensorTypeAndShapeInfo* info = nullptr;
    size_t count = 0;
    void* data = nullptr;
    OrtStatus* status = api().GetTensorTypeAndShape(value, &info);
    if (!status) status = api().GetTensorShapeElementCount(info, &count);
    if (!status) status = api().GetTensorMutableData(value, &data);
    if (!status && count <= y.capacity()) y.assign(static_cast<float*>(data), static_cast<float*>(data) + count);
    api().ReleaseTensorTypeAndShapeInfo(info);
    return status;
  }

  OrtSession* session = nullptr;
};

}  // namespace rh::test
