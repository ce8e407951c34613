#include "compute/sort/ranking.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/cancellation.h"

namespace rh::compute {
namespace {

constexpr int kDigitBits = 11;
constexpr int64_t kDigits = int64_t{1} << kDigitBits;
constexpr int kLowestShift = 32;  // lower halves follow the order that they come in
constexpr int kHighestShift = 64 - kDigitBits;
constexpr int64_t kFewValues = 256;

using Counts = std::array<int64_t, kDigits>;

int64_t digit(uint64_t value, int shift) { return static_cast<int64_t>(value >> shift) & (kDigits - 1); }

Counts counts_of(const uint64_t* values, int64_t count, int shift) {
  throw_if_cancelled();
  Counts counts{};
  for (int64_t i = 0; i < count; ++i) ++counts[static_cast<size_t>(digit(values[i], shift))];
  return counts;
}

/// Moves values that may be among the k least to the front, in the order that they have. Returns how many there are.
int64_t keep_least(uint64_t* values, int64_t count, int64_t k) {
  const Counts counts = counts_of(values, count, kHighestShift);
  int64_t last = 0;
  for (int64_t below = counts[0]; below < k; below += counts[static_cast<size_t>(last)]) ++last;
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t value = values[i];
    values[kept] = value;
    kept += digit(value, kHighestShift) <= last ? 1 : 0;
  }
  return kept;
}

/// One pass of a sort by digits, which keeps the order of equal ones. False where all have one digit, and nothing was moved.
bool sort_by_digit(const uint64_t* from, int64_t count, int shift, uint64_t* to) {
  Counts next = counts_of(from, count, shift);
  if (next[static_cast<size_t>(digit(from[0], shift))] == count) return false;
  int64_t begin = 0;
  for (int64_t& n : next) begin += std::exchange(n, begin);
  for (int64_t i = 0; i < count; ++i) to[next[static_cast<size_t>(digit(from[i], shift))]++] = from[i];
  return true;
}

}  // namespace

void rank_least(uint64_t* values, int64_t count, int64_t k, uint64_t* scratch) {
  if (k <= 0) return;
  if (count > kFewValues && k <= count / 2) count = keep_least(values, count, k);
  if (count <= kFewValues) {
    std::sort(values, values + count);
    return;
  }
  uint64_t *from = values, *to = scratch;
  for (int shift = kLowestShift; shift < 64; shift += kDigitBits) {
    if (sort_by_digit(from, count, std::min(shift, kHighestShift), to)) std::swap(from, to);
  }
  if (from != values) std::copy_n(from, k, values);
}

}  // namespace rh::compute
