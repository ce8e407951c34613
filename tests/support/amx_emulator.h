#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rh::test {

/// While one lives, AMX instructions that the processor refuses are carried out in software, at the very place where the program has them:
/// a handler of SIGILL decodes them, and holds the program to the architecture's rules. Knows LDTILECFG, STTILECFG, TILERELEASE, TILEZERO,
/// TILELOADD, TILELOADDT1, TILESTORED and TDPBF16PS; any other refused instruction ends the process. On processors that have AMX nothing is
/// emulated. Needs AVX-512; one at a time.
class AmxEmulator {
 public:
  AmxEmulator();
  ~AmxEmulator();
  AmxEmulator(const AmxEmulator&) = delete;
  AmxEmulator& operator=(const AmxEmulator&) = delete;

  /// Whether this processor and system can run the tests: AVX-512 beside Linux on x86-64.
  static bool possible();
  /// Whether the processor's own tiles are used.
  static bool native();

  /// Rules that were broken since it was made; the instructions that did so had no effect.
  std::vector<std::string> violations() const;
  /// Instructions that were carried out.
  int64_t instructions() const;
  /// Threads whose tiles are configured at the moment.
  int configured_threads() const;
  /// From now on every TDPBF16PS gets one element wrong, as a faulty processor might.
  void fail_products(bool fail);
};

}  // namespace rh::test
