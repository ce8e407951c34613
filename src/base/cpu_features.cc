#include "base/cpu_features.h"
#include "base/fork_mutex.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define RH_X86 1
#elif defined(_M_X64) || defined(_M_IX86)
#include <intrin.h>
#define RH_X86 1
#endif
#if defined(__unix__)
#include <unistd.h>
#endif

namespace rh {
namespace {

#ifdef RH_X86
struct Registers {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(uint32_t leaf, uint32_t subleaf) {
  Registers r;
#ifdef _MSC_VER
  int out[4];
  __cpuid(out, static_cast<int>(leaf & 0x80000000));
  if (static_cast<uint32_t>(out[0]) < leaf) return r;
  __cpuidex(out, static_cast<int>(leaf), static_cast<int>(subleaf));
  r = {static_cast<uint32_t>(out[0]), static_cast<uint32_t>(out[1]), static_cast<uint32_t>(out[2]), static_cast<uint32_t>(out[3])};
#else
  if (!__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d)) return {};
#endif
  return r;
}

/// The register state that the operating system saves and restores (XCR0).
uint64_t saved_state() {
#ifdef _MSC_VER
  return _xgetbv(0);
#else
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
#endif
}

bool bit(uint32_t word, int index) { return (word >> index) & 1; }

bool is_amd() {
  const Registers r = cpuid(0, 0);
  return r.b == 0x68747541 && r.d == 0x69746e65 && r.c == 0x444d4163;  // "AuthenticAMD"
}

/// Of AMD's processors with AVX-512, by cpuid's leaf 1: those of Zen 5 for servers and desktops (family 26, models 0 to 0x1f and 0x40 to
/// 0x4f), and what comes after it.
bool has_whole_vectors(uint32_t signature) {
  const uint32_t family = (signature >> 8 & 15) + (signature >> 20 & 255), model = (signature >> 12 & 0xf0) + (signature >> 4 & 15);
  return family > 26 || (family == 26 && (model < 0x20 || (model >= 0x40 && model < 0x50)));
}

/// Whether this build has kernels with AVX-512 (RH_KERNELS, cmake/kernels.cmake).
constexpr bool kHasAvx512Kernels = RH_HAS_AVX512_KERNELS;

void detect_isa(CpuFeatures& f) {
  const Registers one = cpuid(1, 0);
  const Registers seven = cpuid(7, 0);
  f.sse41 = bit(one.c, 19) && bit(one.c, 20);
  if (!bit(one.c, 27)) return;  // no OSXSAVE: no wide registers
  const uint64_t saved = saved_state();
  const bool ymm = (saved & 0x6) == 0x6;
  const bool zmm = (saved & 0xe6) == 0xe6;
  const bool tiles = (saved & 0x60000) == 0x60000;
  f.avx2 = ymm && bit(one.c, 12) && bit(one.c, 29) && bit(one.c, 28) && bit(seven.b, 5);
  f.avx512 = kHasAvx512Kernels && f.avx2 && zmm && bit(seven.b, 16) && bit(seven.b, 17) && bit(seven.b, 30) && bit(seven.b, 31);
  f.own_adders = f.avx512 && is_amd();
  f.half_vectors = f.own_adders && !has_whole_vectors(one.a);
  f.avx512_vnni = f.avx512 && bit(seven.c, 11);
  f.amx_bf16 = f.avx512 && tiles && bit(seven.d, 24) && bit(seven.d, 22);
  f.amx_int8 = f.avx512 && tiles && bit(seven.d, 24) && bit(seven.d, 25);
}

/// The first level of data by cpuid's "deterministic cache parameters", at one leaf on Intel's processors and at another on AMD's.
void detect_l1d(CpuFeatures& f) {
  constexpr uint32_t kLeaves[] = {4, 0x8000001d};
  for (const uint32_t leaf : kLeaves) {
    if (cpuid(leaf & 0x80000000, 0).a < leaf) continue;
    for (uint32_t index = 0; index < 8; ++index) {
      const Registers cache = cpuid(leaf, index);
      const uint32_t kind = cache.a & 31, level = cache.a >> 5 & 7;
      if (kind == 0) break;
      if (kind != 1 || level != 1) continue;
      f.l1d_line_bytes = static_cast<long>(cache.b & 0xfff) + 1;
      f.l1d_ways = static_cast<long>(cache.b >> 22) + 1;
      f.l1d_bytes = f.l1d_ways * f.l1d_line_bytes * (static_cast<long>(cache.b >> 12 & 0x3ff) + 1) * (static_cast<long>(cache.c) + 1);
      return;
    }
  }
}
#endif

void detect_caches(CpuFeatures& f) {
#if defined(__unix__) && defined(_SC_LEVEL1_DCACHE_SIZE)
  const auto read = [](int name, long& value) {
    if (const long bytes = sysconf(name); bytes > 0) value = bytes;
  };
  read(_SC_LEVEL1_DCACHE_SIZE, f.l1d_bytes);
  read(_SC_LEVEL1_DCACHE_LINESIZE, f.l1d_line_bytes);
  read(_SC_LEVEL1_DCACHE_ASSOC, f.l1d_ways);
  read(_SC_LEVEL2_CACHE_SIZE, f.l2_bytes);
  read(_SC_LEVEL3_CACHE_SIZE, f.l3_bytes);
#else
  (void)f;
#endif
#ifdef RH_X86
  if (f.l1d_ways == 0) detect_l1d(f);
  f.near_l3 = is_amd();
#endif
}

std::string_view wanted_isa() {
  const char* isa = std::getenv("ROUNDHOUSE_ISA");
  return isa ? isa : "";
}

CpuFeatures detect() {
  CpuFeatures f;
#ifdef RH_X86
  detect_isa(f);
#elif defined(__ARM_NEON) || defined(__aarch64__)
  f.neon = true;
#endif
  detect_caches(f);
  return lowered(f, wanted_isa());
}

std::atomic<const CpuFeatures*> override_{nullptr};

}  // namespace

std::string_view machine_class(const CpuFeatures& features) {
  if (features.amx_bf16) return "amx";
  if (features.avx512) {
    static constexpr std::string_view kNames[2][3] = {{"avx512", "avx512-adders", "avx512-halves"},
                                                      {"avx512-vnni", "avx512-vnni-adders", "avx512-vnni-halves"}};
    return kNames[features.avx512_vnni][features.own_adders ? 1 + features.half_vectors : 0];
  }
  if (features.avx2) return "avx2";
  if (features.sse41) return "sse4.1";
#ifdef RH_X86
  return "sse2";
#else
  return features.neon ? "neon" : "plain";
#endif
}

CpuFeatures lowered(CpuFeatures features, std::string_view isa) {
  const int level = isa == "sse2" ? 0 : isa == "avx2" ? 1 : isa == "avx512" ? 2 : 3;
  if (level < 3) features.amx_bf16 = features.amx_int8 = features.avx512_vnni = false;
  if (level < 2) features.avx512 = features.own_adders = features.half_vectors = false;
  if (level < 1) features.avx2 = features.sse41 = false;
  return features;
}

std::string isa_problem(std::string_view isa) {
  static constexpr std::string_view kNames[] = {"", "sse2", "avx2", "avx512", "amx", "native"};
  if (std::ranges::find(kNames, isa) != std::end(kNames)) return {};
  return "the environment variable ROUNDHOUSE_ISA is '" + std::string(isa) +
         "', expected sse2, avx2, avx512, amx or native: it is ignored, and all that the processor has is used";
}

std::string isa_problem() { return isa_problem(wanted_isa()); }

std::atomic<uint64_t> cpu_features_generation{1};

const CpuFeatures& cpu_features() {
  static constinit ForkOnce<const CpuFeatures> detected;
  const CpuFeatures* scoped = override_.load(std::memory_order_acquire);
  return scoped ? *scoped : detected.get(detect);
}

ScopedCpuFeatures::ScopedCpuFeatures(const CpuFeatures& features) : features_(features), outer_(override_.load()) {
  override_.store(&features_, std::memory_order_release);
  cpu_features_generation.fetch_add(1, std::memory_order_release);
}

ScopedCpuFeatures::~ScopedCpuFeatures() {
  override_.store(outer_, std::memory_order_release);
  cpu_features_generation.fetch_add(1, std::memory_order_release);
}

}  // namespace rh
