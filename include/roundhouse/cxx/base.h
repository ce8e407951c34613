// Access to the table, errors and handles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../onnxruntime_ep_c_api.h"

#if !defined(__cpp_exceptions) && !defined(_CPPUNWIND) && !defined(ORT_NO_EXCEPTIONS)
#define ORT_NO_EXCEPTIONS
#endif
#ifdef ORT_NO_EXCEPTIONS
#include <cstdio>
#include <cstdlib>
#endif

/// What `arena_extend_strategy` of providers' options may be.
struct OrtArenaExtendStrategy {
  static constexpr int kNextPowerOfTwo = 0;   ///< each region is twice as large as the one before
  static constexpr int kSameAsRequested = 1;  ///< as large as the request
};

namespace Ort {

/// A failed call: its code and message.
class Exception : public std::exception {
 public:
  Exception(std::string message, OrtErrorCode code) : message_(std::move(message)), code_(code) {}

  OrtErrorCode GetOrtErrorCode() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
  OrtErrorCode code_;
};

#ifdef ORT_NO_EXCEPTIONS
#ifndef ORT_CXX_API_THROW  // the program's own must not go on
#define ORT_CXX_API_THROW(message, code)                                  \
  do {                                                                    \
    std::fprintf(stderr, "%s\n", ::Ort::Exception(message, code).what()); \
    std::abort();                                                         \
  } while (false)
#endif
#else
#define ORT_CXX_API_THROW(message, code) throw ::Ort::Exception(message, code)
#endif

namespace detail {

inline const OrtApi*& api_pointer() {
#ifdef ORT_API_MANUAL_INIT
  static const OrtApi* api = nullptr;
#else
  static const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
#endif
  return api;
}

}  // namespace detail

/// The C table that all of this namespace calls.
inline const OrtApi& GetApi() noexcept { return *detail::api_pointer(); }

/// Where ORT_API_MANUAL_INIT is defined: must come before any other call.
inline void InitApi(const OrtApi* api = OrtGetApiBase()->GetApi(ORT_API_VERSION)) noexcept { detail::api_pointer() = api; }

inline std::string GetVersionString() { return OrtGetApiBase()->GetVersionString(); }
inline std::string GetBuildInfoString() { return GetApi().GetBuildInfoString(); }
inline const OrtModelEditorApi& GetModelEditorApi() { return *GetApi().GetModelEditorApi(); }
inline const OrtCompileApi& GetCompileApi() { return *GetApi().GetCompileApi(); }
inline const OrtEpApi& GetEpApi() { return *GetApi().GetEpApi(); }
inline const OrtInteropApi& GetInteropApi() { return *GetApi().GetInteropApi(); }

namespace detail {

inline void ThrowStatus(OrtStatus* status) {
  std::string message = GetApi().GetErrorMessage(status);
  const OrtErrorCode code = GetApi().GetErrorCode(status);
  GetApi().ReleaseStatus(status);
  ORT_CXX_API_THROW(std::move(message), code);
}

}  // namespace detail

/// Throws what a call returned, and releases it; null is success.
inline void ThrowOnError(OrtStatus* status) {
  if (status) detail::ThrowStatus(status);
}

namespace detail {

// What releases each kind of handle.
#define ORT_DEFINE_RELEASE(NAME) \
  inline void OrtRelease(Ort##NAME* handle) { GetApi().Release##NAME(handle); }
ORT_DEFINE_RELEASE(Allocator)
ORT_DEFINE_RELEASE(ArenaCfg)
ORT_DEFINE_RELEASE(CustomOpDomain)
ORT_DEFINE_RELEASE(DeviceEpIncompatibilityDetails)
ORT_DEFINE_RELEASE(Env)
ORT_DEFINE_RELEASE(ExternalInitializerInfo)
ORT_DEFINE_RELEASE(Graph)
ORT_DEFINE_RELEASE(IoBinding)
ORT_DEFINE_RELEASE(KeyValuePairs)
ORT_DEFINE_RELEASE(KernelInfo)
ORT_DEFINE_RELEASE(LoraAdapter)
ORT_DEFINE_RELEASE(MapTypeInfo)
ORT_DEFINE_RELEASE(MemoryInfo)
ORT_DEFINE_RELEASE(Model)
ORT_DEFINE_RELEASE(ModelMetadata)
ORT_DEFINE_RELEASE(Node)
ORT_DEFINE_RELEASE(Op)
ORT_DEFINE_RELEASE(OpAttr)
ORT_DEFINE_RELEASE(PrepackedWeightsContainer)
ORT_DEFINE_RELEASE(RunOptions)
ORT_DEFINE_RELEASE(SequenceTypeInfo)
ORT_DEFINE_RELEASE(Session)
ORT_DEFINE_RELEASE(SessionOptions)
ORT_DEFINE_RELEASE(Status)
ORT_DEFINE_RELEASE(SyncStream)
ORT_DEFINE_RELEASE(TensorTypeAndShapeInfo)
ORT_DEFINE_RELEASE(ThreadingOptions)
ORT_DEFINE_RELEASE(TypeInfo)
ORT_DEFINE_RELEASE(Value)
ORT_DEFINE_RELEASE(ValueInfo)
#undef ORT_DEFINE_RELEASE
#define ORT_DEFINE_RELEASE_OF_PROVIDERS(NAME) \
  inline void OrtRelease(Ort##NAME* handle) { GetEpApi().Release##NAME(handle); }
ORT_DEFINE_RELEASE_OF_PROVIDERS(EpDevice)
ORT_DEFINE_RELEASE_OF_PROVIDERS(HardwareDevice)
ORT_DEFINE_RELEASE_OF_PROVIDERS(KernelDef)
ORT_DEFINE_RELEASE_OF_PROVIDERS(KernelDefBuilder)
ORT_DEFINE_RELEASE_OF_PROVIDERS(KernelRegistry)
ORT_DEFINE_RELEASE_OF_PROVIDERS(OpSchema)
ORT_DEFINE_RELEASE_OF_PROVIDERS(ProfilingEvent)
#undef ORT_DEFINE_RELEASE_OF_PROVIDERS
inline void OrtRelease(OrtCUDAProviderOptionsV2* handle) { GetApi().ReleaseCUDAProviderOptions(handle); }
inline void OrtRelease(OrtTensorRTProviderOptionsV2* handle) { GetApi().ReleaseTensorRTProviderOptions(handle); }
inline void OrtRelease(OrtModelCompilationOptions* handle) { GetCompileApi().ReleaseModelCompilationOptions(handle); }

/// Marks a handle that somebody else releases; T may be const.
template <typename T>
struct Unowned {
  using Type = T;
};

/// Owns a handle of the C ABI.
template <typename T>
class Base {
 public:
  using contained_type = T;

  constexpr Base() = default;
  constexpr explicit Base(T* handle) noexcept : p_(handle) {}
  ~Base() {
    if (p_) OrtRelease(p_);
  }
  Base(const Base&) = delete;
  Base& operator=(const Base&) = delete;
  Base(Base&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Base& operator=(Base&& other) noexcept {
    if (this != &other) {
      if (p_) OrtRelease(p_);
      p_ = std::exchange(other.p_, nullptr);
    }
    return *this;
  }

  constexpr operator T*() const noexcept { return p_; }
  /// Gives up the handle.
  T* release() { return std::exchange(p_, nullptr); }

 protected:
  T* p_ = nullptr;
};

/// Refers to a handle of the C ABI.
template <typename T>
class Base<Unowned<T>> {
 public:
  using contained_type = T;

  constexpr Base() = default;
  constexpr explicit Base(T* handle) noexcept : p_(handle) {}

  constexpr operator T*() const noexcept { return p_; }

 protected:
  T* p_ = nullptr;
};

/// Frees memory with the allocator that it came from.
struct AllocatedFree {
  OrtAllocator* allocator_ = nullptr;
  AllocatedFree() = default;
  explicit AllocatedFree(OrtAllocator* allocator) : allocator_(allocator) {}
  void operator()(void* memory) const {
    if (memory) allocator_->Free(allocator_, memory);
  }
};

}  // namespace detail

/// A C string from an allocator.
using AllocatedStringPtr = std::unique_ptr<char, detail::AllocatedFree>;

/// The outcome of a call, kept instead of thrown. A null handle is success.
struct Status : detail::Base<OrtStatus> {
  Status() = default;
  explicit Status(std::nullptr_t) noexcept {}
  explicit Status(OrtStatus* status) noexcept : Base(status) {}
  explicit Status(const Exception& exception) : Status(exception.what(), exception.GetOrtErrorCode()) {}
  explicit Status(const std::exception& exception) : Status(exception.what(), ORT_FAIL) {}
  Status(const std::string& message, OrtErrorCode code) : Status(message.c_str(), code) {}
  Status(const char* message, OrtErrorCode code) : Base(GetApi().CreateStatus(code, message)) {}

  bool IsOK() const noexcept { return p_ == nullptr; }
  std::string GetErrorMessage() const { return p_ ? GetApi().GetErrorMessage(p_) : ""; }
  OrtErrorCode GetErrorCode() const { return p_ ? GetApi().GetErrorCode(p_) : ORT_OK; }
};

/// In a function that returns an Ort::Status: returns that of a call of the C interface where it failed.
#define ORT_CXX_RETURN_ON_API_FAIL(call)                                    \
  do {                                                                      \
    if (OrtStatus* ort_failure = (call)) return ::Ort::Status(ort_failure); \
  } while (false)
/// `if constexpr` since C++17, which is the oldest that these headers take.
#define ORT_CXX_IF_CONSTEXPR if constexpr

/// Throws a failed status and leaves it as it is.
inline void ThrowOnError(const Status& status) {
  if (!status.IsOK()) ORT_CXX_API_THROW(status.GetErrorMessage(), status.GetErrorCode());
}

/// Names of the providers that are built in, in order of preference.
inline std::vector<std::string> GetAvailableProviders() {
  char** names = nullptr;
  int count = 0;
  ThrowOnError(GetApi().GetAvailableProviders(&names, &count));
  std::vector<std::string> out(names, names + count);
  ThrowOnError(GetApi().ReleaseAvailableProviders(names, count));
  return out;
}

}  // namespace Ort
