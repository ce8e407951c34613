#pragma once

#include <cstddef>
#include <cstdint>

namespace fake_device {

/// Addresses of the device are those of the host with a bit set that makes them no addresses: who reads one without a copy faults.
inline constexpr uintptr_t kDeviceBit = uintptr_t{1} << 60;

inline void* to_device(void* host) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host) | kDeviceBit); }
inline void* to_host(const void* device) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device) & ~kDeviceBit); }

}  // namespace fake_device
