// Sessions and the metadata of models.
#pragma once

#include "options.h"

namespace Ort {

struct IoBinding;
struct Model;
struct ValueInfo;

/// Strings come from the allocator given.
struct ModelMetadata : detail::Base<OrtModelMetadata> {
  explicit ModelMetadata(std::nullptr_t) {}
  explicit ModelMetadata(OrtModelMetadata* handle) : Base(handle) {}

  AllocatedStringPtr GetProducerNameAllocated(OrtAllocator* a) const { return Text(GetApi().ModelMetadataGetProducerName, a); }
  AllocatedStringPtr GetGraphNameAllocated(OrtAllocator* a) const { return Text(GetApi().ModelMetadataGetGraphName, a); }
  AllocatedStringPtr GetDomainAllocated(OrtAllocator* a) const { return Text(GetApi().ModelMetadataGetDomain, a); }
  AllocatedStringPtr GetDescriptionAllocated(OrtAllocator* a) const { return Text(GetApi().ModelMetadataGetDescription, a); }
  AllocatedStringPtr GetGraphDescriptionAllocated(OrtAllocator* a) const { return Text(GetApi().ModelMetadataGetGraphDescription, a); }
  std::vector<AllocatedStringPtr> GetCustomMetadataMapKeysAllocated(OrtAllocator* allocator) const {
    char** keys = nullptr;
    int64_t count = 0;
    ThrowOnError(GetApi().ModelMetadataGetCustomMetadataMapKeys(p_, allocator, &keys, &count));
    const std::unique_ptr<char*, detail::AllocatedFree> owned(keys, detail::AllocatedFree(allocator));
    std::vector<AllocatedStringPtr> out;
    for (int64_t i = 0; i < count; ++i) out.emplace_back(keys[i], detail::AllocatedFree(allocator));
    return out;
  }
  /// Null where there is no such key.
  AllocatedStringPtr LookupCustomMetadataMapAllocated(const char* key, OrtAllocator* allocator) const {
    char* value = nullptr;
    ThrowOnError(GetApi().ModelMetadataLookupCustomMetadataMap(p_, allocator, key, &value));
    return AllocatedStringPtr(value, detail::AllocatedFree(allocator));
  }
  int64_t GetVersion() const {
    int64_t version = 0;
    ThrowOnError(GetApi().ModelMetadataGetVersion(p_, &version));
    return version;
  }

 private:
  template <typename F>
  AllocatedStringPtr Text(F function, OrtAllocator* allocator) const {
    char* text = nullptr;
    ThrowOnError(function(p_, allocator, &text));
    return AllocatedStringPtr(text, detail::AllocatedFree(allocator));
  }
};

namespace detail {

template <typename T>
class ConstSessionApi : public Base<T> {
 public:
  using Base<T>::Base;

  size_t GetInputCount() const { return Count(GetApi().SessionGetInputCount); }
  size_t GetOutputCount() const { return Count(GetApi().SessionGetOutputCount); }
  size_t GetOverridableInitializerCount() const { return Count(GetApi().SessionGetOverridableInitializerCount); }

  AllocatedStringPtr GetInputNameAllocated(size_t index, OrtAllocator* allocator) const {
    return Name(GetApi().SessionGetInputName, index, allocator);
  }
  AllocatedStringPtr GetOutputNameAllocated(size_t index, OrtAllocator* allocator) const {
    return Name(GetApi().SessionGetOutputName, index, allocator);
  }
  AllocatedStringPtr GetOverridableInitializerNameAllocated(size_t index, OrtAllocator* allocator) const {
    return Name(GetApi().SessionGetOverridableInitializerName, index, allocator);
  }
  std::vector<std::string> GetInputNames() const { return Names(GetInputCount(), GetApi().SessionGetInputName); }
  std::vector<std::string> GetOutputNames() const { return Names(GetOutputCount(), GetApi().SessionGetOutputName); }
  std::vector<std::string> GetOverridableInitializerNames() const {
    return Names(GetOverridableInitializerCount(), GetApi().SessionGetOverridableInitializerName);
  }

  TypeInfo GetInputTypeInfo(size_t index) const { return Type(GetApi().SessionGetInputTypeInfo, index); }
  TypeInfo GetOutputTypeInfo(size_t index) const { return Type(GetApi().SessionGetOutputTypeInfo, index); }
  TypeInfo GetOverridableInitializerTypeInfo(size_t index) const { return Type(GetApi().SessionGetOverridableInitializerTypeInfo, index); }

