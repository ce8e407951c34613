// Inputs and outputs bound once for many runs.
#pragma once

#include "session.h"

namespace Ort {

namespace detail {

template <typename T>
class ConstIoBindingApi : public Base<T> {
 public:
  using Base<T>::Base;

  std::vector<std::string> GetOutputNames() const { return GetOutputNames(AllocatorWithDefaultOptions()); }
  std::vector<std::string> GetOutputNames(OrtAllocator* allocator) const {
    char* text = nullptr;
    size_t* lengths = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().GetBoundOutputNames(this->p_, allocator, &text, &lengths, &count));
    const std::unique_ptr<char, detail::AllocatedFree> owned_text(text, detail::AllocatedFree(allocator));
    const std::unique_ptr<size_t, detail::AllocatedFree> owned_lengths(lengths, detail::AllocatedFree(allocator));
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      names.emplace_back(text, lengths[i]);
      text += lengths[i];
    }
    return names;
  }
  std::vector<Value> GetOutputValues() const { return GetOutputValues(AllocatorWithDefaultOptions()); }
  std::vector<Value> GetOutputValues(OrtAllocator* allocator) const {
    OrtValue** values = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().GetBoundOutputValues(this->p_, allocator, &values, &count));
    const std::unique_ptr<OrtValue*, detail::AllocatedFree> owned(values, detail::AllocatedFree(allocator));
    std::vector<Value> out;
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) out.emplace_back(values[i]);
    return out;
  }
};

template <typename T>
class IoBindingApi : public ConstIoBindingApi<T> {
 public:
  using ConstIoBindingApi<T>::ConstIoBindingApi;

  void BindInput(const char* name, const OrtValue* value) { ThrowOnError(GetApi().BindInput(this->p_, name, value)); }
  void BindOutput(const char* name, const OrtValue* value) { ThrowOnError(GetApi().BindOutput(this->p_, name, value)); }
  /// The run allocates the output in this memory.
  void BindOutput(const char* name, const OrtMemoryInfo* info) { ThrowOnError(GetApi().BindOutputToDevice(this->p_, name, info)); }
  void ClearBoundInputs() { GetApi().ClearBoundInputs(this->p_); }
  void ClearBoundOutputs() { GetApi().ClearBoundOutputs(this->p_); }
  void SynchronizeInputs() { ThrowOnError(GetApi().SynchronizeBoundInputs(this->p_)); }
  void SynchronizeOutputs() { ThrowOnError(GetApi().SynchronizeBoundOutputs(this->p_)); }
};

}  // namespace detail

using ConstIoBinding = detail::ConstIoBindingApi<detail::Unowned<const OrtIoBinding>>;
using UnownedIoBinding = detail::IoBindingApi<detail::Unowned<OrtIoBinding>>;

struct IoBinding : detail::IoBindingApi<OrtIoBinding> {
  explicit IoBinding(std::nullptr_t) {}
  explicit IoBinding(OrtSession* session) { ThrowOnError(GetApi().CreateIoBinding(session, &p_)); }
  ConstIoBinding GetConst() const { return ConstIoBinding(p_); }
  UnownedIoBinding GetUnowned() const { return UnownedIoBinding(p_); }
};

namespace detail {

template <typename T>
void SessionApi<T>::Run(const RunOptions& options, const IoBinding& binding) {
  ThrowOnError(GetApi().RunWithBinding(this->p_, options, binding));
}

}  // namespace detail

}  // namespace Ort
