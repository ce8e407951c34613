#pragma once

#include <string>
#include <string_view>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// Constants of a region, together, that are hashed each time that the region is looked for.
inline constexpr size_t kHashedBytes = size_t{64} << 20;

/// What an artifact is found by.
struct RegionKey {
  std::string content;  ///< hash of graph, constants and context; empty until it is computed, where there is a name
  std::string name;     ///< of regions with more constants than kHashedBytes: large ones go by the file that is mapped, or by a checksum
};

/// What a region is known by in a cache: its graph and constants, and `context`, whatever else it depends on.
RegionKey quick_key(const Region& region, std::string_view context);
/// Over all bytes of the constants.
std::string content_key(const Region& region, std::string_view context);

}  // namespace rh::kit
