#include "providers/fake_device/counts.h"

#include <string_view>

#include "roundhouse/onnxruntime_ep_c_api.h"

namespace rh::fake_device {

Counts& counts_of(int device_id) {
  static Counts counts[kMostDevices];
  return counts[device_id];
}

}  // namespace rh::fake_device

// A count of a device by its name, for tests; -1 for others. "reset_peak" lets the peak begin anew.
extern "C" ORT_EXPORT int64_t RhEpFakeDeviceCount(int device_id, const char* name) {
  using namespace rh::fake_device;
  if (device_id < 0 || device_id >= kMostDevices) return -1;
  Counts& counts = counts_of(device_id);
  const std::string_view wanted(name);
  if (wanted == "reset_peak") return counts.peak_bytes.exchange(counts.bytes.load());
  const std::pair<std::string_view, std::atomic<int64_t>*> rows[] = {{"copies_in", &counts.copies_in},
                                                                     {"copies_out", &counts.copies_out},
                                                                     {"copies_within", &counts.copies_within},
                                                                     {"waits", &counts.waits},
                                                                     {"allocations", &counts.allocations},
                                                                     {"bytes", &counts.bytes},
                                                                     {"peak_bytes", &counts.peak_bytes},
                                                                     {"compilations", &counts.compilations},
                                                                     {"nodes", &counts.nodes},
                                                                     {"runs", &counts.runs}};
  for (const auto& [known, count] : rows) {
    if (known == wanted) return count->load();
  }
  return -1;
}
