#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace rh {

/// What the processor and the operating system both allow. On non-x86 machines the x86 fields are false.
struct CpuFeatures {
  bool sse41 = false;   ///< with SSE4.2
  bool avx2 = false;    ///< with FMA and F16C
  bool avx512 = false;  ///< F, BW, DQ, VL
  bool avx512_vnni = false;
  /// Additions of vectors have units beside those of multiply-adds (AMD from Zen 4 on), which do as many of them at the same time.
  bool own_adders = false;
  bool half_vectors = false;  ///< vectors of 512 bits are worked on by halves, and few of them begin in a cycle (AMD's Zen 4, small Zen 5)
  bool amx_bf16 = false;
  bool amx_int8 = false;
  bool neon = false;
  long l1d_bytes = 32 << 10;
  long l1d_line_bytes = 64;
  long l1d_ways = 0;  ///< lines that share a set; 0: not known
  long l2_bytes = 1 << 20;
  long l3_bytes = 8 << 20;
  bool near_l3 = false;  ///< the third level belongs to a few cores (AMD), which read it twice as fast as one that a mesh of all shares
};

/// "amx", "avx512-vnni", "avx512", "avx2", "sse4.1", "sse2", "neon" or "plain": what kernels tell machines apart by. With AVX-512 followed
/// by "-adders" where additions have units of their own, or "-halves" where these also work on vectors by halves.
std::string_view machine_class(const CpuFeatures& features);

/// `features` without what comes after `isa` (sse2, avx2, avx512, amx); "amx" leaves them as they are, as do "native",
/// an empty and an unknown name.
CpuFeatures lowered(CpuFeatures features, std::string_view isa);

/// What is wrong with `isa` as a value of ROUNDHOUSE_ISA; empty where nothing is.
std::string isa_problem(std::string_view isa);
/// Of the value that the variable has now.
std::string isa_problem();

/// Detected once. The environment variable ROUNDHOUSE_ISA (sse2, avx2, avx512, amx, native) lowers it, for tests and comparisons.
const CpuFeatures& cpu_features();

/// Counts the answers that cpu_features() has had, from 1 on: cheap to read, for who remembers what follows from an answer.
extern std::atomic<uint64_t> cpu_features_generation;

/// While it lives, cpu_features() answers `features`: lets one test process walk all instruction sets. Not for use beside running kernels.
class ScopedCpuFeatures {
 public:
  explicit ScopedCpuFeatures(const CpuFeatures& features);
  ~ScopedCpuFeatures();
  ScopedCpuFeatures(const ScopedCpuFeatures&) = delete;
  ScopedCpuFeatures& operator=(const ScopedCpuFeatures&) = delete;

 private:
  CpuFeatures features_;
  const CpuFeatures* outer_;
};

}  // namespace rh
