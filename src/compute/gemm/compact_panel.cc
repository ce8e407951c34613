#include "compute/gemm/compact_panel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/cpu_features.h"

namespace rh::compute {
namespace {

constexpr int64_t kLanes = 16, kTogether = kCompactRows * kCompactWidth;
constexpr uint32_t kMagnitude = 0x7fffffff, kShort = 0x1fff;  // bits that no mantissa of bits16 has

/// Nothing is made compact where products are not by pairs, which is on x86-64 alone.
const CompactKernels& kernels_of(CompactForm form) {
#if defined(__x86_64__) || defined(_M_X64)
  if (form == CompactForm::bits16) return kAvx512Bits16;
  return cpu_features().half_vectors ? kAvx512Bits28Halves : kAvx512Bits28;
#else
  (void)form;
  static constexpr CompactKernels kNone{};
  return kNone;
#endif
}

struct Exceptions {
  const CompactException* begin;
  const CompactException* end;
};

Exceptions exceptions_of(CompactForm form, const uint32_t* panel, int64_t rows) {
  const uint32_t* const behind = panel + compact_groups(rows) * compact_group(form);
  const auto* const first = reinterpret_cast<const CompactException*>(behind + 2);
  return {first, first + *behind};
}

/// The bits of a magnitude beyond the least one, beside which no other bits may be set.
constexpr uint32_t bits_of(CompactForm form) { return form == CompactForm::bits28 ? 0x07ffffff : 0x0fffffff & ~kShort; }

/// Codes of four rows, each with its sign in bit 31 and the bits of its magnitude where they are.
void put_bits28(const uint32_t* codes, uint32_t* to) {
  const uint32_t* const last = codes + 7 * kLanes;
  uint32_t packed[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) packed[lane] = (last[lane] & 0x07ffffff) | last[lane] >> 31 << 27;
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t lane = 0; lane < kLanes; ++lane) to[i * kLanes + lane] = codes[i * kLanes + lane] | (packed[lane] >> (4 * i) & 15) << 27;
  }
}

void put_bits16(const uint32_t* codes, uint32_t* to) {
  const auto code = [](uint32_t bits) { return (bits & kMagnitude) >> 13 | bits >> 31 << 15; };
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t lane = 0; lane < kLanes; ++lane)
      to[i * kLanes + lane] = code(codes[2 * i * kLanes + lane]) | code(codes[(2 * i + 1) * kLanes + lane]) << 16;
  }
}

}  // namespace

bool encode_compact(CompactForm form, const float* panel, int64_t rows, const CompactValues& values, uint32_t* to) {
  const uint32_t base = compact_base(form), kept = bits_of(form);
  uint32_t* const behind = to + compact_groups(rows) * compact_group(form);
  auto* const exceptions = reinterpret_cast<CompactException*>(behind + 2);
  const auto most = static_cast<uint32_t>(compact_exceptions(rows));
  uint32_t found = 0;
  for (int64_t row = 0; row < rows; row += kCompactRows, to += compact_group(form)) {
    uint32_t bits[kTogether], codes[kTogether], beyond = 0;
    const int64_t first = row * kCompactWidth, live = std::min(kTogether, rows * kCompactWidth - first);
    std::memcpy(bits, panel + first, static_cast<size_t>(live) * sizeof(float));
    std::fill(bits + live, bits + kTogether, base);
    for (int64_t i = 0; i < kTogether; ++i) {
      codes[i] = bits[i] - base;
      beyond |= ((bits[i] & kMagnitude) - base) & ~kept;
    }
    for (int64_t i = 0; beyond != 0 && i < kTogether; ++i) {
      if ((((bits[i] & kMagnitude) - base) & ~kept) == 0) continue;
      codes[i] = 0;
      if ((first + i) / kCompactWidth >= values.rows || i % kCompactWidth >= values.columns) continue;
      if (found == most) return false;
      exceptions[found++] = {static_cast<uint32_t>(first + i), panel[first + i]};
    }
    form == CompactForm::bits28 ? put_bits28(codes, to) : put_bits16(codes, to);
  }
  behind[0] = found;
  behind[1] = 0;
  std::fill(reinterpret_cast<uint32_t*>(exceptions + found),
            behind + compact_words(form, rows) - compact_groups(rows) * compact_group(form), 0u);
  return true;
}

bool may_fit_bits16(const float* values, int64_t count) {
  const int64_t step = std::max<int64_t>(1, count / 509);
  int64_t seen = 0, longer = 0;
  for (int64_t i = 0; i < count; i += step, ++seen) {
    uint32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    longer += (bits & kShort) != 0;
  }
  return longer * 256 <= seen;
}

void decode_compact(CompactForm form, const uint32_t* panel, int64_t rows, int64_t live, int64_t begin, int64_t count, float* to) {
  kernels_of(form).decode(panel + begin / kCompactRows * compact_group(form), compact_groups(count), to);
  const auto first = static_cast<uint32_t>(begin * kCompactWidth), end = static_cast<uint32_t>((begin + count) * kCompactWidth);
  const Exceptions all = exceptions_of(form, panel, rows);
  const auto* at = std::lower_bound(all.begin, all.end, first, [](const CompactException& e, uint32_t index) { return e.index < index; });
  for (; at != all.end && at->index < end; ++at) to[at->index - first] = at->value;
  if (begin + count > live) std::fill(to + (live - begin) * kCompactWidth, to + count * kCompactWidth, 0.0f);
}

void multiply_compact(CompactForm form, const CompactFew& few, int64_t a_rows) {
  kernels_of(form).few[a_rows](few);
  const double counted = std::ldexp(1.0, compact_least_exponent(form));
  const Exceptions all = exceptions_of(form, few.panel, few.rows);
  for (const auto* at = all.begin; at != all.end; ++at) {
    const int64_t k = at->index / kCompactWidth, column = at->index % kCompactWidth;
    const double off = static_cast<double>(at->value) - counted;
    for (int64_t row = 0; row < a_rows; ++row) {
      few.sums[row * kCompactWidth + column] += static_cast<float>(static_cast<double>(few.a[row * few.a_row + k]) * off);
    }
  }
}

}  // namespace rh::compute
