#include "compute/compact_panel.h"

#include <algorithm>
#include <cstring>

namespace rh::compute {
namespace {

constexpr int64_t kLanes = 16, kVectors = kCompactRows * kCompactWidth / kLanes;

struct Exceptions {
  const CompactException* begin;
  const CompactException* end;
};

Exceptions exceptions_of(const uint32_t* panel, int64_t rows) {
  const uint32_t* const behind = panel + compact_groups(rows) * kCompactWords;
  const auto* const first = reinterpret_cast<const CompactException*>(behind + 2);
  return {first, first + *behind};
}

}  // namespace

bool encode_compact(const float* panel, int64_t rows, const CompactValues& values, uint32_t* to) {
  constexpr int64_t kTogether = kVectors * kLanes;
  uint32_t* const behind = to + compact_groups(rows) * kCompactWords;
  auto* const exceptions = reinterpret_cast<CompactException*>(behind + 2);
  const auto most = static_cast<uint32_t>(compact_exceptions(rows));
  uint32_t found = 0;
  for (int64_t row = 0; row < rows; row += kCompactRows, to += kCompactWords) {
    uint32_t bits[kTogether], codes[kTogether], beyond = 0;
    const int64_t first = row * kCompactWidth, live = std::min(kTogether, rows * kCompactWidth - first);
    std::memcpy(bits, panel + first, static_cast<size_t>(live) * sizeof(float));
    std::fill(bits + live, bits + kTogether, kCompactBase);
    for (int64_t i = 0; i < kTogether; ++i) {
      const uint32_t magnitude = (bits[i] & 0x7fffffff) - kCompactBase;
      codes[i] = (bits[i] - kCompactBase) & kCompactBits;
      beyond |= magnitude & ~uint32_t{0x07ffffff};
    }
    for (int64_t i = 0; beyond != 0 && i < kTogether; ++i) {
      if ((bits[i] & 0x7fffffff) - kCompactBase <= 0x07ffffff) continue;
      codes[i] = 0;
      if ((first + i) / kCompactWidth >= values.rows || i % kCompactWidth >= values.columns) continue;
      if (found == most) return false;
      exceptions[found++] = {static_cast<uint32_t>(first + i), panel[first + i]};
    }
    const uint32_t* const last = codes + 7 * kLanes;
    uint32_t packed[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane) packed[lane] = (last[lane] & 0x07ffffff) | last[lane] >> 31 << 27;
    for (int64_t i = 0; i < 7; ++i) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        to[i * kLanes + lane] = codes[i * kLanes + lane] | (packed[lane] >> (4 * i) & 15) << 27;
    }
  }
  behind[0] = found;
  behind[1] = 0;
  std::fill(reinterpret_cast<uint32_t*>(exceptions + found), behind + compact_words(rows) - compact_groups(rows) * kCompactWords, 0u);
  return true;
}

void decode_compact(const uint32_t* panel, int64_t rows, int64_t live, int64_t begin, int64_t count, float* to) {
  kAvx512Compact.decode(panel + begin / kCompactRows * kCompactWords, compact_groups(count), to);
  const auto first = static_cast<uint32_t>(begin * kCompactWidth), end = static_cast<uint32_t>((begin + count) * kCompactWidth);
  const Exceptions all = exceptions_of(panel, rows);
  const auto* at = std::lower_bound(all.begin, all.end, first, [](const CompactException& e, uint32_t index) { return e.index < index; });
  for (; at != all.end && at->index < end; ++at) to[at->index - first] = at->value;
  if (begin + count > live) std::fill(to + (live - begin) * kCompactWidth, to + count * kCompactWidth, 0.0f);
}

void add_compact_exceptions(const CompactFew& few, int64_t a_rows) {
  const Exceptions all = exceptions_of(few.panel, few.rows);
  for (const auto* at = all.begin; at != all.end; ++at) {
    const int64_t k = at->index / kCompactWidth, column = at->index % kCompactWidth;
    const double off = static_cast<double>(at->value) - kCompactLeast;
    for (int64_t row = 0; row < a_rows; ++row) {
      few.sums[row * kCompactWidth + column] += static_cast<float>(static_cast<double>(few.a[row * few.a_row + k]) * off);
    }
  }
}

}  // namespace rh::compute
