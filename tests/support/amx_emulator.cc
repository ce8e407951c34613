#include "support/amx_emulator.h"

#if defined(__linux__) && defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstring>

#include "base/cpu_features.h"

namespace rh::test {
namespace {

constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;

/// The tile state of a thread. Palette 0: nothing is configured.
struct TileState {
  uint8_t palette = 0;
  uint16_t row_bytes[kTiles] = {};
  uint8_t rows[kTiles] = {};
  alignas(64) uint8_t data[kTiles][kRows][kRowBytes] = {};
};
thread_local TileState tiles;

// Of the one emulator; plain and lock-free, as a signal handler uses them.
constexpr int kMostViolations = 16;
std::atomic<bool> fails;
std::atomic<int64_t> instruction_count;
std::atomic<int> configured_count, violation_count;
std::atomic<const char*> violation_texts[kMostViolations];
struct sigaction outer_action;

const CpuFeatures detected = cpu_features();  // before any test sets others

/// Whatever ROUNDHOUSE_ISA says.
bool processor_has_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1);
}

bool violate(const char* text) {
  const int at = violation_count.fetch_add(1);
  if (at < kMostViolations) violation_texts[at].store(text);
  return false;
}

/// One instruction with a three-byte VEX prefix. `length` 0: none of those that are known.
struct Instruction {
  int opcode = 0, prefix = 0;  ///< prefix: 0 none, 1 66, 2 F3, 3 F2
  int reg = 0, rm = 0, vvvv = 0;
  bool memory = false, has_sib = false;
  uint64_t address = 0, stride = 0;
  int length = 0;
};

uint64_t register_value(const mcontext_t& machine, int number) {
  static constexpr int kOrder[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(machine.gregs[kOrder[number]]);
}

int64_t displacement(const uint8_t* at, int bytes) {
  if (bytes == 1) return static_cast<int8_t>(*at);
  int32_t value = 0;
  if (bytes == 4) std::memcpy(&value, at, sizeof value);
  return value;
}

Instruction decode(const uint8_t* code, const mcontext_t& machine) {
  Instruction in;
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) return in;  // VEX.128.0F38.W0
  const int r = code[1] & 0x80 ? 0 : 8, x = code[1] & 0x40 ? 0 : 8, b = code[1] & 0x20 ? 0 : 8;
  in.prefix = code[2] & 3;
  in.vvvv = ~(code[2] >> 3) & 15;
  in.opcode = code[3];
  const int mod = code[4] >> 6;
  in.reg = ((code[4] >> 3) & 7) + r;
  in.rm = (code[4] & 7) + b;
  in.memory = mod != 3;
  int length = 5;
  if (in.memory) {
    const bool sib = (code[4] & 7) == 4;
    int base = in.rm, displacement_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    uint64_t index = 0;
    if (sib) {
      base = (code[5] & 7) + b;
      const int number = ((code[5] >> 3) & 7) + x;
      if (number != 4) index = register_value(machine, number) << (code[5] >> 6);
      length = 6;
    }
    const bool no_base = mod == 0 && (base & 7) == 5;  // a displacement alone, from the next instruction where there is no SIB byte
    if (no_base) displacement_bytes = 4;
    const uint64_t offset = static_cast<uint64_t>(displacement(code + length, displacement_bytes));
    length += displacement_bytes;
    const uint64_t from = !no_base ? register_value(machine, base)
                          : sib    ? 0
                                   : reinterpret_cast<uint64_t>(code) + static_cast<uint64_t>(length);
    in.has_sib = sib;
    in.stride = index;
    in.address = from + offset;
  }
  in.length = length;
  return in;
}

void clear_tile(int tile) { std::memset(tiles.data[tile], 0, sizeof tiles.data[tile]); }

void set_palette(uint8_t palette) {
  configured_count += (palette != 0) - (tiles.palette != 0);
  tiles = TileState{};
  tiles.palette = palette;
}

