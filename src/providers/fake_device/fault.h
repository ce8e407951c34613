#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace fake_device {

/// A failure that a session asks for with the options fail (the call), fail_after (how many such calls work before), fail_times (how many
/// fail; all where it is not given) and fail_with (error, or memory: as when there is none).
class Fault {
 public:
  Fault(std::string call, const std::string& after, const std::string& times, const std::string& with);
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

}  // namespace fake_device
