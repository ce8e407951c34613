#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace rh {

/// Splits a list of names, separated by commas or semicolons; spaces around a name are none of it.
inline std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    std::string_view name = list.substr(0, list.find_first_of(",;"));
    list.remove_prefix(std::min(list.size(), name.size() + 1));
    name.remove_prefix(std::min(name.size(), name.find_first_not_of(' ')));
    name = name.substr(0, name.find_last_not_of(' ') + 1);
    names.push_back(name);
  }
  return names;
}

}  // namespace rh
