#pragma once

#include <atomic>
#include <cstdint>

namespace rh::fake_device {

/// What was done with a device, of all hosts of the process together; tests read it by RhEpFakeDeviceCount.
struct Counts {
  std::atomic<int64_t> copies_in{0}, copies_out{0}, copies_within{0}, waits{0}, allocations{0}, bytes{0}, peak_bytes{0}, compilations{0},
      nodes{0}, runs{0};  // nodes: of what was compiled

  void add_bytes(int64_t more) {
    const int64_t now = bytes.fetch_add(more) + more;
    int64_t peak = peak_bytes.load();
    while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
    }
  }
};

inline constexpr int kMostDevices = 4;

/// Of the device with this id, less than kMostDevices.
Counts& counts_of(int device_id);

}  // namespace rh::fake_device
