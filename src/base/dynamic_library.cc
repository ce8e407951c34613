#include "base/dynamic_library.h"

#include <filesystem>

#include "base/error.h"

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

#else

void* open_library(const PathChar* path) {
  if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  fail(ErrorCode::fail, "cannot load library '{}': {}", path, dlerror());
}

void* find_symbol(void* library, const char* name) { return dlsym(library ? library : RTLD_DEFAULT, name); }

void close_library(void* library) { dlclose(library); }

#endif

}  // namespace rh
