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
  std::string name;     ///< of regions with more constants than kHashedBytes: large ones go by their file's path and state, and samples
};

/// What a region is known by in a cache: its graph and constants, and `context`, whatever else it depends on. `model`: the model's file,
/// beside which files with constants lie; empty where it came from memory.
RegionKey quick_key(const Region& region, std::string_view context, const std::string& model);
/// Over all bytes of the constants.
std::string content_key(const Region& region, std::string_view context);

}  // namespace rh::kit
