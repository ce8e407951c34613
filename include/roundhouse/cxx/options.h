// The environment, and the options of sessions and runs.
#pragma once

#include "devices.h"
#include "paths.h"
#include "value.h"

namespace Ort {

/// Settings of the thread pools that sessions share.
struct ThreadingOptions : detail::Base<OrtThreadingOptions> {
  ThreadingOptions() { ThrowOnError(GetApi().CreateThreadingOptions(&p_)); }
  ThreadingOptions& SetGlobalIntraOpNumThreads(int threads) { return Done(GetApi().SetGlobalIntraOpNumThreads(p_, threads)); }
  ThreadingOptions& SetGlobalInterOpNumThreads(int threads) { return Done(GetApi().SetGlobalInterOpNumThreads(p_, threads)); }
  ThreadingOptions& SetGlobalSpinControl(int allow) { return Done(GetApi().SetGlobalSpinControl(p_, allow)); }
  ThreadingOptions& SetGlobalDenormalAsZero() { return Done(GetApi().SetGlobalDenormalAsZero(p_)); }
  ThreadingOptions& SetGlobalCustomCreateThreadFn(OrtCustomCreateThreadFn function) {
    return Done(GetApi().SetGlobalCustomCreateThreadFn(p_, function));
  }
  ThreadingOptions& SetGlobalCustomThreadCreationOptions(void* options) {
    return Done(GetApi().SetGlobalCustomThreadCreationOptions(p_, options));
  }
  ThreadingOptions& SetGlobalCustomJoinThreadFn(OrtCustomJoinThreadFn function) {
    return Done(GetApi().SetGlobalCustomJoinThreadFn(p_, function));
  }

 private:
  ThreadingOptions& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

/// Must outlive everything made from it.
struct Env : detail::Base<OrtEnv> {
  explicit Env(std::nullptr_t) {}
  explicit Env(OrtEnv* handle) : Base(handle) {}
  Env(OrtLoggingLevel level = ORT_LOGGING_LEVEL_WARNING, const char* logid = "") { ThrowOnError(GetApi().CreateEnv(level, logid, &p_)); }
  Env(OrtLoggingLevel level, const char* logid, OrtLoggingFunction function, void* parameter) {
    ThrowOnError(GetApi().CreateEnvWithCustomLogger(function, parameter, level, logid, &p_));
  }
  Env(const OrtThreadingOptions* options, OrtLoggingLevel level = ORT_LOGGING_LEVEL_WARNING, const char* logid = "") {
    ThrowOnError(GetApi().CreateEnvWithGlobalThreadPools(level, logid, options, &p_));
  }
  Env(const OrtThreadingOptions* options, OrtLoggingFunction function, void* parameter, OrtLoggingLevel level = ORT_LOGGING_LEVEL_WARNING,
      const char* logid = "") {
    ThrowOnError(GetApi().CreateEnvWithCustomLoggerAndGlobalThreadPools(function, parameter, level, logid, options, &p_));
  }
  explicit Env(const OrtEnvCreationOptions* options) { ThrowOnError(GetApi().CreateEnvWithOptions(options, &p_)); }

