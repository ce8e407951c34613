#pragma once

#include <cstdint>

namespace rh::fake_device {

/// Addresses of a device are those of the host with a bit set that makes them no addresses: who reads one without a copy faults.
inline constexpr uintptr_t kDeviceBit = uintptr_t{1} << 60;

inline bool is_device_address(const void* address) { return (reinterpret_cast<uintptr_t>(address) & kDeviceBit) != 0; }

/// Between the two, for devices and kernels of tests that look after their own memory.
inline void* to_device(void* host) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host) | kDeviceBit); }
inline void* to_host(const void* device) { return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device) & ~kDeviceBit); }

}  // namespace rh::fake_device
