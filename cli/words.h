#pragma once

#include <string>
#include <vector>

namespace rh::cli {

/// The one of `words` that fewest changes of letters turn into `word`; empty where there are none.
std::string nearest(const std::string& word, const std::vector<std::string>& words);

}  // namespace rh::cli
