#include "base/error.h"
#include "base/file.h"
#include "base/memory_file.h"
#include "base/paths.h"
#include "base/system_windows.h"

namespace rh {

// Of the user's own folder of temporary files; the system makes a name that is new.
MemoryFile::MemoryFile(std::string_view what) : what_(what) {
  wchar_t folder[MAX_PATH + 1], file[MAX_PATH];
  if (GetTempPathW(MAX_PATH + 1, folder) == 0 || GetTempFileNameW(folder, L"rhm", 0, file) == 0)
    fail(ErrorCode::fail, "no temporary file for {}: {}", what_, windows_reason(GetLastError()));
  path_ = utf8(file);
}

MemoryFile::~MemoryFile() { DeleteFileW(as_path(path_).c_str()); }

void MemoryFile::append_to(std::string& bytes) const { bytes += read_file(path_); }

void MemoryFile::write(std::string_view bytes) const { write_file(path_, bytes); }

}  // namespace rh
