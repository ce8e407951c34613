#pragma once

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#endif
#include <cstdint>

namespace rh {

/// While it lives, this thread treats denormal floats as zero (FTZ and DAZ; on Arm FPCR.FZ) if `enable`; then as before.
class FlushDenormals {
 public:
  explicit FlushDenormals(bool enable) {
    if (!enable) return;
    before_ = read();
    if ((before_ & kBits) != kBits) {
      write(before_ | kBits);
      changed_ = true;
    }
  }
  /// Whether this thread does so.
  static bool active() { return kBits != 0 && (read() & kBits) == kBits; }
  /// Threads are born with the mode of the thread that starts them; this one keeps denormals from here on.
  static void keep_in_this_thread() { write(read() & ~kBits); }
  ~FlushDenormals() {
    if (changed_) write((read() & ~kBits) | (before_ & kBits));
  }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__) || defined(_M_X64)
  static constexpr uint64_t kBits = 0x8040;
  static uint64_t read() { return _mm_getcsr(); }
  static void write(uint64_t value) { _mm_setcsr(static_cast<unsigned>(value)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kBits = uint64_t{1} << 24;
  static uint64_t read() {
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void write(uint64_t value) { __asm__ volatile("msr fpcr, %0" : : "r"(value)); }
#else
  static constexpr uint64_t kBits = 0;
  static uint64_t read() { return 0; }
  static void write(uint64_t) {}
#endif

  uint64_t before_ = 0;
  bool changed_ = false;
};

}  // namespace rh
