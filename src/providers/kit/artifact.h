#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rh::kit {

/// A compiled region as bytes, for the cache and for models that were compiled ahead of time, and what is said of it.
struct Artifact {
  std::string provider;  ///< "SampleExecutionProvider"
  std::string made_by;   ///< the vendor's library and the device, as ArtifactMaker::made_by() has it
  std::string region;    ///< its name, for people
  std::string key;       ///< of the cache
  std::string payload;   ///< the vendor's bytes

  /// Lines of text, an empty one, and the payload, with its hash among the lines.
  std::string to_bytes() const;
  /// Nothing where the bytes are no artifact, or not as they were written.
  static std::optional<Artifact> from_bytes(std::string_view bytes);
};

/// The version of Roundhouse that this library was built from.
std::string_view own_version();

}  // namespace rh::kit
