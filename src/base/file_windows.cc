#include "base/file.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/file_mappings.h"
#include "base/paths.h"
#include "base/system_windows.h"

namespace rh {

namespace {

constexpr size_t kMostAtOnce = size_t{1} << 30;  // of a call of the system

HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }

uint64_t joined(DWORD high, DWORD low) { return static_cast<uint64_t>(high) << 32 | low; }

int64_t ns(const FILETIME& time) { return static_cast<int64_t>(joined(time.dwHighDateTime, time.dwLowDateTime)) * 100; }

FileIdentity identity_of(const BY_HANDLE_FILE_INFORMATION& status) {
  const int64_t modified = ns(status.ftLastWriteTime);
  return {status.dwVolumeSerialNumber, joined(status.nFileIndexHigh, status.nFileIndexLow),
          joined(status.nFileSizeHigh, status.nFileSizeLow), modified, modified};
}

/// Why a file cannot be opened or replaced, and what to do where somebody else holds it.
std::string reason_of(DWORD error) {
  const bool in_use = error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION || error == ERROR_USER_MAPPED_FILE;
  return windows_reason(error) + (in_use ? ": close the program or session that uses it" : "");
}

}  // namespace

InputFile::InputFile(std::string path, Links links) : path_(std::move(path)) {
  constexpr DWORD kOthersMay = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  // With FILE_FLAG_BACKUP_SEMANTICS a folder opens as well, which is then refused by its name.
  const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (links == Links::refuse_last ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
  const HANDLE handle = CreateFileW(windows_path(path_).c_str(), GENERIC_READ, kOthersMay, nullptr, OPEN_EXISTING, flags, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    const DWORD error = GetLastError();
    const bool missing = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND || error == ERROR_INVALID_NAME;
    fail(missing ? ErrorCode::no_such_file : ErrorCode::fail, "cannot open '{}': {}", path_,
         missing ? "File doesn't exist" : reason_of(error));
  }
  BY_HANDLE_FILE_INFORMATION status{};
  const bool known = GetFileType(handle) == FILE_TYPE_DISK && GetFileInformationByHandle(handle, &status);
  if (!known || status.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT)) {
    CloseHandle(handle);
    const bool is_folder = known && status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    fail(ErrorCode::fail, "cannot read '{}': it is {}, expected a regular file", path_, is_folder ? "a folder" : "not a file");
  }
  descriptor_ = _open_osfhandle(reinterpret_cast<intptr_t>(handle), _O_RDONLY | _O_BINARY);
  if (descriptor_ < 0) {
    CloseHandle(handle);
    fail(ErrorCode::fail, "cannot open '{}': this process has too many files open", path_);
  }
  identity_ = identity_of(status);
  size_ = identity_.size;
}

void InputFile::check_unchanged() const {
  BY_HANDLE_FILE_INFORMATION status{};
  if (!GetFileInformationByHandle(handle_of(descriptor_), &status)) return;
  const FileIdentity now = identity_of(status);
  if (now.size < size_) {
    fail(ErrorCode::fail, "'{}' was cut from {} to {} bytes while it was read: load it again when it is whole", path_, size_, now.size);
  }
  if (now.modified_ns != identity_.modified_ns) {
    fail(ErrorCode::fail, "'{}' was written to while it was read: load it again when it is whole", path_);
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) _close(descriptor_);
}

namespace {

/// As resolve_path gives it: without the prefix of long paths, and with '/' between its parts.
std::string plain(std::wstring path) {
  if (path.starts_with(L"\\\\?\\UNC\\")) {
    path.replace(0, 8, L"\\\\");
  } else if (path.starts_with(L"\\\\?\\")) {
    path.erase(0, 4);
  }
  std::replace(path.begin(), path.end(), L'\\', L'/');
  return utf8(path);
}

std::optional<std::string> final_path(HANDLE handle) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = GetFinalPathNameByHandleW(handle, path.data(), static_cast<DWORD>(path.size()), FILE_NAME_NORMALIZED);
    if (length == 0) return std::nullopt;
    const bool fits = length < path.size();
    path.resize(length);
    if (fits) return plain(std::move(path));
  }
}

}  // namespace

