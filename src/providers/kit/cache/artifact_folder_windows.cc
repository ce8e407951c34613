#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/paths.h"
#include "providers/kit/cache/artifact_folder.h"

namespace rh::kit {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartEnd = ".part";  // as OutputFile names its own
constexpr std::chrono::hours kPartAge(1);       // a part that old was left by a process that ended

}  // namespace

std::string user_cache_folder() {
  const std::string local = environment_variable("LOCALAPPDATA").value_or("");
  return local.empty() ? local : local + "\\roundhouse\\cache";
}

// The user's own folder gives its files to nobody else by what they inherit.
ArtifactFolder::ArtifactFolder(const std::string& path) : path_(path) {
  std::error_code error;
  fs::create_directories(as_path(path), error);
  if (error || !fs::is_directory(as_path(path), error)) fail(ErrorCode::fail, "it cannot be made: {}", error.message());
}

ArtifactFolder::~ArtifactFolder() = default;

// Read, not mapped: a mapped file could not be replaced.
std::optional<OwnedBytes> ArtifactFolder::read(const std::string& file, const Warn& warn) const {
  const std::string path = join_path(path_, file);
  try {
    const InputFile input(path, InputFile::Links::refuse_last);
    std::string content(static_cast<size_t>(input.size()), '\0');
    input.read(0, content.data(), content.size());
    std::error_code ignored;
    fs::last_write_time(as_path(path), fs::file_time_type::clock::now(), ignored);  // for what is used least recently
    return OwnedBytes(std::move(content));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_such_file) warn(fmt::format("'{}' of the cache is not read: {}", file, error.message()));
    return {};
  }
}

void ArtifactFolder::write(const std::string& file, std::string_view head, std::string_view bytes) const {
  OutputFile output(join_path(path_, file));
  output.write(head.data(), head.size());
  output.write(bytes.data(), bytes.size());
  output.commit();
}

bool ArtifactFolder::remove(const std::string& file) const {
  std::error_code ignored;
  return fs::remove(as_path(join_path(path_, file)), ignored);
}

std::vector<ArtifactFolder::Entry> ArtifactFolder::list() const {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(as_path(path_), error), end; !error && at != end; at.increment(error)) {
    const std::string name = utf8(at->path().filename());
    std::error_code gone;
    const fs::file_time_type used = at->last_write_time(gone);
    const uintmax_t bytes = gone || !at->is_regular_file(gone) ? 0 : at->file_size(gone);
    if (gone) continue;
    if (name.ends_with(kPartEnd) && fs::file_time_type::clock::now() - used > kPartAge) {
      remove(name);
    } else if (name.ends_with(kArtifactEnd) || name.ends_with(kNameEnd)) {
      entries.push_back({name, bytes, std::chrono::duration_cast<std::chrono::nanoseconds>(used.time_since_epoch()).count()});
    }
  }
  return entries;
}

}  // namespace rh::kit
