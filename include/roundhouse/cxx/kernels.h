// What kernels ask about their node and their call, loggers, and operators that they run by themselves.
#pragma once

#include <cstdio>

#include "graph.h"
#include "memory.h"
#include "session.h"
#include "type_info.h"
#include "value.h"

namespace Ort {

/// Takes messages; never released.
struct Logger {
  Logger() = default;
  explicit Logger(std::nullptr_t) {}
  explicit Logger(const OrtLogger* logger) : logger_(logger) { ThrowOnError(GetApi().Logger_GetLoggingSeverityLevel(logger, &level_)); }

  OrtLoggingLevel GetLoggingSeverityLevel() const noexcept { return level_; }
  Status LogMessage(OrtLoggingLevel level, const ORTCHAR_T* file, int line, const char* function, const char* message) const noexcept {
    return Status(GetApi().Logger_LogMessage(logger_, level, message, file, line, function));
  }
  /// `format` and what follows as for printf.
  template <typename... Args>
  Status LogFormattedMessage(OrtLoggingLevel level, const ORTCHAR_T* file, int line, const char* function, const char* format,
                             Args&&... args) const noexcept {
    const int length = std::snprintf(nullptr, 0, format, args...);
    if (length < 0) return Status("the message cannot be formatted", ORT_FAIL);
    std::string text(static_cast<size_t>(length), '\0');
    std::snprintf(text.data(), text.size() + 1, format, args...);
    return LogMessage(level, file, line, function, text.c_str());
  }

 private:
  const OrtLogger* logger_ = nullptr;
  OrtLoggingLevel level_ = ORT_LOGGING_LEVEL_FATAL;
};

/// One call of a kernel. Values that it gives belong to it.
struct KernelContext {
  explicit KernelContext(OrtKernelContext* context) : context_(context) {}

  size_t GetInputCount() const { return detail::Fetch<size_t>(context_, GetApi().KernelContext_GetInputCount); }
  size_t GetOutputCount() const { return detail::Fetch<size_t>(context_, GetApi().KernelContext_GetOutputCount); }
  /// Null where the input is left out.
  ConstValue GetInput(size_t index) const {
    const OrtValue* value = nullptr;
    ThrowOnError(GetApi().KernelContext_GetInput(context_, index, &value));
    return ConstValue(value);
  }
  /// Null where nobody wants the output.
  UnownedValue GetOutput(size_t index, const int64_t* dims, size_t rank) const {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().KernelContext_GetOutput(context_, index, dims, rank, &value));
    return UnownedValue(value);
  }
  UnownedValue GetOutput(size_t index, const std::vector<int64_t>& dims) const { return GetOutput(index, dims.data(), dims.size()); }
  void* GetGPUComputeStream() const { return detail::Fetch<void*>(context_, GetApi().KernelContext_GetGPUComputeStream); }
  /// Null where the kernel's provider has no streams.
  UnownedSyncStream GetSyncStream() const {
    return UnownedSyncStream(detail::Fetch<OrtSyncStream*>(context_, GetApi().KernelContext_GetSyncStream));
  }
  Logger GetLogger() const { return Logger(detail::Fetch<const OrtLogger*>(context_, GetApi().KernelContext_GetLogger)); }
  /// The caller releases it.
  Allocator GetAllocator(const OrtMemoryInfo& info) const {
    OrtAllocator* allocator = nullptr;
    ThrowOnError(GetApi().KernelContext_GetAllocator(context_, &info, &allocator));
    return Allocator(allocator);
  }
  void* GetScratchBuffer(const OrtMemoryInfo& info, size_t bytes) const {
    void* memory = nullptr;
    ThrowOnError(GetApi().KernelContext_GetScratchBuffer(context_, &info, bytes, &memory));
    return memory;
  }
  OrtKernelContext* GetOrtKernelContext() const { return context_; }
  /// Calls function(data, i) for i in [0, total), in `batches` pieces, 0: as many as there are threads' worth.
  void ParallelFor(void (*function)(void*, size_t), size_t total, size_t batches, void* data) const {
    ThrowOnError(GetApi().KernelContext_ParallelFor(context_, function, total, batches, data));
  }

 private:
  OrtKernelContext* context_;
};

struct KernelInfo;

namespace detail {

/// A text that `function` writes into a buffer.
template <typename F>
std::string FetchText(F function) {
  size_t size = 0;
  ThrowOnError(function(nullptr, &size));
  std::string text(size, '\0');
  ThrowOnError(function(text.data(), &size));
  text.resize(size > 0 ? size - 1 : 0);
  return text;
}

template <typename T>
struct KernelInfoImpl : Base<T> {
  using Base<T>::Base;

