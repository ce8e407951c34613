#include "compute/compact_panel.h"

#include <algorithm>
#include <bit>

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
  uint32_t* const behind = to + compact_groups(rows) * kCompactWords;
  auto* const exceptions = reinterpret_cast<CompactException*>(behind + 2);
  const auto most = static_cast<uint32_t>(compact_exceptions(rows));
  uint32_t found = 0;
  for (int64_t row = 0; row < rows; row += kCompactRows, to += kCompactWords) {
    uint32_t codes[kVectors * kLanes];
    for (int64_t i = 0; i < kVectors * kLanes; ++i) {
      const int64_t index = row * kCompactWidth + i;
      const bool is_value = index < values.rows * kCompactWidth && i % kCompactWidth < values.columns;
      const uint32_t bits = is_value ? std::bit_cast<uint32_t>(panel[index]) : kCompactBase;
      const uint32_t exponent = (bits >> 23 & 255) - (kCompactBase >> 23);
      codes[i] = (bits - kCompactBase) & kCompactBits;
      if (exponent < 16) continue;
      codes[i] = 0;
      if (found == most) return false;
      exceptions[found++] = {static_cast<uint32_t>(index), panel[index]};
    }
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const uint32_t last = codes[7 * kLanes + lane], packed = (last & 0x07ffffff) | last >> 31 << 27;
      for (int64_t i = 0; i < 7; ++i) to[i * kLanes + lane] = codes[i * kLanes + lane] | (packed >> (4 * i) & 15) << 27;
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
