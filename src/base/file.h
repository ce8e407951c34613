#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rh {

/// Which file, in which state: equal ones have the same content.
struct FileIdentity {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t modified_ns = 0, changed_ns = 0;

  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

/// A regular file opened for reading, or what a pipe gave up to its end. Every function throws Error naming the path and the system's
/// reason.
class InputFile {
 public:
  /// refuse_last: the path itself may be neither a symbolic link nor a pipe, for paths that a model names.
  enum class Links : uint8_t { follow, refuse_last };

  /// Throws Error{no_such_file} where nothing is there, Error{fail} where it is neither a regular file nor a pipe or cannot be read. A pipe
  /// is waited for until its writers have closed it.
  explicit InputFile(std::string path, Links links = Links::follow);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  ///< bytes, when it was opened
  /// Where the opened file lies, links resolved, as the system tells it; nothing where it does not tell.
  std::optional<std::string> real_path() const;
  const FileIdentity& identity() const { return identity_; }
  /// Error{fail} where the file is not what it was when it was opened: cut short, or written to.
  void check_unchanged() const;
  /// Exactly `bytes` bytes from `offset` on; Error{fail} where the file ends before.
  void read(uint64_t offset, void* to, size_t bytes) const;

 private:
  friend class MappedFile;
  void take_pipe();

  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
  FileIdentity identity_;
};

/// A whole file, mapped read-only. An empty file maps to an empty span. Reading bytes that somebody has cut off the file since ends the
/// process, so files must not shrink while they are mapped; replacing them by a new file of the same name is safe.
class MappedFile {
 public:
  /// The mapping of a file that was mapped before and has not changed since is used again.
  static std::shared_ptr<const MappedFile> shared(const InputFile& file);
  explicit MappedFile(const InputFile& file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(base_), size_}; }

 private:
  void* base_ = nullptr;
  size_t size_ = 0;
};

/// Pages of a MappedFile that lie wholly in these bytes leave the process's resident memory; whoever reads them again gets them from the
/// file. Does nothing to memory that is not mapped so.
void forget_mapped_pages(const void* data, size_t bytes);

/// A new file. It takes its path, in place of an older file there, only by commit(): mappings of the older file stay valid.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  uint64_t size() const { return size_; }  ///< bytes written
  void write(const void* from, size_t bytes);
  void commit();

 private:
  std::string path_, part_path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// The file's content.
std::string read_file(const std::string& path);
/// Replaces the file's content.
void write_file(const std::string& path, std::string_view content);

/// "a/b" of "a/b/c", "." of "c", "/" of "/c".
std::string parent_folder(std::string_view path);
std::string file_name(std::string_view path);
/// `name` below `folder`; `name` itself where it is absolute or `folder` is empty.
std::string join_path(std::string_view folder, std::string_view name);
bool is_absolute_path(std::string_view path);
/// The absolute path without symbolic links, "." and ".."; nothing where it does not exist.
std::optional<std::string> resolve_path(const std::string& path);
/// Whether `path` is below `folder`; both as resolve_path gives them.
bool is_below(std::string_view folder, std::string_view path);

}  // namespace rh
