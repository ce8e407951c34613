// For libraries of providers: definitions of kernels, schemas of operators, events of profiles.
#pragma once

#include "kernels.h"

namespace Ort {

struct KernelDef;
struct OpSchema;

namespace detail {

template <typename T>
struct ConstKernelDefImpl : Base<T> {
  using Base<T>::Base;

  const char* GetOperatorType() const { return GetEpApi().KernelDef_GetOperatorType(this->p_); }
  const char* GetDomain() const { return GetEpApi().KernelDef_GetDomain(this->p_); }
  /// The first and the last version of the operator that the kernel is for.
  std::pair<int, int> GetSinceVersion() const {
    int first = 0, last = 0;
    ThrowOnError(GetEpApi().KernelDef_GetSinceVersion(this->p_, &first, &last));
    return {first, last};
  }
  const char* GetExecutionProvider() const { return GetEpApi().KernelDef_GetExecutionProvider(this->p_); }
  OrtMemType GetInputMemType(size_t index) const {
    OrtMemType type = OrtMemTypeDefault;
    ThrowOnError(GetEpApi().KernelDef_GetInputMemType(this->p_, index, &type));
    return type;
  }
  OrtMemType GetOutputMemType(size_t index) const {
    OrtMemType type = OrtMemTypeDefault;
    ThrowOnError(GetEpApi().KernelDef_GetOutputMemType(this->p_, index, &type));
    return type;
  }
};

}  // namespace detail

using ConstKernelDef = detail::ConstKernelDefImpl<detail::Unowned<const OrtKernelDef>>;

/// For which nodes a kernel is.
struct KernelDef : detail::ConstKernelDefImpl<OrtKernelDef> {
  explicit KernelDef(std::nullptr_t) {}
  explicit KernelDef(OrtKernelDef* handle) : ConstKernelDefImpl(handle) {}
  ConstKernelDef GetConst() const { return ConstKernelDef(p_); }
};

struct KernelDefBuilder : detail::Base<OrtKernelDefBuilder> {
  KernelDefBuilder() { ThrowOnError(GetEpApi().CreateKernelDefBuilder(&p_)); }
  explicit KernelDefBuilder(std::nullptr_t) {}
  explicit KernelDefBuilder(OrtKernelDefBuilder* handle) : Base(handle) {}

  KernelDefBuilder& SetOperatorType(const char* op_type) { return Done(GetEpApi().KernelDefBuilder_SetOperatorType(p_, op_type)); }
  KernelDefBuilder& SetDomain(const char* domain) { return Done(GetEpApi().KernelDefBuilder_SetDomain(p_, domain)); }
  KernelDefBuilder& SetSinceVersion(int first, int last) { return Done(GetEpApi().KernelDefBuilder_SetSinceVersion(p_, first, last)); }
  KernelDefBuilder& SetExecutionProvider(const char* ep_name) {
    return Done(GetEpApi().KernelDefBuilder_SetExecutionProvider(p_, ep_name));
  }
  KernelDefBuilder& SetInputMemType(size_t index, OrtMemType type) {
    return Done(GetEpApi().KernelDefBuilder_SetInputMemType(p_, index, type));
  }
  KernelDefBuilder& SetOutputMemType(size_t index, OrtMemType type) {
    return Done(GetEpApi().KernelDefBuilder_SetOutputMemType(p_, index, type));
  }
  KernelDefBuilder& AddTypeConstraint(const char* name, const OrtDataType* type) {
    return Done(GetEpApi().KernelDefBuilder_AddTypeConstraint(p_, name, &type, 1));
  }
  KernelDefBuilder& AddTypeConstraint(const char* name, const std::vector<const OrtDataType*>& types) {
    return Done(GetEpApi().KernelDefBuilder_AddTypeConstraint(p_, name, types.data(), types.size()));
  }
  /// The output is the input, in the same memory.
  KernelDefBuilder& AddInputOutputAlias(int input, int output) {
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputAliases(p_, &input, &output, 1));
  }
  KernelDefBuilder& AddInputOutputAliases(const std::vector<int>& inputs, const std::vector<int>& outputs) {
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputAliases(p_, inputs.data(), outputs.data(), inputs.size()));
  }
  /// The output may be made in the input's memory.
  KernelDefBuilder& AddInputOutputMutableAlias(int input, int output) {
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputMutableAliases(p_, &input, &output, 1));
  }
  KernelDefBuilder& AddInputOutputMutableAliases(const std::vector<int>& inputs, const std::vector<int>& outputs) {
    return Done(GetEpApi().KernelDefBuilder_AddInputOutputMutableAliases(p_, inputs.data(), outputs.data(), inputs.size()));
  }
  KernelDef Build() {
    OrtKernelDef* made = nullptr;
    ThrowOnError(GetEpApi().KernelDefBuilder_Build(p_, &made));
    return KernelDef(made);
  }

 private:
  KernelDefBuilder& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