bool load_config(const uint8_t* from) {
  uint8_t config[64];
  std::memcpy(config, from, sizeof config);
  if (config[0] > 1) return violate("LDTILECFG: a palette that is not there");
  if (config[0] == 0) return set_palette(0), true;
  if (config[1] != 0) return violate("LDTILECFG: start_row is not 0");
  for (int i = 2; i < 16; ++i)
    if (config[i]) return violate("LDTILECFG: a reserved byte is not 0");
  uint16_t row_bytes[16];
  std::memcpy(row_bytes, config + 16, sizeof row_bytes);
  const uint8_t* rows = config + 48;
  for (int i = 0; i < 16; ++i) {
    if (i >= kTiles && (row_bytes[i] || rows[i])) return violate("LDTILECFG: a tile that the palette does not have");
    if (row_bytes[i] > kRowBytes || rows[i] > kRows) return violate("LDTILECFG: a tile is too large");
    if ((row_bytes[i] == 0) != (rows[i] == 0)) return violate("LDTILECFG: a tile has rows or columns alone");
  }
  set_palette(1);
  std::memcpy(tiles.row_bytes, row_bytes, sizeof tiles.row_bytes);
  std::memcpy(tiles.rows, rows, sizeof tiles.rows);
  return true;
}

void store_config(uint8_t* to) {
  std::memset(to, 0, 64);
  to[0] = tiles.palette;
  std::memcpy(to + 16, tiles.row_bytes, sizeof tiles.row_bytes);
  std::memcpy(to + 48, tiles.rows, sizeof tiles.rows);
}

/// Whether the tile may be used at all.
bool check_tile(int tile) {
  if (tiles.palette == 0) return violate("a tile is used that is not configured");
  if (tile >= kTiles) return violate("a tile is used that the palette does not have");
  return tiles.rows[tile] > 0 || violate("a tile is used whose configuration is empty");
}

bool load(const Instruction& in) {
  if (!check_tile(in.reg)) return false;
  clear_tile(in.reg);
  for (int row = 0; row < tiles.rows[in.reg]; ++row) {
    const auto* from = reinterpret_cast<const uint8_t*>(in.address + static_cast<uint64_t>(row) * in.stride);
    std::memcpy(tiles.data[in.reg][row], from, tiles.row_bytes[in.reg]);
  }
  return true;
}

bool store(const Instruction& in) {
  if (!check_tile(in.reg)) return false;
  for (int row = 0; row < tiles.rows[in.reg]; ++row) {
    auto* to = reinterpret_cast<uint8_t*>(in.address + static_cast<uint64_t>(row) * in.stride);
    std::memcpy(to, tiles.data[in.reg][row], tiles.row_bytes[in.reg]);
  }
  return true;
}

/// Even and odd elements of the pairs are summed apart from each other, fused and in the order of k; then both are added, and that to the
/// sum. Denormal numbers count as 0 and become 0, whatever MXCSR says.
__attribute__((target("avx512f"))) void multiply_row(const uint8_t* a, int pairs, const uint8_t (*b)[kRowBytes], uint8_t* c) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(0x9fc0);  // to nearest, denormals to 0, no exceptions
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000));
  __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
  for (int k = 0; k < pairs; ++k) {
    int32_t pair;
    std::memcpy(&pair, a + 4 * k, sizeof pair);
    const __m512i left = _mm512_set1_epi32(pair), right = _mm512_loadu_si512(b[k]);
    even = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, left, 16)),
                           _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, right, 16)), even);
    odd = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(left, high)), _mm512_castsi512_ps(_mm512_and_si512(right, high)), odd);
  }
  _mm512_storeu_ps(c, _mm512_add_ps(_mm512_loadu_ps(c), _mm512_add_ps(even, odd)));
  _mm_setcsr(before);
}

