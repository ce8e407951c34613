// Option objects and structs of single providers, from before options were keys and values. They work where the provider is there.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string>

#include "abi/allocator.h"
#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

using Values = std::map<std::string, std::string>;

void update(Values& values, const char* const* keys, const char* const* texts, size_t count) {
  checked_array(keys, count, "provider_options_keys");
  checked_array(texts, count, "provider_options_values");
  for (size_t i = 0; i < count; ++i) {
    const std::string_view key = &checked(keys[i], "provider_options_keys[i]");
    if (key.empty()) fail(ErrorCode::invalid_argument, "provider option {} has an empty key", i);
    values[std::string(key)] = &checked(texts[i], "provider_options_values[i]");
  }
}

/// "a=1;b=2".
std::string joined(const Values& values) {
  std::string text;
  for (const auto& [key, value] : values) text += fmt::format("{}{}={}", text.empty() ? "" : ";", key, value);
  return text;
}

/// Addresses are kept as decimal text.
void* address_of(const Values& values, const char* key) {
  const auto found = values.find(key);
  if (found == values.end()) fail(ErrorCode::invalid_argument, "there is no provider option '{}'", key);
  uintptr_t address = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::invalid_argument, "provider option '{}' is '{}', expected an address", key, text);
  }
  return reinterpret_cast<void*>(address);
}

const char* arena_strategy(int strategy) { return strategy == 1 ? "kSameAsRequested" : "kNextPowerOfTwo"; }

/// Numbers that are set, and texts that are not null.
void set(Values& values, const char* key, int value) { values[key] = std::to_string(value); }
void set(Values& values, const char* key, size_t value) { values[key] = std::to_string(value); }
void set(Values& values, const char* key, const char* value) {
  if (value) values[key] = value;
}
void set_stream(Values& values, int has_stream, void* stream) {
  set(values, "has_user_compute_stream", has_stream);
  if (has_stream) set(values, "user_compute_stream", static_cast<size_t>(reinterpret_cast<uintptr_t>(stream)));
}