  Env& EnableTelemetryEvents() { return Done(GetApi().EnableTelemetryEvents(p_)); }
  Env& DisableTelemetryEvents() { return Done(GetApi().DisableTelemetryEvents(p_)); }
  Env& UpdateEnvWithCustomLogLevel(OrtLoggingLevel level) { return Done(GetApi().UpdateEnvWithCustomLogLevel(p_, level)); }
  Env& CreateAndRegisterAllocator(const OrtMemoryInfo* info, const OrtArenaCfg* arena) {
    return Done(GetApi().CreateAndRegisterAllocator(p_, info, arena));
  }
  Env& RegisterAllocator(OrtAllocator* allocator) { return Done(GetApi().RegisterAllocator(p_, allocator)); }
  Env& UnregisterAllocator(const OrtMemoryInfo* info) { return Done(GetApi().UnregisterAllocator(p_, info)); }
  Env& CreateAndRegisterAllocatorV2(const std::string& provider, const OrtMemoryInfo* info,
                                    const std::unordered_map<std::string, std::string>& options, const OrtArenaCfg* arena) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    return Done(GetApi().CreateAndRegisterAllocatorV2(p_, provider.c_str(), info, arena, keys.data(), values.data(), options.size()));
  }
  /// The environment keeps the allocator, until it is released or made anew.
  UnownedAllocator CreateSharedAllocator(const OrtEpDevice* device, OrtDeviceMemoryType memory, OrtAllocatorType type,
                                         const OrtKeyValuePairs* options) {
    OrtAllocator* allocator = nullptr;
    ThrowOnError(GetApi().CreateSharedAllocator(p_, device, memory, type, options, &allocator));
    return UnownedAllocator(allocator);
  }
  /// Null where there is none for this memory.
  UnownedAllocator GetSharedAllocator(const OrtMemoryInfo* info) {
    OrtAllocator* allocator = nullptr;
    ThrowOnError(GetApi().GetSharedAllocator(p_, info, &allocator));
    return UnownedAllocator(allocator);
  }
  void ReleaseSharedAllocator(const OrtEpDevice* device, OrtDeviceMemoryType memory) {
    ThrowOnError(GetApi().ReleaseSharedAllocator(p_, device, memory));
  }
  /// Between memories of providers and of the host, as many tensors as there are; with a stream not done when this returns.
  Status CopyTensors(const std::vector<Value>& from, const std::vector<Value>& to, OrtSyncStream* stream) const {
    if (from.size() != to.size() || from.empty())
      return Status("CopyTensors: expected as many sources as targets, and one at least", ORT_INVALID_ARGUMENT);
    const std::vector<const OrtValue*> sources(from.begin(), from.end());
    const std::vector<OrtValue*> targets(to.begin(), to.end());
    return Status(GetApi().CopyTensors(p_, sources.data(), targets.data(), stream, from.size()));
  }
  Status CopyTensor(const OrtValue* from, OrtValue* to, OrtSyncStream* stream) const {
    return Status(GetApi().CopyTensors(p_, &from, &to, stream, 1));
  }
  DeviceEpIncompatibilityDetails GetHardwareDeviceEpIncompatibilityDetails(const char* ep_name, ConstHardwareDevice hardware) const {
    OrtDeviceEpIncompatibilityDetails* details = nullptr;
    ThrowOnError(GetApi().GetHardwareDeviceEpIncompatibilityDetails(p_, ep_name, hardware, &details));
    return DeviceEpIncompatibilityDetails(details);
  }
  Env& RegisterExecutionProviderLibrary(const char* name, const std::basic_string<ORTCHAR_T>& path) {
    return Done(GetApi().RegisterExecutionProviderLibrary(p_, name, path.c_str()));
  }
  Env& UnregisterExecutionProviderLibrary(const char* name) { return Done(GetApi().UnregisterExecutionProviderLibrary(p_, name)); }
  std::vector<ConstHardwareDevice> GetHardwareDevices() const {
    size_t count = 0;
    ThrowOnError(GetApi().GetNumHardwareDevices(p_, &count));
    std::vector<const OrtHardwareDevice*> handles(count);
    ThrowOnError(GetApi().GetHardwareDevices(p_, handles.data(), count));
    return std::vector<ConstHardwareDevice>(handles.begin(), handles.end());
  }
  /// Each provider on each device that it supports.
  std::vector<ConstEpDevice> GetEpDevices() const {
    const OrtEpDevice* const* handles = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().GetEpDevices(p_, &handles, &count));
    return std::vector<ConstEpDevice>(handles, handles + count);
  }

