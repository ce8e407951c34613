#pragma once

#include <optional>
#include <string>
#include <utility>

#include "providers/kit/cache/artifact.h"
#include "providers/kit/cache/artifact_folder.h"
#include "providers/kit/cache/artifact_maker.h"
#include "providers/kit/cache/content_mark.h"

namespace rh::kit {

/// ROUNDHOUSE_CACHE_DIR, else "roundhouse" in XDG_CACHE_HOME or in ~/.cache (on Windows in LOCALAPPDATA); empty where none is set.
std::string default_cache_folder();

/// Artifacts on disk, each a file that is named by its key. Several processes and threads may use one folder. What goes wrong is a warning:
/// the provider compiles as if there were no cache.
class ArtifactCache {
 public:
  using Warn = ArtifactFolder::Warn;
  ArtifactCache(CacheSettings settings, Warn warn) : settings_(std::move(settings)), warn_(std::move(warn)) {}

  bool is_on() const { return !settings_.folder.empty(); }
  /// A file that is not the user's own, or is damaged, or of another key or provider, counts as missing.
  std::optional<Artifact> find(const std::string& key, const std::string& provider);
  /// Written aside and renamed; then the files that were not used for longest go, until the rest is within the bound.
  void keep(const Artifact& artifact);

  /// A key by another name, for weights that are too large to be hashed each time; nothing where the name is new.
  std::optional<std::string> key_of_name(const std::string& name);
  void name_key(const std::string& name, const std::string& key);
  /// Of marks in names: a file of the folder has the secret, which is drawn when it is asked for first. Nothing where it cannot be kept.
  std::optional<MarkKey> mark_key();

 private:
  /// Nothing, after a warning, where the folder cannot be used; the cache is off from then on.
  std::optional<ArtifactFolder> open_folder();
  std::optional<OwnedBytes> read(const std::string& file);
  void write(const std::string& file, std::string_view head, std::string_view bytes);

  CacheSettings settings_;
  Warn warn_;
};

}  // namespace rh::kit
