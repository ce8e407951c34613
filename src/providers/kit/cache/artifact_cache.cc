#include "providers/kit/cache/artifact_cache.h"

#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "providers/kit/cache/artifact_folder.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

/// What a file that gives a key by another name holds.
std::string named_key(const std::string& name, const std::string& key) {
  const std::string both = name + " " + key;
  return fmt::format("{} {:016x}", both, checksum_of(both));
}

bool is_secret(std::string_view text) { return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == text.npos; }

}  // namespace

std::string default_cache_folder() {
  const std::string given = environment_variable("ROUNDHOUSE_CACHE_DIR").value_or("");
  return given.empty() ? user_cache_folder() : given;
}

CacheSettings cache_settings(const Options& options) {
  if (!options.flag(kCacheOption.name)) return {};
  const std::string_view folder = options.text(kCacheFolderOption.name);
  return {.folder = folder.empty() ? default_cache_folder() : std::string(folder),
          .limit_bytes = static_cast<uint64_t>(options.integer(kCacheLimitOption.name)) << 20};
}

std::optional<ArtifactFolder> ArtifactCache::open_folder() {
  if (!is_on()) return {};
  try {
    return std::optional<ArtifactFolder>(std::in_place, settings_.folder);
  } catch (const Error& error) {
    warn_(fmt::format("the cache '{}' is not used: {}", settings_.folder, error.message()));
    settings_.folder.clear();
    return {};
  }
}

std::optional<OwnedBytes> ArtifactCache::read(const std::string& file) {
  const std::optional<ArtifactFolder> folder = open_folder();
  return folder ? folder->read(file, warn_) : std::nullopt;
}

void ArtifactCache::write(const std::string& file, std::string_view head, std::string_view bytes) {
  const std::optional<ArtifactFolder> folder = open_folder();
  if (!folder) return;
  try {
    folder->write(file, head, bytes);
    folder->remove_oldest(settings_.limit_bytes, file);
  } catch (const Error& error) {
    warn_(fmt::format("nothing is kept in the cache '{}', which cannot be written: {}", settings_.folder, error.message()));
  }
}

std::optional<Artifact> ArtifactCache::find(const std::string& key, const std::string& provider) {
  const std::string file = key + std::string(ArtifactFolder::kArtifactEnd);
  const std::optional<OwnedBytes> bytes = read(file);
  if (!bytes) return {};
  std::optional<Artifact> artifact = Artifact::from_bytes(*bytes);
  if (artifact && artifact->key == key && artifact->provider == provider) return artifact;
  warn_(fmt::format("'{}' of the cache {}: the region is compiled anew", file, artifact ? "is of another region" : "is damaged"));
  return {};
}

void ArtifactCache::keep(const Artifact& artifact) {
  write(artifact.key + std::string(ArtifactFolder::kArtifactEnd), artifact.head(), artifact.payload.view);
}

// The file says its own name before the key, so that one that was put in another's place is none, and a checksum of both.
std::optional<std::string> ArtifactCache::key_of_name(const std::string& name) {
  const std::string file = name + std::string(ArtifactFolder::kNameEnd);
  const std::optional<OwnedBytes> bytes = read(file);
  if (!bytes) return {};
  constexpr size_t kDigits = 64;
  const std::string head = name + " ";
  if (bytes->view.starts_with(head) && bytes->view.size() >= head.size() + kDigits) {
    std::string key(bytes->view.substr(head.size(), kDigits));
    if (bytes->view == named_key(name, key)) return key;
  }
  warn_(fmt::format("'{}' of the cache is damaged, or another's: the weights are hashed", file));
  return {};
}

void ArtifactCache::name_key(const std::string& name, const std::string& key) {
  write(name + std::string(ArtifactFolder::kNameEnd), named_key(name, key), {});
}

// Of processes that draw one at once the last wins: what the others named meanwhile is hashed once more.
std::optional<MarkKey> ArtifactCache::mark_key() {
  const std::string file(ArtifactFolder::kSecretFile);
  std::optional<OwnedBytes> secret = read(file);
  if (!secret || !is_secret(secret->view)) {
    write(file, MarkKey::drawn_secret(), {});
    secret = read(file);
  }
  if (!secret || !is_secret(secret->view)) return {};
  return MarkKey(secret->view);
}

}  // namespace rh::kit
