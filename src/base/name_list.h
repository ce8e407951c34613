#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace rh {

/// Splits a list of names, separated by commas or semicolons.
inline std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    names.push_back(list.substr(0, list.find_first_of(",;")));
    list.remove_prefix(std::min(list.size(), names.back().size() + 1));
  }
  return names;
}

}  // namespace rh