Values values_of(const OrtCUDAProviderOptions& given) {
  constexpr const char* kSearches[] = {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"};
  Values values;
  set(values, "device_id", given.device_id);
  const auto search = static_cast<size_t>(given.cudnn_conv_algo_search);
  if (search < std::size(kSearches)) set(values, "cudnn_conv_algo_search", kSearches[search]);
  set(values, "gpu_mem_limit", given.gpu_mem_limit);
  set(values, "arena_extend_strategy", arena_strategy(given.arena_extend_strategy));
  set(values, "do_copy_in_default_stream", given.do_copy_in_default_stream);
  set_stream(values, given.has_user_compute_stream, given.user_compute_stream);
  return values;
}

Values values_of(const OrtTensorRTProviderOptions& given) {
  Values values;
  set(values, "device_id", given.device_id);
  set_stream(values, given.has_user_compute_stream, given.user_compute_stream);
  set(values, "trt_max_partition_iterations", given.trt_max_partition_iterations);
  set(values, "trt_min_subgraph_size", given.trt_min_subgraph_size);
  set(values, "trt_max_workspace_size", given.trt_max_workspace_size);
  set(values, "trt_fp16_enable", given.trt_fp16_enable);
  set(values, "trt_int8_enable", given.trt_int8_enable);
  set(values, "trt_int8_calibration_table_name", given.trt_int8_calibration_table_name);
  set(values, "trt_int8_use_native_calibration_table", given.trt_int8_use_native_calibration_table);
  set(values, "trt_dla_enable", given.trt_dla_enable);
  set(values, "trt_dla_core", given.trt_dla_core);
  set(values, "trt_dump_subgraphs", given.trt_dump_subgraphs);
  set(values, "trt_engine_cache_enable", given.trt_engine_cache_enable);
  set(values, "trt_engine_cache_path", given.trt_engine_cache_path);
  set(values, "trt_engine_decryption_enable", given.trt_engine_decryption_enable);
  set(values, "trt_engine_decryption_lib_path", given.trt_engine_decryption_lib_path);
  set(values, "trt_force_sequential_engine_build", given.trt_force_sequential_engine_build);
  return values;
}

Values values_of(const OrtOpenVINOProviderOptions& given) {
  Values values;
  set(values, "device_type", given.device_type);
  set(values, "device_id", given.device_id);
  if (given.num_of_threads > 0) set(values, "num_of_threads", given.num_of_threads);
  set(values, "cache_dir", given.cache_dir);
  set(values, "enable_opencl_throttling", given.enable_opencl_throttling ? "true" : "false");
  return values;
}

Values values_of(const OrtMIGraphXProviderOptions& given) {
  Values values;
  set(values, "device_id", given.device_id);
  set(values, "migraphx_fp16_enable", given.migraphx_fp16_enable);
  set(values, "migraphx_fp8_enable", given.migraphx_fp8_enable);
  set(values, "migraphx_int8_enable", given.migraphx_int8_enable);
  set(values, "migraphx_int8_calibration_table_name", given.migraphx_int8_calibration_table_name);
  set(values, "migraphx_int8_use_native_calibration_table", given.migraphx_use_native_calibration_table);
  set(values, "migraphx_save_compiled_model", given.migraphx_save_compiled_model);
  set(values, "migraphx_save_model_path", given.migraphx_save_model_path);
  set(values, "migraphx_load_compiled_model", given.migraphx_load_compiled_model);
  set(values, "migraphx_load_model_path", given.migraphx_load_model_path);
  set(values, "migraphx_exhaustive_tune", given.migraphx_exhaustive_tune ? 1 : 0);
  set(values, "migraphx_mem_limit", given.migraphx_mem_limit);
  set(values, "migraphx_arena_extend_strategy", arena_strategy(given.migraphx_arena_extend_strategy));
  return values;
}

struct RocmNumber {
  std::string_view key;
  int OrtROCMProviderOptions::* field;
};
constexpr RocmNumber kRocmNumbers[] = {
    {"device_id", &OrtROCMProviderOptions::device_id},
    {"miopen_conv_exhaustive_search", &OrtROCMProviderOptions::miopen_conv_exhaustive_search},
    {"do_copy_in_default_stream", &OrtROCMProviderOptions::do_copy_in_default_stream},
    {"has_user_compute_stream", &OrtROCMProviderOptions::has_user_compute_stream},
    {"enable_hip_graph", &OrtROCMProviderOptions::enable_hip_graph},
    {"tunable_op_enable", &OrtROCMProviderOptions::tunable_op_enable},
    {"tunable_op_tuning_enable", &OrtROCMProviderOptions::tunable_op_tuning_enable},
    {"tunable_op_max_tuning_duration_ms", &OrtROCMProviderOptions::tunable_op_max_tuning_duration_ms},
};

Values values_of(const OrtROCMProviderOptions& given) {
  Values values;
  for (const RocmNumber& number : kRocmNumbers) values[std::string(number.key)] = std::to_string(given.*number.field);
  set(values, "gpu_mem_limit", given.gpu_mem_limit);
  set(values, "arena_extend_strategy", arena_strategy(given.arena_extend_strategy));
  set_stream(values, given.has_user_compute_stream, given.user_compute_stream);
  return values;
}

template <typename Number>
Number number_of(std::string_view key, std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(ErrorCode::invalid_argument, "provider option '{}' is '{}', expected a number", key, text);
  }
  return number;
}