/// The kernels of a provider.
struct KernelRegistry : detail::Base<OrtKernelRegistry> {
  KernelRegistry() { ThrowOnError(GetEpApi().CreateKernelRegistry(&p_)); }
  explicit KernelRegistry(std::nullptr_t) {}
  explicit KernelRegistry(OrtKernelRegistry* handle) : Base(handle) {}

  Status AddKernel(const OrtKernelDef* definition, OrtKernelCreateFunc create, void* state) {
    return Status(GetEpApi().KernelRegistry_AddKernel(p_, definition, create, state));
  }
};

/// The type of tensors of these elements, for kernels' definitions.
inline const OrtDataType* GetTensorDataType(ONNXTensorElementDataType type) {
  const OrtDataType* out = nullptr;
  ThrowOnError(GetEpApi().GetTensorDataType(type, &out));
  return out;
}

namespace detail {

template <typename T>
struct SharedPrePackedWeightCacheImpl : Base<T> {
  using Base<T>::Base;
  /// The cache takes the buffers over.
  Status StoreWeightData(void** buffers, size_t* sizes, size_t count) {
    return Status(GetEpApi().SharedPrePackedWeightCache_StoreWeightData(this->p_, buffers, sizes, count));
  }
};

}  // namespace detail

/// Packed weights that kernels share; the host's.
using UnownedSharedPrePackedWeightCache = detail::SharedPrePackedWeightCacheImpl<detail::Unowned<OrtSharedPrePackedWeightCache>>;

namespace detail {

template <typename T>
struct ConstOpSchemaTypeConstraintImpl : Base<T> {
  using Base<T>::Base;

  std::string GetTypeParamName() const {
    return Fetch<const char*>(static_cast<const OrtOpSchemaTypeConstraint*>(this->p_), GetEpApi().OpSchemaTypeConstraint_GetTypeParamName);
  }
  std::vector<std::string> GetAllowedTypes() const {
    const char* const* types = nullptr;
    size_t count = 0;
    ThrowOnError(GetEpApi().OpSchemaTypeConstraint_GetAllowedTypes(this->p_, &types, &count));
    return std::vector<std::string>(types, types + count);
  }
  std::vector<size_t> GetInputIndices() const { return Indices(GetEpApi().OpSchemaTypeConstraint_GetInputIndices); }
  std::vector<size_t> GetOutputIndices() const { return Indices(GetEpApi().OpSchemaTypeConstraint_GetOutputIndices); }

 private:
  template <typename F>
  std::vector<size_t> Indices(F function) const {
    const size_t* indices = nullptr;
    size_t count = 0;
    ThrowOnError(function(this->p_, &indices, &count));
    return std::vector<size_t>(indices, indices + count);
  }
};

}  // namespace detail

/// Types that inputs and outputs of an operator may have together; lives as long as its schema.
using ConstOpSchemaTypeConstraint = detail::ConstOpSchemaTypeConstraintImpl<detail::Unowned<const OrtOpSchemaTypeConstraint>>;

namespace detail {

template <typename T>
struct ConstOpSchemaImpl : Base<T> {
  using Base<T>::Base;

  int GetSinceVersion() const { return Fetch<int>(Handle(), GetEpApi().OpSchema_GetSinceVersion); }
  size_t GetNumInputs() const { return Fetch<size_t>(Handle(), GetEpApi().OpSchema_GetNumInputs); }
  size_t GetNumOutputs() const { return Fetch<size_t>(Handle(), GetEpApi().OpSchema_GetNumOutputs); }
  std::string GetInputName(size_t index) const { return At<const char*>(GetEpApi().OpSchema_GetInputName, index); }
  std::string GetOutputName(size_t index) const { return At<const char*>(GetEpApi().OpSchema_GetOutputName, index); }
  /// Null where the port has one fixed type.
  ConstOpSchemaTypeConstraint GetInputTypeConstraint(size_t index) const {
    return ConstOpSchemaTypeConstraint(At<const OrtOpSchemaTypeConstraint*>(GetEpApi().OpSchema_GetInputTypeConstraint, index));
  }
  ConstOpSchemaTypeConstraint GetOutputTypeConstraint(size_t index) const {
    return ConstOpSchemaTypeConstraint(At<const OrtOpSchemaTypeConstraint*>(GetEpApi().OpSchema_GetOutputTypeConstraint, index));
  }
  size_t GetTypeConstraintCount() const { return Fetch<size_t>(Handle(), GetEpApi().OpSchema_GetTypeConstraintCount); }
  ConstOpSchemaTypeConstraint GetTypeConstraint(size_t index) const {
    return ConstOpSchemaTypeConstraint(At<const OrtOpSchemaTypeConstraint*>(GetEpApi().OpSchema_GetTypeConstraint, index));
  }

