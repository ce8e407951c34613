#pragma once

#include <string>

namespace rh::compute {

/// Whether float products may use AMX tiles here, and if not, why not.
struct AmxStatus {
  bool usable = false;
  std::string reason;
};

/// Of this process and cpu_features(). The first call on a processor that has AMX asks the system for the tile registers, and compares a
/// small product with that of the multiply-add kernels: where it differs, AMX is not used.
AmxStatus amx_status();
bool amx_usable();

/// What the comparison finds: empty, or how the products differ. Needs the tile registers.
std::string try_amx();

/// While it lives, amx_status() answers `status` wherever cpu_features() has AMX: for tests. Not for use beside running kernels.
class ScopedAmxStatus {
 public:
  explicit ScopedAmxStatus(AmxStatus status);
  ~ScopedAmxStatus();
  ScopedAmxStatus(const ScopedAmxStatus&) = delete;
  ScopedAmxStatus& operator=(const ScopedAmxStatus&) = delete;

 private:
  AmxStatus status_;
  const AmxStatus* outer_;
};

}  // namespace rh::compute
