#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "providers/kit/cache/content_mark.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// Constants of a region, together, that are hashed each time that the region is looked for.
inline constexpr size_t kHashedBytes = size_t{64} << 20;

/// What an artifact is found by.
struct RegionKey {
  std::string content;  ///< hash of graph, constants and context; empty until it is computed, where there is a name
  std::string name;     ///< of regions with more constants than kHashedBytes: large ones go by the file that is mapped, or by a mark
};

/// Gives the key of marks that the cache keeps; nothing where it has none.
using CacheMarkKey = std::function<std::optional<MarkKey>()>;

/// What a region is known by in a cache: its graph and constants, and `context`, whatever else it depends on. `mark_key` is asked for large
/// constants in memory, which are hashed where there is none.
RegionKey quick_key(const Region& region, std::string_view context, const CacheMarkKey& mark_key);
/// Over all bytes of the constants.
std::string content_key(const Region& region, std::string_view context);

}  // namespace rh::kit