 private:
  Env& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

/// A copy of the environment's configuration, for the libraries of providers.
inline KeyValuePairs GetEnvConfigEntries() {
  OrtKeyValuePairs* entries = nullptr;
  ThrowOnError(GetEpApi().GetEnvConfigEntries(&entries));
  return KeyValuePairs(entries);
}

namespace detail {

/// Options of a provider, set by their names.
template <typename T, typename Update>
void UpdateOptions(T* options, Update update, const std::unordered_map<std::string, std::string>& entries) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : entries) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  ThrowOnError(update(options, keys.data(), values.data(), keys.size()));
}

}  // namespace detail

#define ORT_DEFINE_PROVIDER_OPTIONS(NAME, TYPE)                                                                            \
  struct NAME : detail::Base<TYPE> {                                                                                       \
    explicit NAME(std::nullptr_t) {}                                                                                       \
    NAME() { ThrowOnError(GetApi().Create##NAME(&p_)); }                                                                   \
    void Update(const std::unordered_map<std::string, std::string>& entries) {                                             \
      detail::UpdateOptions(p_, GetApi().Update##NAME, entries);                                                           \
    }                                                                                                                      \
    void UpdateWithValue(const char* key, void* value) { ThrowOnError(GetApi().Update##NAME##WithValue(p_, key, value)); } \
    void* GetOptionByName(const char* name) const {                                                                        \
      void* value = nullptr;                                                                                               \
      ThrowOnError(GetApi().Get##NAME##ByName(p_, name, &value));                                                          \
      return value;                                                                                                        \
    }                                                                                                                      \
    void* Get##NAME##ByName(const char* name) const { return GetOptionByName(name); }                                      \
    std::string Get##NAME##AsString() const {                                                                              \
      const AllocatorWithDefaultOptions allocator;                                                                         \
      char* text = nullptr;                                                                                                \
      ThrowOnError(GetApi().Get##NAME##AsString(p_, allocator, &text));                                                    \
      return AllocatedStringPtr(text, detail::AllocatedFree(allocator)).get();                                             \
    }                                                                                                                      \
  };
ORT_DEFINE_PROVIDER_OPTIONS(CUDAProviderOptions, OrtCUDAProviderOptionsV2)
ORT_DEFINE_PROVIDER_OPTIONS(TensorRTProviderOptions, OrtTensorRTProviderOptionsV2)
#undef ORT_DEFINE_PROVIDER_OPTIONS

/// Entries of custom operators: "custom_op.<operator>.<key>" in the configuration of a session.
struct CustomOpConfigs {
  CustomOpConfigs() = default;
  CustomOpConfigs& AddConfig(const char* custom_op_name, const char* key, const char* value) {
    configs_[std::string("custom_op.") + custom_op_name + "." + key] = value;
    return *this;
  }
  const std::unordered_map<std::string, std::string>& GetFlattenedConfigs() const { return configs_; }

 private:
  std::unordered_map<std::string, std::string> configs_;
};

/// Custom operators of one domain; the operators added must outlive the sessions that use them.
struct CustomOpDomain : detail::Base<OrtCustomOpDomain> {
  using Unowned = detail::Base<detail::Unowned<OrtCustomOpDomain>>;
  explicit CustomOpDomain(std::nullptr_t) {}
  CustomOpDomain() = default;
  explicit CustomOpDomain(const char* domain) { ThrowOnError(GetApi().CreateCustomOpDomain(domain, &p_)); }
  void Add(const OrtCustomOp* op) { ThrowOnError(GetApi().CustomOpDomain_Add(p_, op)); }
};

/// Parameters from a file that replace initializers in the runs whose options have it; outlives them.
struct LoraAdapter : detail::Base<OrtLoraAdapter> {
  explicit LoraAdapter(std::nullptr_t) {}
  static LoraAdapter CreateLoraAdapter(const std::basic_string<ORTCHAR_T>& path, OrtAllocator* allocator) {
    LoraAdapter adapter{nullptr};
    ThrowOnError(GetApi().CreateLoraAdapter(path.c_str(), allocator, &adapter.p_));
    return adapter;
  }
  static LoraAdapter CreateLoraAdapterFromArray(const void* bytes, size_t size, OrtAllocator* allocator) {
    LoraAdapter adapter{nullptr};
    ThrowOnError(GetApi().CreateLoraAdapterFromArray(bytes, size, allocator, &adapter.p_));
    return adapter;
  }
};

struct RunOptions : detail::Base<OrtRunOptions> {
  explicit RunOptions(std::nullptr_t) {}
  RunOptions() { ThrowOnError(GetApi().CreateRunOptions(&p_)); }

  RunOptions& SetRunLogVerbosityLevel(int level) { return Done(GetApi().RunOptionsSetRunLogVerbosityLevel(p_, level)); }
  RunOptions& SetRunLogSeverityLevel(int level) { return Done(GetApi().RunOptionsSetRunLogSeverityLevel(p_, level)); }
  RunOptions& SetRunTag(const char* tag) { return Done(GetApi().RunOptionsSetRunTag(p_, tag)); }
  RunOptions& AddConfigEntry(const char* key, const char* value) { return Done(GetApi().AddRunConfigEntry(p_, key, value)); }
  /// Makes runs that use these options stop as soon as they can.
  RunOptions& SetTerminate() { return Done(GetApi().RunOptionsSetTerminate(p_)); }
  RunOptions& UnsetTerminate() { return Done(GetApi().RunOptionsUnsetTerminate(p_)); }
  RunOptions& EnableProfiling(const ORTCHAR_T* prefix) { return Done(GetApi().RunOptionsEnableProfiling(p_, prefix)); }
  RunOptions& DisableProfiling() { return Done(GetApi().RunOptionsDisableProfiling(p_)); }
  RunOptions& AddActiveLoraAdapter(const LoraAdapter& adapter) { return Done(GetApi().RunOptionsAddActiveLoraAdapter(p_, adapter)); }

  int GetRunLogVerbosityLevel() const {
    int level = 0;
    ThrowOnError(GetApi().RunOptionsGetRunLogVerbosityLevel(p_, &level));
    return level;
  }
  int GetRunLogSeverityLevel() const {
    int level = 0;
    ThrowOnError(GetApi().RunOptionsGetRunLogSeverityLevel(p_, &level));
    return level;
  }
  const char* GetRunTag() const {
    const char* tag = nullptr;
    ThrowOnError(GetApi().RunOptionsGetRunTag(p_, &tag));
    return tag;
  }
  /// Null where there is no such entry.
  const char* GetConfigEntry(const char* key) const { return GetApi().GetRunConfigEntry(p_, key); }
  /// The run's work goes to this stream of its provider.
  RunOptions& SetSyncStream(OrtSyncStream* stream) {
    GetApi().RunOptionsSetSyncStream(p_, stream);
    return *this;
  }

 private:
  RunOptions& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

struct SessionOptions;

namespace detail {

template <typename T>
class ConstSessionOptionsApi : public Base<T> {
 public:
  using Base<T>::Base;

  SessionOptions Clone() const;
  bool HasConfigEntry(const char* key) const {
    int found = 0;
    ThrowOnError(GetApi().HasSessionConfigEntry(this->p_, key, &found));
    return found != 0;
  }
  std::string GetConfigEntry(const char* key) const {
    size_t size = 0;
    ThrowOnError(GetApi().GetSessionConfigEntry(this->p_, key, nullptr, &size));
    std::string value(size, '\0');
    ThrowOnError(GetApi().GetSessionConfigEntry(this->p_, key, value.data(), &size));
    value.resize(size - 1);
    return value;
  }
  ExecutionMode GetExecutionMode() const {
    ExecutionMode mode = ORT_SEQUENTIAL;
    ThrowOnError(GetApi().GetSessionExecutionMode(this->p_, &mode));
    return mode;
  }
  bool GetMemPatternEnabled() const {
    int enabled = 0;
    ThrowOnError(GetApi().GetMemPatternEnabled(this->p_, &enabled));
    return enabled != 0;
  }
  std::string GetConfigEntryOrDefault(const char* key, const std::string& otherwise) const {
    return HasConfigEntry(key) ? GetConfigEntry(key) : otherwise;
  }
};

template <typename T>
class SessionOptionsApi : public ConstSessionOptionsApi<T> {
  using Path = const ORTCHAR_T*;
  using Strings = const char* const*;

 public:
  using ConstSessionOptionsApi<T>::ConstSessionOptionsApi;

  SessionOptionsApi& SetIntraOpNumThreads(int threads) { return Done(GetApi().SetIntraOpNumThreads(this->p_, threads)); }
  SessionOptionsApi& SetInterOpNumThreads(int threads) { return Done(GetApi().SetInterOpNumThreads(this->p_, threads)); }
  SessionOptionsApi& SetGraphOptimizationLevel(GraphOptimizationLevel level) {
    return Done(GetApi().SetSessionGraphOptimizationLevel(this->p_, level));
  }
  SessionOptionsApi& SetDeterministicCompute(bool value) { return Done(GetApi().SetDeterministicCompute(this->p_, value)); }
  SessionOptionsApi& EnableCpuMemArena() { return Done(GetApi().EnableCpuMemArena(this->p_)); }
  SessionOptionsApi& DisableCpuMemArena() { return Done(GetApi().DisableCpuMemArena(this->p_)); }
  SessionOptionsApi& EnableMemPattern() { return Done(GetApi().EnableMemPattern(this->p_)); }
  SessionOptionsApi& DisableMemPattern() { return Done(GetApi().DisableMemPattern(this->p_)); }
  SessionOptionsApi& SetOptimizedModelFilePath(Path path) { return Done(GetApi().SetOptimizedModelFilePath(this->p_, path)); }
  SessionOptionsApi& EnableProfiling(Path prefix) { return Done(GetApi().EnableProfiling(this->p_, prefix)); }
#ifndef _WIN32
  SessionOptionsApi& SetOptimizedModelFilePath(const wchar_t* path) { return SetOptimizedModelFilePath(Utf8(path).c_str()); }
  SessionOptionsApi& EnableProfiling(const wchar_t* prefix) { return EnableProfiling(Utf8(prefix).c_str()); }
  SessionOptionsApi& RegisterCustomOpsLibrary(const wchar_t* path) { return RegisterCustomOpsLibrary(Utf8(path).c_str()); }
#endif
  SessionOptionsApi& DisableProfiling() { return Done(GetApi().DisableProfiling(this->p_)); }
  SessionOptionsApi& SetExecutionMode(ExecutionMode mode) { return Done(GetApi().SetSessionExecutionMode(this->p_, mode)); }
  SessionOptionsApi& SetLoadCancellationFlag(bool cancel) { return Done(GetApi().SessionOptionsSetLoadCancellationFlag(this->p_, cancel)); }
  SessionOptionsApi& SetLogId(const char* id) { return Done(GetApi().SetSessionLogId(this->p_, id)); }
  SessionOptionsApi& SetLogSeverityLevel(int level) { return Done(GetApi().SetSessionLogSeverityLevel(this->p_, level)); }
  SessionOptionsApi& SetLogVerbosityLevel(int level) { return Done(GetApi().SetSessionLogVerbosityLevel(this->p_, level)); }
  SessionOptionsApi& SetUserLoggingFunction(OrtLoggingFunction function, void* parameter) {
    return Done(GetApi().SetUserLoggingFunction(this->p_, function, parameter));
  }
  SessionOptionsApi& DisablePerSessionThreads() { return Done(GetApi().DisablePerSessionThreads(this->p_)); }
  SessionOptionsApi& SetCustomCreateThreadFn(OrtCustomCreateThreadFn function) {
    return Done(GetApi().SessionOptionsSetCustomCreateThreadFn(this->p_, function));
  }
  SessionOptionsApi& SetCustomThreadCreationOptions(void* options) {
    return Done(GetApi().SessionOptionsSetCustomThreadCreationOptions(this->p_, options));
  }
  SessionOptionsApi& SetCustomJoinThreadFn(OrtCustomJoinThreadFn function) {
    return Done(GetApi().SessionOptionsSetCustomJoinThreadFn(this->p_, function));
  }
  SessionOptionsApi& AddConfigEntry(const char* key, const char* value) {
    return Done(GetApi().AddSessionConfigEntry(this->p_, key, value));
  }
  SessionOptionsApi& AddFreeDimensionOverride(const char* denotation, int64_t value) {
    return Done(GetApi().AddFreeDimensionOverride(this->p_, denotation, value));
  }
  SessionOptionsApi& AddFreeDimensionOverrideByName(const char* name, int64_t value) {
    return Done(GetApi().AddFreeDimensionOverrideByName(this->p_, name, value));
  }
  SessionOptionsApi& AddInitializer(const char* name, const OrtValue* value) {
    return Done(GetApi().AddInitializer(this->p_, name, value));
  }
  SessionOptionsApi& AddExternalInitializers(const std::vector<std::string>& names, const std::vector<Value>& values) {
    std::vector<const char*> name_pointers;
    for (const std::string& name : names) name_pointers.push_back(name.c_str());
    const std::vector<const OrtValue*> pointers(values.begin(), values.end());
    return Done(GetApi().AddExternalInitializers(this->p_, name_pointers.data(), pointers.data(), pointers.size()));
  }
  SessionOptionsApi& AddExternalInitializersFromFilesInMemory(const std::vector<std::basic_string<ORTCHAR_T>>& names,
                                                              const std::vector<char*>& buffers, const std::vector<size_t>& lengths) {
    std::vector<Path> pointers;
    for (const auto& name : names) pointers.push_back(name.c_str());
    return Done(GetApi().AddExternalInitializersFromFilesInMemory(this->p_, pointers.data(), buffers.data(), lengths.data(), names.size()));
  }
  SessionOptionsApi& Add(OrtCustomOpDomain* domain) { return Done(GetApi().AddCustomOpDomain(this->p_, domain)); }
  SessionOptionsApi& RegisterCustomOpsLibrary(Path path) { return Done(GetApi().RegisterCustomOpsLibrary_V2(this->p_, path)); }
  SessionOptionsApi& RegisterCustomOpsUsingFunction(const char* name) {
    return Done(GetApi().RegisterCustomOpsUsingFunction(this->p_, name));
  }
  SessionOptionsApi& EnableOrtCustomOps() { return Done(GetApi().EnableOrtCustomOps(this->p_)); }

  SessionOptionsApi& RegisterCustomOpsLibrary(Path path, const CustomOpConfigs& configs) {
    for (const auto& [key, value] : configs.GetFlattenedConfigs()) AddConfigEntry(key.c_str(), value.c_str());
    return RegisterCustomOpsLibrary(path);
  }

  /// Devices of one provider.
  SessionOptionsApi& AppendExecutionProvider_V2(Env& env, const std::vector<ConstEpDevice>& devices, const KeyValuePairs& options) {
    std::vector<const char*> keys, values;
    options.GetKeyValuePairs(keys, values);
    return AppendDevices(env, devices, keys, values);
  }
  SessionOptionsApi& AppendExecutionProvider_V2(Env& env, const std::vector<ConstEpDevice>& devices,
                                                const std::unordered_map<std::string, std::string>& options) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    return AppendDevices(env, devices, keys, values);
  }
  SessionOptionsApi& SetEpSelectionPolicy(OrtExecutionProviderDevicePolicy policy) {
    return Done(GetApi().SessionOptionsSetEpSelectionPolicy(this->p_, policy));
  }
  SessionOptionsApi& SetEpSelectionPolicy(EpSelectionDelegate delegate, void* state = nullptr) {
    return Done(GetApi().SessionOptionsSetEpSelectionPolicyDelegate(this->p_, delegate, state));
  }
  SessionOptionsApi& SetEpContextDataReadFunc(OrtReadNamedBufferFunc read, void* state) {
    return Done(GetApi().SessionOptionsSetEpContextDataReadFunc(this->p_, read, state));
  }
#ifndef ORT_API_MANUAL_INIT
  /// The CPU's provider with or without an arena; it is there in any case. Where the table is given by hand, the library's own function may
  /// not be linked.
  SessionOptionsApi& AppendExecutionProvider_CPU(int use_arena) {
    return Done(OrtSessionOptionsAppendExecutionProvider_CPU(this->p_, use_arena));
  }
#endif
  SessionOptionsApi& AppendExecutionProvider_Dnnl(const OrtDnnlProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_Dnnl(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_CANN(const OrtCANNProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_CANN(this->p_, &options));
  }

  SessionOptionsApi& AppendExecutionProvider(const std::string& name, const std::unordered_map<std::string, std::string>& options = {}) {
    return Append(options, [&](Strings keys, Strings values, size_t count) {
      return GetApi().SessionOptionsAppendExecutionProvider(this->p_, name.c_str(), keys, values, count);
    });
  }
  SessionOptionsApi& AppendExecutionProvider_CUDA(const OrtCUDAProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_CUDA(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_CUDA_V2(const OrtCUDAProviderOptionsV2& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_CUDA_V2(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_ROCM(const OrtROCMProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_ROCM(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_TensorRT(const OrtTensorRTProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_TensorRT(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_TensorRT_V2(const OrtTensorRTProviderOptionsV2& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_TensorRT_V2(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_MIGraphX(const OrtMIGraphXProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_MIGraphX(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_OpenVINO(const OrtOpenVINOProviderOptions& options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_OpenVINO(this->p_, &options));
  }
  SessionOptionsApi& AppendExecutionProvider_OpenVINO_V2(const std::unordered_map<std::string, std::string>& options = {}) {
    return Append(options, [&](Strings keys, Strings values, size_t count) {
      return GetApi().SessionOptionsAppendExecutionProvider_OpenVINO_V2(this->p_, keys, values, count);
    });
  }
  SessionOptionsApi& AppendExecutionProvider_VitisAI(const std::unordered_map<std::string, std::string>& options = {}) {
    return Append(options, [&](Strings keys, Strings values, size_t count) {
      return GetApi().SessionOptionsAppendExecutionProvider_VitisAI(this->p_, keys, values, count);
    });
  }

 private:
  SessionOptionsApi& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
  SessionOptionsApi& AppendDevices(Env& env, const std::vector<ConstEpDevice>& devices, const std::vector<const char*>& keys,
                                   const std::vector<const char*>& values) {
    const std::vector<const OrtEpDevice*> handles(devices.begin(), devices.end());
    return Done(GetApi().SessionOptionsAppendExecutionProvider_V2(this->p_, env, handles.data(), handles.size(), keys.data(), values.data(),
                                                                  keys.size()));
  }
  template <typename F>
  SessionOptionsApi& Append(const std::unordered_map<std::string, std::string>& options, F append) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : options) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    return Done(append(keys.data(), values.data(), keys.size()));
  }
};

}  // namespace detail

using ConstSessionOptions = detail::ConstSessionOptionsApi<detail::Unowned<const OrtSessionOptions>>;
using UnownedSessionOptions = detail::SessionOptionsApi<detail::Unowned<OrtSessionOptions>>;

struct SessionOptions : detail::SessionOptionsApi<OrtSessionOptions> {
  explicit SessionOptions(std::nullptr_t) {}
  explicit SessionOptions(OrtSessionOptions* handle) : SessionOptionsApi(handle) {}
  SessionOptions() { ThrowOnError(GetApi().CreateSessionOptions(&p_)); }
  UnownedSessionOptions GetUnowned() const { return UnownedSessionOptions(p_); }
  ConstSessionOptions GetConst() const { return ConstSessionOptions(p_); }
};

namespace detail {

template <typename T>
SessionOptions ConstSessionOptionsApi<T>::Clone() const {
  OrtSessionOptions* copy = nullptr;
  ThrowOnError(GetApi().CloneSessionOptions(this->p_, &copy));
  return SessionOptions(copy);
}

}  // namespace detail

}  // namespace Ort
