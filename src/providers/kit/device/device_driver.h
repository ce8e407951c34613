#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "providers/kit/host/host.h"

namespace rh::kit {

/// A vendor's stream, as a host hands it on to kernels, and an event on one. Null is none.
using StreamHandle = void*;
using EventHandle = void*;

enum class CopyKind : unsigned char { to_device, to_host, within_device };

/// Memory and streams of one device, which a vendor fills in; the kit makes allocators, copies and streams of hosts out of them.
/// Thread-safe. Functions throw Error, also of work that was submitted earlier and failed.
class DeviceDriver {
 public:
  virtual ~DeviceDriver() = default;

  virtual void* allocate(size_t bytes) = 0;
  /// Work that was submitted before may still use the memory: it is waited for.
  virtual void free(void* memory) noexcept = 0;
  /// Memory of the host that copies reach without staging.
  virtual void* allocate_pinned(size_t bytes) = 0;
  virtual void free_pinned(void* memory) noexcept = 0;

  /// In the stream's order; done at the return without a stream. Memory of the host that is not pinned has been read, or written, when the
  /// call returns.
  virtual void copy(void* to, const void* from, size_t bytes, CopyKind kind, StreamHandle stream) = 0;

  virtual StreamHandle make_stream() = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;
  /// Until all that was submitted to the stream is done.
  virtual void wait(StreamHandle stream) = 0;
  /// Until all work of the device is done.
  virtual void wait_for_all() = 0;

  virtual EventHandle make_event() = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  /// Until the host may go on after the event.
  virtual void wait_for(EventHandle event) = 0;
  /// What is submitted to the stream from here on begins after the event.
  virtual void make_wait(StreamHandle stream, EventHandle event) = 0;

  /// What was not given back, asked when the library goes, for the host's log; empty: nothing.
  virtual std::string leaks() const { return {}; }
};

/// A device with memory of its own, as a provider lists it; hosts tell its memory by name, vendor and id.
struct DeviceSpec {
  std::string memory_name;  ///< "FakeDevice"; that of its pinned memory ends in "Host"
  int id = 0;
  OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_GPU;  ///< of its memory
  OrtHardwareDeviceType hardware = OrtHardwareDeviceType_GPU;  ///< what hosts list it as, and policies choose by
  uint32_t hardware_vendor_id = 0, hardware_id = 0;            ///< PCI numbers of the hardware; 0: the provider's vendor, any
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

}  // namespace rh::kit
