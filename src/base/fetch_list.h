#pragma once

#include <cstddef>
#include <span>

namespace rh {

/// Memory that is read soon, piece after piece, and may be brought into the caches before.
using FetchList = std::span<const std::span<const std::byte>>;

}  // namespace rh