  /// Names with types (graph.h).
  std::vector<ValueInfo> GetInputs() const;
  std::vector<ValueInfo> GetOutputs() const;
  std::vector<ValueInfo> GetOverridableInitializers() const;

  /// Whose device each input is expected on, and each output made; null where none of the environment's devices has that memory.
  std::vector<ConstEpDevice> GetEpDeviceForInputs() const { return EpDevices(GetInputCount(), GetApi().SessionGetEpDeviceForInputs); }
  std::vector<ConstEpDevice> GetEpDeviceForOutputs() const { return EpDevices(GetOutputCount(), GetApi().SessionGetEpDeviceForOutputs); }

  std::vector<ConstMemoryInfo> GetMemoryInfoForInputs() const { return Memory(GetInputCount(), GetApi().SessionGetMemoryInfoForInputs); }
  std::vector<ConstMemoryInfo> GetMemoryInfoForOutputs() const { return Memory(GetOutputCount(), GetApi().SessionGetMemoryInfoForOutputs); }

  /// Who took which nodes; the session needs the entry "session.record_ep_graph_assignment_info" of "1".
  std::vector<ConstEpAssignedSubgraph> GetEpGraphAssignmentInfo() const {
    const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().Session_GetEpGraphAssignmentInfo(this->p_, &subgraphs, &count));
    return std::vector<ConstEpAssignedSubgraph>(subgraphs, subgraphs + count);
  }

  ModelMetadata GetModelMetadata() const {
    OrtModelMetadata* metadata = nullptr;
    ThrowOnError(GetApi().SessionGetModelMetadata(this->p_, &metadata));
    return ModelMetadata(metadata);
  }
  /// The version of a domain's operators that the model uses.
  int GetOpset(const std::string& domain) const;
  uint64_t GetProfilingStartTimeNs() const {
    uint64_t time = 0;
    ThrowOnError(GetApi().SessionGetProfilingStartTimeNs(this->p_, &time));
    return time;
  }

 private:
  template <typename F>
  size_t Count(F function) const {
    size_t count = 0;
    ThrowOnError(function(this->p_, &count));
    return count;
  }
  template <typename F>
  AllocatedStringPtr Name(F function, size_t index, OrtAllocator* allocator) const {
    char* name = nullptr;
    ThrowOnError(function(this->p_, index, allocator, &name));
    return AllocatedStringPtr(name, AllocatedFree(allocator));
  }
  template <typename F>
  std::vector<std::string> Names(size_t count, F function) const {
    const AllocatorWithDefaultOptions allocator;
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.emplace_back(Name(function, i, allocator).get());
    return names;
  }
  template <typename F>
  TypeInfo Type(F function, size_t index) const {
    OrtTypeInfo* info = nullptr;
    ThrowOnError(function(this->p_, index, &info));
    return TypeInfo(info);
  }
  template <typename F>
  std::vector<ConstEpDevice> EpDevices(size_t count, F function) const {
    std::vector<const OrtEpDevice*> devices(count, nullptr);
    ThrowOnError(function(this->p_, devices.data(), count));
    return std::vector<ConstEpDevice>(devices.begin(), devices.end());
  }
  template <typename F>
  std::vector<ConstMemoryInfo> Memory(size_t count, F function) const {
    std::vector<const OrtMemoryInfo*> infos(count, nullptr);
    ThrowOnError(function(this->p_, infos.data(), count));
    std::vector<ConstMemoryInfo> out;
    for (const OrtMemoryInfo* info : infos) out.emplace_back(info);
    return out;
  }
};

template <typename T>
class SessionApi : public ConstSessionApi<T> {
 public:
  using ConstSessionApi<T>::ConstSessionApi;

