#include "base/dynamic_library.h"

#include <exception>
#include <filesystem>

#include "base/error.h"
#include "base/fork_mutex.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace rh {

#ifdef _WIN32

void* open_library(const PathChar* path) {
  if (void* library = LoadLibraryW(path)) return library;
  fail(ErrorCode::fail, "cannot load library '{}': system error {}", std::filesystem::path(path).string(), GetLastError());
}

void* find_symbol(void* library, const char* name) {
  const HMODULE module = library ? static_cast<HMODULE>(library) : GetModuleHandleW(nullptr);
  return reinterpret_cast<void*>(GetProcAddress(module, name));
}

void close_library(void* library) { FreeLibrary(static_cast<HMODULE>(library)); }

std::filesystem::path own_library_folder() {
  HMODULE module = nullptr;
  constexpr DWORD kFlags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  wchar_t path[MAX_PATH];
  if (!GetModuleHandleExW(kFlags, reinterpret_cast<LPCWSTR>(&own_library_folder), &module)) return {};
  const DWORD length = GetModuleFileNameW(module, path, MAX_PATH);
  return length == 0 || length == MAX_PATH ? std::filesystem::path() : std::filesystem::path(path).parent_path();
}

#else

namespace {

// Where the unwinder is linked into our library, it sets its tables up with the first exception that we throw. One that foreign code throws
// through us before that would end the process.
void set_up_unwinding() {
  static constinit ForkOnce<const bool> done;
  done.get([] {
    try {
      throw std::exception();
    } catch (const std::exception&) {
      return true;
    }
  });
}

}  // namespace

void* open_library(const PathChar* path) {
  set_up_unwinding();
  if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  fail(ErrorCode::fail, "cannot load library '{}': {}", path, dlerror());
}

void* find_symbol(void* library, const char* name) { return dlsym(library ? library : RTLD_DEFAULT, name); }

void close_library(void* library) { dlclose(library); }

std::filesystem::path own_library_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&own_library_folder), &info) || !info.dli_fname) return {};
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, ignored);
  return file.parent_path();
}

#endif

}  // namespace rh