  KernelInfo Copy() const;

  /// R: float, int64_t or std::string.
  template <typename R>
  R GetAttribute(const char* name) const {
    if constexpr (std::is_same_v<R, std::string>) {
      return FetchText([&](char* out, size_t* size) { return GetApi().KernelInfoGetAttribute_string(this->p_, name, out, size); });
    } else {
      R value{};
      if constexpr (std::is_same_v<R, float>) {
        ThrowOnError(GetApi().KernelInfoGetAttribute_float(this->p_, name, &value));
      } else {
        static_assert(std::is_same_v<R, int64_t>, "attributes are float, int64_t or std::string");
        ThrowOnError(GetApi().KernelInfoGetAttribute_int64(this->p_, name, &value));
      }
      return value;
    }
  }
  template <typename R>
  std::vector<R> GetAttributes(const char* name) const {
    std::vector<R> values;
    if constexpr (std::is_same_v<R, std::string>) {
      const AllocatorWithDefaultOptions allocator;
      char** texts = nullptr;
      size_t count = 0;
      ThrowOnError(GetApi().KernelInfoGetAttributeArray_string(this->p_, name, allocator, &texts, &count));
      const std::unique_ptr<char*, AllocatedFree> owned(texts, AllocatedFree(allocator));
      for (size_t i = 0; i < count; ++i) values.emplace_back(AllocatedStringPtr(texts[i], AllocatedFree(allocator)).get());
    } else {
      const auto read = [&](R* out, size_t* count) {
        if constexpr (std::is_same_v<R, float>) {
          ThrowOnError(GetApi().KernelInfoGetAttributeArray_float(this->p_, name, out, count));
        } else {
          static_assert(std::is_same_v<R, int64_t>, "attributes are float, int64_t or std::string");
          ThrowOnError(GetApi().KernelInfoGetAttributeArray_int64(this->p_, name, out, count));
        }
      };
      size_t count = 0;
      read(nullptr, &count);
      values.resize(count);
      if (count > 0) read(values.data(), &count);
    }
    return values;
  }
  Value GetTensorAttribute(const char* name, OrtAllocator* allocator) const {
    OrtValue* value = nullptr;
    ThrowOnError(GetApi().KernelInfoGetAttribute_tensor(this->p_, name, allocator, &value));
    return Value(value);
  }

  size_t GetInputCount() const { return Fetch<size_t>(Handle(), GetApi().KernelInfo_GetInputCount); }
  size_t GetOutputCount() const { return Fetch<size_t>(Handle(), GetApi().KernelInfo_GetOutputCount); }
  std::string GetInputName(size_t index) const {
    return FetchText([&](char* out, size_t* size) { return GetApi().KernelInfo_GetInputName(this->p_, index, out, size); });
  }
  std::string GetOutputName(size_t index) const {
    return FetchText([&](char* out, size_t* size) { return GetApi().KernelInfo_GetOutputName(this->p_, index, out, size); });
  }
  TypeInfo GetInputTypeInfo(size_t index) const {
    OrtTypeInfo* type = nullptr;
    ThrowOnError(GetApi().KernelInfo_GetInputTypeInfo(this->p_, index, &type));
    return TypeInfo(type);
  }
  TypeInfo GetOutputTypeInfo(size_t index) const {
    OrtTypeInfo* type = nullptr;
    ThrowOnError(GetApi().KernelInfo_GetOutputTypeInfo(this->p_, index, &type));
    return TypeInfo(type);
  }
  ConstValue GetTensorConstantInput(size_t index, int* is_constant) const {
    const OrtValue* value = nullptr;
    ThrowOnError(GetApi().KernelInfoGetConstantInput_tensor(this->p_, index, is_constant, &value));
    return ConstValue(value);
  }

  std::string GetNodeName() const {
    return FetchText([&](char* out, size_t* size) { return GetApi().KernelInfo_GetNodeName(this->p_, out, size); });
  }
  std::string GetOperatorDomain() const {
    return FetchText([&](char* out, size_t* size) { return GetApi().KernelInfo_GetOperatorDomain(this->p_, out, size); });
  }
  std::string GetOperatorType() const {
    return FetchText([&](char* out, size_t* size) { return GetApi().KernelInfo_GetOperatorType(this->p_, out, size); });
  }
  int GetOperatorSinceVersion() const { return Fetch<int>(Handle(), GetApi().KernelInfo_GetOperatorSinceVersion); }
  Logger GetLogger() const { return Logger(Fetch<const OrtLogger*>(Handle(), GetApi().KernelInfo_GetLogger)); }
  /// The provider that the kernel is of; throws for kernels of the host's own.
  const OrtEp* GetEp() const { return Fetch<const OrtEp*>(Handle(), GetEpApi().KernelInfo_GetEp); }
  KeyValuePairs GetConfigEntries() const { return KeyValuePairs(Fetch<OrtKeyValuePairs*>(Handle(), GetApi().KernelInfo_GetConfigEntries)); }

