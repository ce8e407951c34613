#include "base/nearest.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace rh {

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 200;
  if (text.size() > kLongest) return {};
  std::string_view best;
  size_t least = std::max<size_t>(1, text.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > text.size() + least || text.size() > candidate.size() + least) continue;
    const size_t distance = edit_distance(text, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace rh
