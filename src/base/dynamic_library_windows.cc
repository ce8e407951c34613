#include <vector>

#include "base/dynamic_library.h"
#include "base/error.h"
#include "base/paths.h"
#include "base/system_windows.h"

namespace rh {

std::wstring module_file(HMODULE module) {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD length = GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
    const bool fits = length < path.size();
    path.resize(fits ? length : path.size() * 2);
    if (fits) return path;
  }
}

std::vector<HMODULE> loaded_modules() {
  std::vector<HMODULE> modules(64);
  for (;;) {
    DWORD needed = 0;
    const DWORD room = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
    if (!K32EnumProcessModules(GetCurrentProcess(), modules.data(), room, &needed)) return {};
    modules.resize(needed / sizeof(HMODULE));
    if (needed <= room) return modules;
  }
}

// What a library needs is looked for in its own folder, in the program's and in the system's, never in the current one, where anybody may
// have put a file. A bare name is looked for in the same places.
void* open_library(const PathChar* path) {
  std::wstring file = path;
  const bool is_bare = file.find_first_of(L"/\\:") == std::wstring::npos;
  if (!is_bare) file = windows_path(utf8(std::filesystem::absolute(file)));
  const DWORD folders = is_bare ? LOAD_LIBRARY_SEARCH_DEFAULT_DIRS : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR;
  DWORD before = 0;
  SetThreadErrorMode(SEM_FAILCRITICALERRORS, &before);  // a message in place of a window
  void* const library = LoadLibraryExW(file.c_str(), nullptr, folders);
  const DWORD reason = GetLastError();
  SetThreadErrorMode(before, nullptr);
  if (library) return library;
  const char* const more = reason == ERROR_MOD_NOT_FOUND ? ": the file or a library that it needs is not there" : "";
  fail(ErrorCode::fail, "cannot load library '{}': {}{}", utf8(path), windows_reason(reason), more);
}

void* find_symbol(void* library, const char* name) {
  if (library) return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
  for (const HMODULE module : loaded_modules()) {
    if (const auto symbol = GetProcAddress(module, name)) return reinterpret_cast<void*>(symbol);
  }
  return nullptr;
}

void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

std::filesystem::path own_library_folder() {
  HMODULE module = nullptr;
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (!GetModuleHandleExW(kFlags, reinterpret_cast<LPCWSTR>(&own_library_folder), &module)) return {};
  return std::filesystem::path(module_file(module)).parent_path();
}

}  // namespace rh
