#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "providers/kit/cache/owned_bytes.h"
#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

/// A compiled region as bytes, for the cache and for models that were compiled ahead of time, and what is said of it.
struct Artifact {
  std::string provider;  ///< "SampleExecutionProvider"
  std::string made_by;   ///< the vendor's library and the device, as ArtifactMaker::made_by() has it
  std::string region;    ///< its name, for people
  std::string key;       ///< of the cache
  OwnedBytes payload;    ///< the vendor's bytes
  std::string values;    ///< what the region takes and gives, as values_of() has it

  /// Lines of text and an empty one, after which the payload goes; a checksum of it and a hash of the lines are among them.
  std::string head() const;
  std::string to_bytes() const { return head().append(payload.view); }
  /// Nothing where the bytes are no artifact, or not as they were written. The payload is a part of them.
  static std::optional<Artifact> from_bytes(const OwnedBytes& bytes);
};

/// Names of what a region takes and gives, on one line: compiled data of another region is told by it.
std::string values_of(const Region& region);

/// The version of Roundhouse that this library was built from.
std::string_view own_version();

}  // namespace rh::kit