bool multiply(const Instruction& in) {
  const int sum = in.reg, left = in.rm, right = in.vvvv;
  if (!check_tile(sum) || !check_tile(left) || !check_tile(right)) return false;
  if (sum == left || left == right || sum == right) return violate("TDPBF16PS: a tile stands twice");
  if (tiles.row_bytes[sum] % 4 || tiles.row_bytes[left] % 4 || tiles.row_bytes[right] % 4)
    return violate("TDPBF16PS: rows of broken pairs");
  if (tiles.rows[sum] != tiles.rows[left] || tiles.row_bytes[sum] != tiles.row_bytes[right] ||
      tiles.row_bytes[left] / 4 != tiles.rows[right])
    return violate("TDPBF16PS: the sizes of the tiles do not fit each other");
  for (int row = 0; row < tiles.rows[sum]; ++row) {
    alignas(64) uint8_t result[kRowBytes];
    std::memcpy(result, tiles.data[sum][row], kRowBytes);
    multiply_row(tiles.data[left][row], tiles.row_bytes[left] / 4, tiles.data[right], result);
    std::memcpy(tiles.data[sum][row], result, tiles.row_bytes[sum]);
  }
  if (fails) tiles.data[sum][0][2] ^= 0x40;
  return true;
}

/// False where the instruction is none that is known.
bool carry_out(const Instruction& in) {
  const bool plain = in.memory && in.reg == 0 && in.vvvv == 0;
  switch (in.opcode * 4 + in.prefix) {
    case 0x49 * 4 + 0:
      if (plain) return load_config(reinterpret_cast<const uint8_t*>(in.address + in.stride)), true;
      if (in.memory || in.reg != 0 || in.rm != 0) return false;
      set_palette(0);
      return true;
    case 0x49 * 4 + 1:
      if (!plain) return false;
      store_config(reinterpret_cast<uint8_t*>(in.address + in.stride));
      return true;
    case 0x49 * 4 + 3:
      if (in.memory || in.rm != 0) return false;
      if (check_tile(in.reg)) clear_tile(in.reg);
      return true;
    case 0x4b * 4 + 1:
    case 0x4b * 4 + 3:
      if (!in.has_sib) return false;
      load(in);
      return true;
    case 0x4b * 4 + 2:
      if (!in.has_sib) return false;
      store(in);
      return true;
    case 0x5c * 4 + 2:
      if (in.memory) return false;
      multiply(in);
      return true;
    default: return false;
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  mcontext_t& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  const auto* code = reinterpret_cast<const uint8_t*>(machine.gregs[REG_RIP]);
  const Instruction in = decode(code, machine);
  if (in.length > 0 && carry_out(in)) {
    ++instruction_count;
    machine.gregs[REG_RIP] += in.length;
    return;
  }
  sigaction(SIGILL, &outer_action, nullptr);  // the instruction is met again, by whoever was there before
}

}  // namespace

AmxEmulator::AmxEmulator() {
  fails = false;
  instruction_count = 0;
  configured_count = 0;
  violation_count = 0;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  if (!native()) sigaction(SIGILL, &action, &outer_action);
}

AmxEmulator::~AmxEmulator() {
  if (!native()) sigaction(SIGILL, &outer_action, nullptr);
}

bool AmxEmulator::possible() { return detected.avx512 && detected.amx_bf16 == processor_has_amx(); }
bool AmxEmulator::native() { return detected.amx_bf16; }

std::vector<std::string> AmxEmulator::violations() const {
  std::vector<std::string> list;
  for (int i = 0; i < violation_count && i < kMostViolations; ++i) list.emplace_back(violation_texts[i].load());
  return list;
}
int64_t AmxEmulator::instructions() const { return instruction_count; }
int AmxEmulator::configured_threads() const { return configured_count; }
void AmxEmulator::fail_products(bool fail) { fails = fail; }

}  // namespace rh::test

#else

namespace rh::test {

AmxEmulator::AmxEmulator() = default;
AmxEmulator::~AmxEmulator() = default;
bool AmxEmulator::possible() { return false; }
bool AmxEmulator::native() { return false; }
std::vector<std::string> AmxEmulator::violations() const { return {}; }
int64_t AmxEmulator::instructions() const { return 0; }
int AmxEmulator::configured_threads() const { return 0; }
void AmxEmulator::fail_products(bool) {}

}  // namespace rh::test

#endif