/// ROCm's options are a plain struct, whose fields are all that there is room for.
void set(OrtROCMProviderOptions& options, std::string_view key, std::string_view text) {
  for (const RocmNumber& number : kRocmNumbers) {
    if (number.key == key) {
      options.*number.field = number_of<int>(key, text);
      return;
    }
  }
  if (key == "gpu_mem_limit") {
    options.gpu_mem_limit = number_of<size_t>(key, text);
  } else if (key == "arena_extend_strategy") {
    if (text != "kSameAsRequested" && text != "kNextPowerOfTwo") {
      fail(ErrorCode::invalid_argument, "provider option '{}' is '{}', expected kNextPowerOfTwo or kSameAsRequested", key, text);
    }
    options.arena_extend_strategy = text == "kSameAsRequested" ? 1 : 0;
  } else if (key == "user_compute_stream") {
    options.user_compute_stream = reinterpret_cast<void*>(number_of<uintptr_t>(key, text));
  } else {
    fail(ErrorCode::invalid_argument,
         "OrtROCMProviderOptions has no field '{}': append the provider by its name, with options as keys and values", key);
  }
}

template <typename Options>
OrtStatus* append_struct(OrtSessionOptions* options, const Options* given, const char* name, const char* short_name) {
  return guard([&] {
    check_enabled(name, short_name);
    append_provider(checked(options, "options"), name, short_name, values_of(checked(given, "provider_options")));
  });
}

OrtStatus* append_keys(OrtSessionOptions* options, const char* const* keys, const char* const* texts, size_t count, const char* name,
                       const char* short_name) {
  return guard([&] {
    check_enabled(name, short_name);
    Values values;
    update(values, keys, texts, count);
    append_provider(checked(options, "options"), name, short_name, values);
  });
}

}  // namespace

#define RH_APPEND(slot, Options, name, short_name) \
  OrtStatus* ORT_API_CALL slot(OrtSessionOptions* options, const Options* given) { return append_struct(options, given, name, short_name); }

RH_APPEND(SessionOptionsAppendExecutionProvider_CUDA, OrtCUDAProviderOptions, "CUDAExecutionProvider", "CUDA")
RH_APPEND(SessionOptionsAppendExecutionProvider_ROCM, OrtROCMProviderOptions, "ROCMExecutionProvider", "ROCM")
RH_APPEND(SessionOptionsAppendExecutionProvider_OpenVINO, OrtOpenVINOProviderOptions, "OpenVINOExecutionProvider", "OpenVINO")
RH_APPEND(SessionOptionsAppendExecutionProvider_TensorRT, OrtTensorRTProviderOptions, "TensorrtExecutionProvider", "TensorRT")
RH_APPEND(SessionOptionsAppendExecutionProvider_MIGraphX, OrtMIGraphXProviderOptions, "MIGraphXExecutionProvider", "MIGraphX")

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_OpenVINO_V2(OrtSessionOptions* options, const char* const* keys,
                                                                          const char* const* values, size_t count) {
  return append_keys(options, keys, values, count, "OpenVINOExecutionProvider", "OpenVINO");
}

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_VitisAI(OrtSessionOptions* options, const char* const* keys,
                                                                      const char* const* values, size_t count) {
  return append_keys(options, keys, values, count, "VitisAIExecutionProvider", "VitisAI");
}

}  // namespace rh::capi

