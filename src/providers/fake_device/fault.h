#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace rh::fake_device {

/// A failure that a session asks for with the options fail (the call), fail_after (how many such calls work before), fail_times (how many
/// fail; -1: all) and fail_with (error, or memory: as when there is none).
class Fault {
 public:
  Fault(std::string_view call, int64_t after, int64_t times, bool without_memory);
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  const std::string& call() const { return call_; }
  /// Throws where this call is to fail.
  void at(std::string_view call);
  /// For calls that belong to the device and to no session: throws where a session that lives asked for it.
  static void at_device(std::string_view call);

 private:
  std::string call_;
  int64_t after_, times_;
  bool without_memory_;
  std::atomic<int64_t> calls_{0};
};

}  // namespace rh::fake_device
