#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "providers/kit/cache/owned_bytes.h"

namespace rh::kit {

/// Where a region keeps what it compiles in runs, each program by a name of its own, as its sizes: files of the cache (artifact_cache.h)
/// whose keys are made of the region's and that name. Thread-safe; what goes wrong is a warning.
class KeptPrograms {
 public:
  virtual ~KeptPrograms() = default;
  virtual std::optional<OwnedBytes> find(const std::string& name) = 0;
  virtual void keep(const std::string& name, std::string bytes) = 0;
  /// Of what was found, but does not load.
  virtual void warn(const std::string& name, std::string_view why) = 0;
};

}  // namespace rh::kit
