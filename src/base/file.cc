#include "base/file.h"

#include <map>

#include "base/fork_mutex.h"

namespace rh {

namespace {

struct SharedFiles {
  ForkMutex mutex;
  std::map<FileIdentity, std::weak_ptr<const MappedFile>> files;
};

constinit ForkOnce<SharedFiles> g_shared_files;

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::shared(const InputFile& file) {
  SharedFiles& all = g_shared_files.get();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.files, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const MappedFile>& known = all.files[file.identity()];
  auto mapping = known.lock();
  if (!mapping) {
    mapping = std::make_shared<const MappedFile>(file);
    known = mapping;
  }
  return mapping;
}

std::string read_file(const std::string& path) {
  const InputFile file(path);
  std::string content(static_cast<size_t>(file.size()), '\0');
  file.read(0, content.data(), content.size());
  return content;
}

void write_file(const std::string& path, std::string_view content) {
  OutputFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

std::string join_path(std::string_view folder, std::string_view name) {
  if (folder.empty() || is_absolute_path(name)) return std::string(name);
  std::string path(folder);
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

}  // namespace rh
