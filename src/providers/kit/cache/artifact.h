#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// A compiled region as bytes, for the cache and for models that were compiled ahead of time, and what is said of it.
struct Artifact {
  std::string provider;  ///< "SampleExecutionProvider"
  std::string made_by;   ///< the vendor's library and the device, as ArtifactMaker::made_by() has it
  std::string region;    ///< its name, for people
  std::string key;       ///< of the cache
  std::string payload;   ///< the vendor's bytes
  std::string values;    ///< what the region takes and gives, as values_of() has it

  /// Lines of text, an empty one, and the payload, with its hash among the lines.
  std::string to_bytes() const;
  /// Nothing where the bytes are no artifact, or not as they were written.
  static std::optional<Artifact> from_bytes(std::string_view bytes);
};

/// Names of what a region takes and gives, on one line: compiled data of another region is told by it.
std::string values_of(const Region& region);

/// The version of Roundhouse that this library was built from.
std::string_view own_version();

}  // namespace rh::kit