 private:
  const OrtOpSchema* Handle() const { return this->p_; }
  template <typename R, typename F>
  R At(F function, size_t index) const {
    R result{};
    ThrowOnError(function(this->p_, index, &result));
    return result;
  }
};

}  // namespace detail

using ConstOpSchema = detail::ConstOpSchemaImpl<detail::Unowned<const OrtOpSchema>>;

/// What an operator of the standard is, in one version.
struct OpSchema : detail::ConstOpSchemaImpl<OrtOpSchema> {
  explicit OpSchema(std::nullptr_t) {}
  explicit OpSchema(OrtOpSchema* handle) : ConstOpSchemaImpl(handle) {}
  ConstOpSchema GetConst() const { return ConstOpSchema(p_); }
};

/// Null where no operator of this name is known in the domain, up to the version.
inline OpSchema GetOpSchema(const char* name, int max_inclusive_version, const char* domain) {
  OrtOpSchema* schema = nullptr;
  ThrowOnError(GetEpApi().GetOpSchema(name, max_inclusive_version, domain, &schema));
  return OpSchema(schema);
}

namespace detail {

template <typename T>
struct ConstProfilingEventImpl : Base<T> {
  using Base<T>::Base;

  OrtProfilingEventCategory GetCategory() const {
    return Fetch<OrtProfilingEventCategory>(Handle(), GetEpApi().ProfilingEvent_GetCategory);
  }
  const char* GetName() const { return Fetch<const char*>(Handle(), GetEpApi().ProfilingEvent_GetName); }
  int64_t GetTimestampUs() const { return Fetch<int64_t>(Handle(), GetEpApi().ProfilingEvent_GetTimestampUs); }
  int64_t GetDurationUs() const { return Fetch<int64_t>(Handle(), GetEpApi().ProfilingEvent_GetDurationUs); }
  /// Null where the event has no such argument.
  const char* GetArgValue(const char* key) const {
    const char* value = nullptr;
    ThrowOnError(GetEpApi().ProfilingEvent_GetArgValue(this->p_, key, &value));
    return value;
  }

 private:
  const OrtProfilingEvent* Handle() const { return this->p_; }
};

}  // namespace detail

using ConstProfilingEvent = detail::ConstProfilingEventImpl<detail::Unowned<const OrtProfilingEvent>>;

/// An event of a profile.
struct ProfilingEvent : detail::ConstProfilingEventImpl<OrtProfilingEvent> {
  explicit ProfilingEvent(std::nullptr_t) {}
  explicit ProfilingEvent(OrtProfilingEvent* handle) : ConstProfilingEventImpl(handle) {}
  ProfilingEvent(OrtProfilingEventCategory category, int32_t process_id, int32_t thread_id, const char* name, int64_t timestamp_us,
                 int64_t duration_us, const char* const* keys, const char* const* values, size_t count) {
    ThrowOnError(
        GetEpApi().CreateProfilingEvent(category, process_id, thread_id, name, timestamp_us, duration_us, keys, values, count, &p_));
  }
  ProfilingEvent(OrtProfilingEventCategory category, int32_t process_id, int32_t thread_id, const char* name, int64_t timestamp_us,
                 int64_t duration_us, const std::unordered_map<std::string, std::string>& arguments = {}) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : arguments) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    ThrowOnError(GetEpApi().CreateProfilingEvent(category, process_id, thread_id, name, timestamp_us, duration_us, keys.data(),
                                                 values.data(), keys.size(), &p_));
  }
  ConstProfilingEvent GetConst() const { return ConstProfilingEvent(p_); }
};

/// What a provider's profiler hands its events to; the host's.
struct UnownedProfilingEventsContainer : detail::Base<detail::Unowned<OrtProfilingEventsContainer>> {
  explicit UnownedProfilingEventsContainer(OrtProfilingEventsContainer* container) : Base(container) {}

  Status AddEvents(const std::vector<ProfilingEvent>& events) {
    const std::vector<const OrtProfilingEvent*> handles(events.begin(), events.end());
    return AddEvents(handles.data(), handles.size());
  }
  Status AddEvents(const OrtProfilingEvent* const* events, size_t count) {
    return Status(GetEpApi().ProfilingEventsContainer_AddEvents(p_, events, count));
  }
};

}  // namespace Ort
