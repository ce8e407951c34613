#pragma once

#include "options.h"

namespace rh::python {

/// A device of a provider; valid until its library is unregistered.
struct PyEpDevice {
  Ort::ConstEpDevice device;
};

/// A stream that Python asked for; released with the object.
struct PySyncStream {
  explicit PySyncStream(OrtSyncStream* stream) : raw(stream) {}
  PySyncStream(PySyncStream&& other) noexcept : raw(std::exchange(other.raw, nullptr)) {}
  PySyncStream(const PySyncStream&) = delete;
  ~PySyncStream() { Ort::GetApi().ReleaseSyncStream(raw); }
  OrtSyncStream* raw;
};
PySyncStream create_sync_stream(const PyEpDevice& device);

void append_devices(OrtSessionOptions* options, const std::vector<const OrtEpDevice*>& devices,
                    const std::map<std::string, std::string>& provider_options);
/// What the settings say about choosing providers where none is named.
void apply_selection(OrtSessionOptions* options, const SessionSettings& settings);
void add_provider_for_devices(SessionSettings& settings, const std::vector<PyEpDevice>& devices,
                              std::map<std::string, std::string> options);

void bind_ep_devices(nb::module_& module);

}  // namespace rh::python
