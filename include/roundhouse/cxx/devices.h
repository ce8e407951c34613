// Hardware of the machine, and the providers that run on it.
#pragma once

#include "memory.h"

namespace Ort {

namespace detail {

template <typename T>
struct HardwareDeviceImpl : Base<T> {
  using Base<T>::Base;

  OrtHardwareDeviceType Type() const { return GetApi().HardwareDevice_Type(this->p_); }
  uint32_t VendorId() const { return GetApi().HardwareDevice_VendorId(this->p_); }
  uint32_t DeviceId() const { return GetApi().HardwareDevice_DeviceId(this->p_); }
  const char* Vendor() const { return GetApi().HardwareDevice_Vendor(this->p_); }
  ConstKeyValuePairs Metadata() const { return ConstKeyValuePairs(GetApi().HardwareDevice_Metadata(this->p_)); }
};

}  // namespace detail

/// Lives as long as the environment.
using ConstHardwareDevice = detail::HardwareDeviceImpl<detail::Unowned<const OrtHardwareDevice>>;

namespace detail {

template <typename T>
struct SyncStreamImpl : Base<T> {
  using Base<T>::Base;
  /// The provider's own stream, such as a cudaStream_t.
  void* GetHandle() { return GetApi().SyncStream_GetHandle(this->p_); }
};

}  // namespace detail

using UnownedSyncStream = detail::SyncStreamImpl<detail::Unowned<OrtSyncStream>>;

/// A stream of a provider's device.
struct SyncStream : detail::SyncStreamImpl<OrtSyncStream> {
  explicit SyncStream(std::nullptr_t) {}
  explicit SyncStream(OrtSyncStream* handle) : SyncStreamImpl(handle) {}
  UnownedSyncStream GetUnowned() const { return UnownedSyncStream(p_); }
};

namespace detail {

template <typename T>
struct EpDeviceImpl : Base<T> {
  using Base<T>::Base;

  const char* EpName() const { return GetApi().EpDevice_EpName(this->p_); }
  const char* EpVendor() const { return GetApi().EpDevice_EpVendor(this->p_); }
  ConstKeyValuePairs EpMetadata() const { return ConstKeyValuePairs(GetApi().EpDevice_EpMetadata(this->p_)); }
  ConstKeyValuePairs EpOptions() const { return ConstKeyValuePairs(GetApi().EpDevice_EpOptions(this->p_)); }
  ConstHardwareDevice Device() const { return ConstHardwareDevice(GetApi().EpDevice_Device(this->p_)); }
  /// Null where the provider declares none.
  ConstMemoryInfo GetMemoryInfo(OrtDeviceMemoryType type) const { return ConstMemoryInfo(GetApi().EpDevice_MemoryInfo(this->p_, type)); }
  /// Throws where the provider has no streams.
  SyncStream CreateSyncStream(ConstKeyValuePairs options = {}) const {
    OrtSyncStream* stream = nullptr;
    ThrowOnError(GetApi().CreateSyncStreamForEpDevice(this->p_, options, &stream));
    return SyncStream(stream);
  }
};

}  // namespace detail

/// Why a provider cannot use a device.
struct DeviceEpIncompatibilityDetails : detail::Base<OrtDeviceEpIncompatibilityDetails> {
  explicit DeviceEpIncompatibilityDetails(std::nullptr_t) {}
  explicit DeviceEpIncompatibilityDetails(OrtDeviceEpIncompatibilityDetails* handle) : Base(handle) {}

  /// Bits of OrtDeviceEpIncompatibilityReason; 0: it can.
  uint32_t GetReasonsBitmask() const {
    uint32_t reasons = 0;
    ThrowOnError(GetApi().DeviceEpIncompatibilityDetails_GetReasonsBitmask(p_, &reasons));
    return reasons;
  }
  std::string GetNotes() const {
    const char* notes = nullptr;
    ThrowOnError(GetApi().DeviceEpIncompatibilityDetails_GetNotes(p_, &notes));
    return notes ? notes : "";
  }
  int32_t GetErrorCode() const {
    int32_t code = 0;
    ThrowOnError(GetApi().DeviceEpIncompatibilityDetails_GetErrorCode(p_, &code));
    return code;
  }
};

/// A provider on a device; lives until the provider's library is unregistered.
using ConstEpDevice = detail::EpDeviceImpl<detail::Unowned<const OrtEpDevice>>;

/// One that a provider's library makes, for its factory to hand over.
struct EpDevice : detail::EpDeviceImpl<OrtEpDevice> {
  explicit EpDevice(std::nullptr_t) {}
  explicit EpDevice(OrtEpDevice* handle) : EpDeviceImpl(handle) {}
  EpDevice(OrtEpFactory& factory, ConstHardwareDevice& hardware, ConstKeyValuePairs metadata = {}, ConstKeyValuePairs options = {}) {
    ThrowOnError(GetEpApi().CreateEpDevice(&factory, hardware, metadata, options, &p_));
  }
};

namespace detail {

template <typename T>
struct EpAssignedNodeImpl : Base<T> {
  using Base<T>::Base;

  std::string GetName() const { return Text(GetApi().EpAssignedNode_GetName); }
  std::string GetDomain() const { return Text(GetApi().EpAssignedNode_GetDomain); }
  std::string GetOperatorType() const { return Text(GetApi().EpAssignedNode_GetOperatorType); }

 private:
  template <typename F>
  std::string Text(F function) const {
    const char* text = nullptr;
    ThrowOnError(function(this->p_, &text));
    return text;
  }
};

}  // namespace detail

/// A node that a provider took; lives as long as the session.
using ConstEpAssignedNode = detail::EpAssignedNodeImpl<detail::Unowned<const OrtEpAssignedNode>>;

namespace detail {

template <typename T>
struct EpAssignedSubgraphImpl : Base<T> {
  using Base<T>::Base;

  std::string GetEpName() const {
    const char* name = nullptr;
    ThrowOnError(GetApi().EpAssignedSubgraph_GetEpName(this->p_, &name));
    return name;
  }
  std::vector<ConstEpAssignedNode> GetNodes() const {
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().EpAssignedSubgraph_GetNodes(this->p_, &nodes, &count));
    return std::vector<ConstEpAssignedNode>(nodes, nodes + count);
  }
};

}  // namespace detail

/// Nodes that a provider took together; lives as long as the session.
using ConstEpAssignedSubgraph = detail::EpAssignedSubgraphImpl<detail::Unowned<const OrtEpAssignedSubgraph>>;

}  // namespace Ort