  /// Outputs are allocated by the session.
  std::vector<Value> Run(const RunOptions& options, const char* const* input_names, const Value* inputs, size_t input_count,
                         const char* const* output_names, size_t output_count) {
    std::vector<Value> outputs(output_count);
    Run(options, input_names, inputs, input_count, output_names, outputs.data(), output_count);
    return outputs;
  }
  /// Outputs that are not null receive the results.
  void Run(const RunOptions& options, const char* const* input_names, const Value* inputs, size_t input_count,
           const char* const* output_names, Value* outputs, size_t output_count) {
    ThrowOnError(GetApi().Run(this->p_, options, input_names, reinterpret_cast<const OrtValue* const*>(inputs), input_count, output_names,
                              output_count, reinterpret_cast<OrtValue**>(outputs)));
  }
  void Run(const RunOptions& options, const IoBinding& binding);
  /// Calls back from another thread when the run has ended; everything given must live until then.
  void RunAsync(const RunOptions& options, const char* const* input_names, const Value* inputs, size_t input_count,
                const char* const* output_names, Value* outputs, size_t output_count, RunAsyncCallbackFn callback, void* user_data) {
    ThrowOnError(GetApi().RunAsync(this->p_, options, input_names, reinterpret_cast<const OrtValue* const*>(inputs), input_count,
                                   output_names, output_count, reinterpret_cast<OrtValue**>(outputs), callback, user_data));
  }
  /// Ends profiling; the name of the file that was written.
  AllocatedStringPtr EndProfilingAllocated(OrtAllocator* allocator) {
    char* name = nullptr;
    ThrowOnError(GetApi().SessionEndProfiling(this->p_, allocator, &name));
    return AllocatedStringPtr(name, AllocatedFree(allocator));
  }
  /// Adds to a model that is being edited, and makes it ready to run.
  void FinalizeModelEditorSession(const Model& model, const SessionOptions& options, OrtPrepackedWeightsContainer* weights = nullptr);
  void SetEpDynamicOptions(const char* const* keys, const char* const* values, size_t count) {
    ThrowOnError(GetApi().SetEpDynamicOptions(this->p_, keys, values, count));
  }
};

}  // namespace detail

using ConstSession = detail::ConstSessionApi<detail::Unowned<const OrtSession>>;
using UnownedSession = detail::SessionApi<detail::Unowned<OrtSession>>;

/// Packed weights that sessions share; must outlive them.
struct PrepackedWeightsContainer : detail::Base<OrtPrepackedWeightsContainer> {
  PrepackedWeightsContainer() { ThrowOnError(GetApi().CreatePrepackedWeightsContainer(&p_)); }
  explicit PrepackedWeightsContainer(std::nullptr_t) {}
};

/// A model ready to run, from many threads at once.
struct Session : detail::SessionApi<OrtSession> {
  explicit Session(std::nullptr_t) {}
  explicit Session(OrtSession* handle) : SessionApi(handle) {}
  Session(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options) {
    ThrowOnError(GetApi().CreateSession(env, model_path, options, &p_));
  }
  Session(const Env& env, const void* model_data, size_t bytes, const SessionOptions& options) {
    ThrowOnError(GetApi().CreateSessionFromArray(env, model_data, bytes, options, &p_));
  }
  Session(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options, OrtPrepackedWeightsContainer* container) {
    ThrowOnError(GetApi().CreateSessionWithPrepackedWeightsContainer(env, model_path, options, container, &p_));
  }
  Session(const Env& env, const void* model_data, size_t bytes, const SessionOptions& options, OrtPrepackedWeightsContainer* container) {
    ThrowOnError(GetApi().CreateSessionFromArrayWithPrepackedWeightsContainer(env, model_data, bytes, options, container, &p_));
  }
#ifndef _WIN32
  Session(const Env& env, const wchar_t* model_path, const SessionOptions& options)
      : Session(env, detail::Utf8(model_path).c_str(), options) {}
  Session(const Env& env, const wchar_t* model_path, const SessionOptions& options, OrtPrepackedWeightsContainer* container)
      : Session(env, detail::Utf8(model_path).c_str(), options, container) {}
#endif
  /// From a model built in memory (graph.h).
  Session(const Env& env, const Model& model, const SessionOptions& options);
  /// A session whose model can be added to until FinalizeModelEditorSession.
  static Session CreateModelEditorSession(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options);
  static Session CreateModelEditorSession(const Env& env, const void* model_data, size_t bytes, const SessionOptions& options);
  ConstSession GetConst() const { return ConstSession(p_); }
  UnownedSession GetUnowned() const { return UnownedSession(p_); }
};

/// The session's allocator for a kind of memory.
struct Allocator : detail::AllocatorApi<OrtAllocator> {
  explicit Allocator(std::nullptr_t) {}
  explicit Allocator(OrtAllocator* handle) : AllocatorApi(handle) {}
  Allocator(const Session& session, const OrtMemoryInfo* info) { ThrowOnError(GetApi().CreateAllocator(session, info, &p_)); }
};

}  // namespace Ort
