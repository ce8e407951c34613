#pragma once

#include <span>
#include <string_view>

namespace rh {

/// The candidate that takes the fewest single-character changes to become `text`; empty where none is near enough to be meant by it.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace rh
