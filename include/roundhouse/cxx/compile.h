// Compiling models ahead of time.
#pragma once

#include "graph.h"

namespace Ort {

/// What is compiled, for which providers, and where the result goes. What it is given by pointer must live until the compilation.
struct ModelCompilationOptions : detail::Base<OrtModelCompilationOptions> {
  explicit ModelCompilationOptions(std::nullptr_t) {}
  ModelCompilationOptions(const Env& env, const SessionOptions& options) {
    ThrowOnError(GetCompileApi().CreateModelCompilationOptionsFromSessionOptions(env, options, &p_));
  }
  ModelCompilationOptions(const Env& env, ConstSessionOptions options) {
    ThrowOnError(GetCompileApi().CreateModelCompilationOptionsFromSessionOptions(env, options, &p_));
  }

  ModelCompilationOptions& SetInputModelPath(const ORTCHAR_T* path) {
    return Done(GetCompileApi().ModelCompilationOptions_SetInputModelPath(p_, path));
  }
#ifndef _WIN32
  ModelCompilationOptions& SetInputModelPath(const wchar_t* path) { return SetInputModelPath(detail::Utf8(path).c_str()); }
  ModelCompilationOptions& SetOutputModelPath(const wchar_t* path) { return SetOutputModelPath(detail::Utf8(path).c_str()); }
#endif
  ModelCompilationOptions& SetInputModelFromBuffer(const void* data, size_t bytes) {
    return Done(GetCompileApi().ModelCompilationOptions_SetInputModelFromBuffer(p_, data, bytes));
  }
  ModelCompilationOptions& SetInputModel(const OrtModel* model) {
    return Done(GetCompileApi().ModelCompilationOptions_SetInputModel(p_, model));
  }
  ModelCompilationOptions& SetOutputModelPath(const ORTCHAR_T* path) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelPath(p_, path));
  }
  /// The buffer comes from the allocator.
  ModelCompilationOptions& SetOutputModelBuffer(OrtAllocator* allocator, void** buffer, size_t* bytes) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelBuffer(p_, allocator, buffer, bytes));
  }
  ModelCompilationOptions& SetOutputModelWriteFunc(OrtWriteBufferFunc write, void* state) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelWriteFunc(p_, write, state));
  }
  /// Initializers of at least `threshold` bytes go to the file, named relative to the folder of the output.
  ModelCompilationOptions& SetOutputModelExternalInitializersFile(const ORTCHAR_T* path, size_t threshold) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelExternalInitializersFile(p_, path, threshold));
  }
  ModelCompilationOptions& SetOutputModelGetInitializerLocationFunc(OrtGetInitializerLocationFunc locate, void* state) {
    return Done(GetCompileApi().ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(p_, locate, state));
  }
  ModelCompilationOptions& SetEpContextEmbedMode(bool embed) {
    return Done(GetCompileApi().ModelCompilationOptions_SetEpContextEmbedMode(p_, embed));
  }
  ModelCompilationOptions& SetEpContextBinaryInformation(const ORTCHAR_T* output_directory, const ORTCHAR_T* model_name) {
    return Done(GetCompileApi().ModelCompilationOptions_SetEpContextBinaryInformation(p_, output_directory, model_name));
  }
  ModelCompilationOptions& SetEpContextDataWriteFunc(OrtWriteNamedBufferFunc write, void* state) {
    return Done(GetCompileApi().ModelCompilationOptions_SetEpContextDataWriteFunc(p_, write, state));
  }
  /// Bits of OrtCompileApiFlags.
  ModelCompilationOptions& SetFlags(uint32_t flags) { return Done(GetCompileApi().ModelCompilationOptions_SetFlags(p_, flags)); }
  ModelCompilationOptions& SetGraphOptimizationLevel(GraphOptimizationLevel level) {
    return Done(GetCompileApi().ModelCompilationOptions_SetGraphOptimizationLevel(p_, level));
  }
  ModelCompilationOptions& SetWeightlessEnabled(bool enabled) {
    return Done(GetCompileApi().ModelCompilationOptions_SetWeightlessEnabled(p_, enabled));
  }

 private:
  ModelCompilationOptions& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

inline Status CompileModel(const Env& env, const ModelCompilationOptions& options) {
  return Status(GetCompileApi().CompileModel(env, options));
}

/// What a compiled model says of itself to a provider, for GetModelCompatibilityForEpDevices; null where it says nothing to that one.
inline AllocatedStringPtr GetCompatibilityInfoFromModelAllocated(const ORTCHAR_T* path, const char* ep_name, OrtAllocator* allocator) {
  char* text = nullptr;
  ThrowOnError(GetApi().GetCompatibilityInfoFromModel(path, ep_name, allocator, &text));
  return AllocatedStringPtr(text, detail::AllocatedFree(allocator));
}
inline AllocatedStringPtr GetCompatibilityInfoFromModelBytesAllocated(const void* data, size_t bytes, const char* ep_name,
                                                                      OrtAllocator* allocator) {
  char* text = nullptr;
  ThrowOnError(GetApi().GetCompatibilityInfoFromModelBytes(data, bytes, ep_name, allocator, &text));
  return AllocatedStringPtr(text, detail::AllocatedFree(allocator));
}
/// Whether devices of one provider run what was compiled; `info` is that text.
inline OrtCompiledModelCompatibility GetModelCompatibilityForEpDevices(const std::vector<ConstEpDevice>& devices, const char* info) {
  const std::vector<const OrtEpDevice*> handles(devices.begin(), devices.end());
  OrtCompiledModelCompatibility result = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  ThrowOnError(GetApi().GetModelCompatibilityForEpDevices(handles.data(), handles.size(), info, &result));
  return result;
}

}  // namespace Ort