 private:
  const OrtKernelInfo* Handle() const { return this->p_; }
};

}  // namespace detail

using ConstKernelInfo = detail::KernelInfoImpl<detail::Unowned<const OrtKernelInfo>>;

/// What a kernel may know of its node when it is made; a copy outlives that.
struct KernelInfo : detail::KernelInfoImpl<OrtKernelInfo> {
  KernelInfo() = default;
  explicit KernelInfo(std::nullptr_t) {}
  explicit KernelInfo(OrtKernelInfo* info) : KernelInfoImpl(info) {}
  ConstKernelInfo GetConst() const { return ConstKernelInfo(p_); }
};

namespace detail {

template <typename T>
KernelInfo KernelInfoImpl<T>::Copy() const {
  OrtKernelInfo* copy = nullptr;
  ThrowOnError(GetApi().CopyKernelInfo(this->p_, &copy));
  return KernelInfo(copy);
}

}  // namespace detail

/// An operator that a kernel runs by itself.
struct Op : detail::Base<OrtOp> {
  Op() = default;
  explicit Op(std::nullptr_t) {}
  explicit Op(OrtOp* op) : Base(op) {}

  static Op Create(const OrtKernelInfo* info, const char* op_name, const char* domain, int version, const char** parameter_names,
                   const ONNXTensorElementDataType* parameter_types, size_t parameter_count, const OpAttr* attributes,
                   size_t attribute_count, size_t input_count, size_t output_count) {
    static_assert(sizeof(OpAttr) == sizeof(OrtOpAttr*), "arrays of OpAttr are handed on as arrays of handles");
    OrtOp* op = nullptr;
    ThrowOnError(GetApi().CreateOp(info, op_name, domain, version, parameter_names, parameter_types, static_cast<int>(parameter_count),
                                   reinterpret_cast<const OrtOpAttr* const*>(attributes), static_cast<int>(attribute_count),
                                   static_cast<int>(input_count), static_cast<int>(output_count), &op));
    return Op(op);
  }

  void Invoke(const OrtKernelContext* context, const Value* inputs, size_t input_count, Value* outputs, size_t output_count) {
    Invoke(context, reinterpret_cast<const OrtValue* const*>(inputs), input_count, reinterpret_cast<OrtValue* const*>(outputs),
           output_count);
  }
  void Invoke(const OrtKernelContext* context, const OrtValue* const* inputs, size_t input_count, OrtValue* const* outputs,
              size_t output_count) {
    ThrowOnError(GetApi().InvokeOp(context, p_, inputs, static_cast<int>(input_count), outputs, static_cast<int>(output_count)));
  }
};

}  // namespace Ort

#define ORT_CXX_LOG(logger, severity, message)                                                                                   \
  do {                                                                                                                           \
    if ((severity) >= (logger).GetLoggingSeverityLevel()) {                                                                      \
      Ort::ThrowOnError((logger).LogMessage((severity), ORT_FILE, __LINE__, static_cast<const char*>(__FUNCTION__), (message))); \
    }                                                                                                                            \
  } while (false)
#define ORT_CXX_LOG_NOEXCEPT(logger, severity, message)                                                                          \
  do {                                                                                                                           \
    if ((severity) >= (logger).GetLoggingSeverityLevel()) {                                                                      \
      static_cast<void>((logger).LogMessage((severity), ORT_FILE, __LINE__, static_cast<const char*>(__FUNCTION__), (message))); \
    }                                                                                                                            \
  } while (false)
#define ORT_CXX_LOGF(logger, severity, ...)                                                                                   \
  do {                                                                                                                        \
    if ((severity) >= (logger).GetLoggingSeverityLevel()) {                                                                   \
      Ort::ThrowOnError(                                                                                                      \
          (logger).LogFormattedMessage((severity), ORT_FILE, __LINE__, static_cast<const char*>(__FUNCTION__), __VA_ARGS__)); \
    }                                                                                                                         \
  } while (false)
#define ORT_CXX_LOGF_NOEXCEPT(logger, severity, ...)                                                                          \
  do {                                                                                                                        \
    if ((severity) >= (logger).GetLoggingSeverityLevel()) {                                                                   \
      static_cast<void>(                                                                                                      \
          (logger).LogFormattedMessage((severity), ORT_FILE, __LINE__, static_cast<const char*>(__FUNCTION__), __VA_ARGS__)); \
    }                                                                                                                         \
  } while (false)
