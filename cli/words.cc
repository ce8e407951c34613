#include "words.h"

#include <algorithm>
#include <numeric>

namespace rh::cli {

namespace {

size_t edit_distance(const std::string& a, const std::string& b) {
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

std::string nearest(const std::string& word, const std::vector<std::string>& words) {
  const auto closer = [&](const std::string& a, const std::string& b) { return edit_distance(a, word) < edit_distance(b, word); };
  const auto at = std::min_element(words.begin(), words.end(), closer);
  return at == words.end() ? std::string() : *at;
}

}  // namespace rh::cli