/// Option objects: keys and values, with functions to make, change, read and release them, and to append their provider.
#define RH_OPTION_OBJECT(Slot, Append, Options, name, short_name)                                                             \
  struct Options {                                                                                                            \
    std::map<std::string, std::string> values;                                                                                \
  };                                                                                                                          \
  namespace rh::capi {                                                                                                        \
  OrtStatus* ORT_API_CALL Create##Slot##ProviderOptions(Options** out) {                                                      \
    return guard([&] {                                                                                                        \
      checked(out, "out") = nullptr;                                                                                          \
      check_enabled(name, short_name);                                                                                        \
      *out = new Options;                                                                                                     \
    });                                                                                                                       \
  }                                                                                                                           \
  OrtStatus* ORT_API_CALL Update##Slot##ProviderOptions(Options* options, const char* const* keys, const char* const* values, \
                                                        size_t count) {                                                       \
    return guard([&] {                                                                                                        \
      check_enabled(name, short_name);                                                                                        \
      update(checked(options, "options").values, keys, values, count);                                                        \
    });                                                                                                                       \
  }                                                                                                                           \
  OrtStatus* ORT_API_CALL Get##Slot##ProviderOptionsAsString(const Options* options, OrtAllocator* allocator, char** out) {   \
    return guard([&] {                                                                                                        \
      check_enabled(name, short_name);                                                                                        \
      checked(out, "ptr") = abi::copy_string(checked(allocator, "allocator"), joined(checked(options, "options").values));    \
    });                                                                                                                       \
  }                                                                                                                           \
  void ORT_API_CALL Release##Slot##ProviderOptions(Options* options) { delete options; }                                      \
  OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_##Append(OrtSessionOptions* target, const Options* options) { \
    return guard([&] {                                                                                                        \
      check_enabled(name, short_name);                                                                                        \
      append_provider(checked(target, "options"), name, short_name, checked(options, "provider_options").values);             \
    });                                                                                                                       \
  }                                                                                                                           \
  }

RH_OPTION_OBJECT(TensorRT, TensorRT_V2, OrtTensorRTProviderOptionsV2, "TensorrtExecutionProvider", "TensorRT")
RH_OPTION_OBJECT(CUDA, CUDA_V2, OrtCUDAProviderOptionsV2, "CUDAExecutionProvider", "CUDA")
RH_OPTION_OBJECT(CANN, CANN, OrtCANNProviderOptions, "CANNExecutionProvider", "CANN")
RH_OPTION_OBJECT(Dnnl, Dnnl, OrtDnnlProviderOptions, "DnnlExecutionProvider", "oneDNN")

namespace rh::capi {

OrtStatus* ORT_API_CALL CreateROCMProviderOptions(OrtROCMProviderOptions** out) {
  return guard([&] {
    checked(out, "out") = nullptr;
    check_enabled("ROCMExecutionProvider", "ROCM");
    *out = new OrtROCMProviderOptions();
  });
}

OrtStatus* ORT_API_CALL UpdateROCMProviderOptions(OrtROCMProviderOptions* options, const char* const* keys, const char* const* values,
                                                  size_t count) {
  return guard([&] {
    check_enabled("ROCMExecutionProvider", "ROCM");
    Values given;
    update(given, keys, values, count);
    OrtROCMProviderOptions changed = checked(options, "rocm_options");
    for (const auto& [key, text] : given) set(changed, key, text);
    *options = changed;
  });
}

OrtStatus* ORT_API_CALL GetROCMProviderOptionsAsString(const OrtROCMProviderOptions* options, OrtAllocator* allocator, char** out) {
  return guard([&] {
    check_enabled("ROCMExecutionProvider", "ROCM");
    checked(out, "ptr") = abi::copy_string(checked(allocator, "allocator"), joined(values_of(checked(options, "rocm_options"))));
  });
}

void ORT_API_CALL ReleaseROCMProviderOptions(OrtROCMProviderOptions* options) { delete options; }

#define RH_OPTION_ADDRESSES(Slot, Options)                                                                                                \
  OrtStatus* ORT_API_CALL Update##Slot##ProviderOptionsWithValue(Options* options, const char* key, void* value) {                        \
    return guard([&] { checked(options, "options").values[&checked(key, "key")] = std::to_string(reinterpret_cast<uintptr_t>(value)); }); \
  }                                                                                                                                       \
  OrtStatus* ORT_API_CALL Get##Slot##ProviderOptionsByName(const Options* options, const char* key, void** out) {                         \
    return guard([&] { checked(out, "ptr") = address_of(checked(options, "options").values, &checked(key, "key")); });                    \
  }

RH_OPTION_ADDRESSES(TensorRT, OrtTensorRTProviderOptionsV2)
RH_OPTION_ADDRESSES(CUDA, OrtCUDAProviderOptionsV2)

}  // namespace rh::capi
