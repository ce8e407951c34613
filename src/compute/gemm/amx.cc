#include "compute/gemm/amx.h"

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "base/cpu_features.h"
#include "base/fork_mutex.h"
#include "compute/gemm/gemm.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#define RH_ASKS_FOR_TILES 1
#endif

namespace rh::compute {
namespace {

/// Empty where the system gives the process the tile registers.
std::string ask_for_tiles() {
#ifdef RH_ASKS_FOR_TILES
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, the number of the state in XCR0
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0) return {};
  return std::string("the system does not give the tile registers (arch_prctl: ") + std::strerror(errno) + ")";
#else
  return "tile registers are asked for on Linux alone";
#endif
}

AmxStatus ask_and_try() {
  std::string reason = ask_for_tiles();
  if (reason.empty()) reason = try_amx();
  return {reason.empty(), std::move(reason)};
}

std::atomic<const AmxStatus*> override_{nullptr};

const AmxStatus& status_here() {
  static constinit ForkOnce<const AmxStatus> none, asked;
  if (!cpu_features().amx_bf16) {
    return none.get([] { return AmxStatus{false, "the processor or the system has no AMX of bfloat16, or ROUNDHOUSE_ISA leaves it out"}; });
  }
  if (const AmxStatus* scoped = override_.load(std::memory_order_acquire)) return *scoped;
  return asked.get(ask_and_try);
}

}  // namespace

AmxStatus amx_status() { return status_here(); }
bool amx_usable() { return status_here().usable; }

std::string try_amx() {
  // All rows and columns of tiles, a ragged end on every side, and more than one block of sums.
  const int64_t m = 45, n = 41, k = 293;
  const auto values = [](int64_t count, uint32_t state) {
    std::vector<float> list(static_cast<size_t>(count));
    for (float& x : list) {
      state = state * 1664525u + 1013904223u;
      x = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
    }
    return list;
  };
  const std::vector<float> a = values(m * k, 1), b = values(k * n, 2);
  std::vector<float> expected(static_cast<size_t>(m * n)), found(expected.size());
  const GemmArgs<float> args{.m = m, .n = n, .k = k};
  gemm(args, a.data(), PackedMatrix<float>(b.data(), k, n, false), expected.data(), {});
  gemm(args, a.data(), PackedMatrix<float>(b.data(), k, n, false, 0, {.amx = true, .rows = m}), found.data(), {});
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::fabs(found[i] - expected[i]) <= 1e-4f) continue;
    return "a trial product differs from that of the multiply-add kernels: " + std::to_string(found[i]) + " stands where " +
           std::to_string(expected[i]) + " should";
  }
  return {};
}

ScopedAmxStatus::ScopedAmxStatus(AmxStatus status) : status_(std::move(status)), outer_(override_.load()) {
  override_.store(&status_, std::memory_order_release);
}

ScopedAmxStatus::~ScopedAmxStatus() { override_.store(outer_, std::memory_order_release); }

}  // namespace rh::compute
