#pragma once

#include <string>
#include <string_view>

namespace rh {

/// In double quotes, as JSON has it.
std::string json_text(std::string_view text);

}  // namespace rh
