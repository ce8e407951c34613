// OrtEpApi: what compiled models are made from and read with.
#include "abi/options.h"
#include "capi/guard.h"
#include "capi/table.h"

/// How the data of EPContext nodes are read and written.
struct OrtEpContextConfig {
  OrtReadNamedBufferFunc read = nullptr;
  void* read_state = nullptr;
  OrtWriteNamedBufferFunc write = nullptr;
  void* write_state = nullptr;
};

namespace rh::capi {

OrtStatus* ORT_API_CALL SessionOptionsSetWeightlessSourceModelBuffer(OrtSessionOptions* options, const void* data, size_t bytes) {
  return guard([&] {
    OrtSessionOptions& target = checked(options, "options");
    if (!data || bytes == 0) {
      fail(ErrorCode::invalid_argument, "argument 'source_model_data' is {}null and has {} bytes, expected a model", data ? "not " : "",
           bytes);
    }
    target.weightless_source = data;
    target.weightless_source_bytes = bytes;
  });
}

namespace ep_api {

OrtStatus* ORT_API_CALL SessionOptionsGetWeightlessSourceModelBuffer(const OrtSessionOptions* options, const void** data, size_t* bytes) {
  return guard([&] {
    const OrtSessionOptions& source = checked(options, "session_options");
    checked(data, "source_model_data") = source.weightless_source;
    checked(bytes, "source_model_data_length") = source.weightless_source_bytes;
  });
}

OrtStatus* ORT_API_CALL SessionOptionsGetEpContextConfig(const OrtSessionOptions* options, OrtEpContextConfig** out) {
  return guard([&] {
    const OrtSessionOptions& source = checked(options, "session_options");
    checked(out, "config");
    *out = new OrtEpContextConfig{source.read_ep_context, source.read_ep_context_state, source.write_ep_context,
                                  source.write_ep_context_state};
  });
}

void ORT_API_CALL ReleaseEpContextConfig(OrtEpContextConfig* config) { delete config; }

OrtStatus* ORT_API_CALL EpContextConfig_GetEpContextDataReadFunc(const OrtEpContextConfig* config, OrtReadNamedBufferFunc* function,
                                                                 void** state) {
  return guard([&] {
    checked(function, "read_func") = checked(config, "config").read;
    checked(state, "state") = config->read_state;
  });
}

OrtStatus* ORT_API_CALL EpContextConfig_GetEpContextDataWriteFunc(const OrtEpContextConfig* config, OrtWriteNamedBufferFunc* function,
                                                                  void** state) {
  return guard([&] {
    checked(function, "write_func") = checked(config, "config").write;
    checked(state, "state") = config->write_state;
  });
}

}  // namespace ep_api

}  // namespace rh::capi