std::optional<std::string> InputFile::real_path() const { return final_path(handle_of(descriptor_)); }

void InputFile::read(uint64_t offset, void* to, size_t bytes) const {
  char* position = static_cast<char*>(to);
  while (bytes > 0) {
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(offset);
    at.OffsetHigh = static_cast<DWORD>(offset >> 32);
    DWORD got = 0;
    const bool read = ReadFile(handle_of(descriptor_), position, static_cast<DWORD>(std::min(bytes, kMostAtOnce)), &got, &at);
    if (const DWORD error = GetLastError(); !read && error != ERROR_HANDLE_EOF)
      fail(ErrorCode::fail, "cannot read '{}' at byte {}: {}", path_, offset, reason_of(error));
    if (got == 0) fail(ErrorCode::fail, "'{}' ends at byte {}, expected {} bytes more", path_, offset, bytes);
    position += got;
    offset += got;
    bytes -= got;
  }
}

// The system lets no one cut a file short while it is mapped.
MappedFile::MappedFile(const InputFile& file) : size_(static_cast<size_t>(file.size())) {
  if (size_ == 0) return;
  const HANDLE mapping = CreateFileMappingW(handle_of(file.descriptor_), nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (mapping) base_ = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, size_);
  const DWORD error = GetLastError();
  if (mapping) CloseHandle(mapping);
  if (!base_) fail(ErrorCode::fail, "cannot map '{}' ({} bytes): {}", file.path(), size_, reason_of(error));
}

MappedFile::~MappedFile() {
  if (base_) UnmapViewOfFile(base_);
}

// The system takes such pages away by itself when it needs them.
void forget_mapped_pages(const void*, size_t) {}

OutputFile::OutputFile(std::string path) : path_(std::move(path)), part_path_(path_ + ".part") {
  descriptor_ = _wopen(windows_path(part_path_).c_str(), _O_WRONLY | _O_CREAT | _O_TRUNC | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
  if (descriptor_ < 0) fail(ErrorCode::fail, "cannot write '{}': {}", path_, std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  _close(descriptor_);
  DeleteFileW(windows_path(part_path_).c_str());
}

void OutputFile::write(const void* from, size_t bytes) {
  const char* position = static_cast<const char*>(from);
  while (bytes > 0) {
    const int written = _write(descriptor_, position, static_cast<unsigned>(std::min(bytes, kMostAtOnce)));
    if (written < 0) fail(ErrorCode::fail, "cannot write '{}': {}", path_, std::strerror(errno));
    position += written;
    size_ += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
}

void OutputFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor < 0) return;
  const std::wstring part = windows_path(part_path_);
  const bool closed = _close(descriptor) == 0;
  if (!closed || !MoveFileExW(part.c_str(), windows_path(path_).c_str(), MOVEFILE_REPLACE_EXISTING)) {
    const DWORD error = GetLastError();
    DeleteFileW(part.c_str());
    // An older file that is mapped gives no more than "access denied".
    const char* const remedy = error == ERROR_ACCESS_DENIED ? ": close the program or session that uses it, or see to its rights" : "";
    fail(ErrorCode::fail, "cannot write '{}': {}{}", path_, reason_of(error), remedy);
  }
}

std::string parent_folder(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  if (slash == std::string_view::npos) return ".";
  const bool is_root = slash == 0 || (slash == 2 && path[1] == ':');
  return std::string(path.substr(0, is_root ? slash + 1 : slash));
}

std::string file_name(std::string_view path) {
  const size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// "C:name" and "/name" as well, which depend on the current drive or folder and not on the folder that they are joined to.
bool is_absolute_path(std::string_view path) { return as_path(path).has_root_path(); }

std::optional<std::string> resolve_path(const std::string& path) {
  const HANDLE handle = CreateFileW(windows_path(path).c_str(), 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return std::nullopt;
  auto resolved = final_path(handle);
  CloseHandle(handle);
  return resolved;
}

bool is_below(std::string_view folder, std::string_view path) {
  const size_t length = folder.size() - folder.ends_with('/');  // the root of a drive is "C:/"
  return path.size() > length + 1 && path.starts_with(folder.substr(0, length)) && path[length] == '/';
}

bool write_back_mappings(const std::string&) { return true; }

}  // namespace rh
