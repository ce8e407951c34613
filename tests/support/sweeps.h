#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace rh::test {

/// One of how many rows a sweep takes: 1, which is all, or 5 where code is slow. RH_SWEEPS=whole or RH_SWEEPS=part says which; without it,
/// the sanitizers' builds take a part.
int sweep_step();

/// The first row that the test at hand takes: by its name, so that tests and their parameters take different ones, and each the same each
/// time.
int first_swept_row();

/// The rows of a table that the test at hand takes. At least one.
template <typename Rows>
auto swept(const Rows& rows) {
  using Row = std::remove_reference_t<decltype(*std::begin(rows))>;
  const auto count = static_cast<size_t>(std::distance(std::begin(rows), std::end(rows)));
  std::vector<std::reference_wrapper<const Row>> taken;
  const auto step = static_cast<size_t>(sweep_step());
  size_t first = static_cast<size_t>(first_swept_row());
  if (first >= count) first = 0;
  for (size_t row = first; row < count; row += step)
    taken.push_back(std::cref(*std::next(std::begin(rows), static_cast<std::ptrdiff_t>(row))));
  return taken;
}
template <typename Rows>
void swept(const Rows&& rows) = delete;

}  // namespace rh::test
