#include "base/dynamic_library.h"

#include <dlfcn.h>

#include <exception>
#include <filesystem>

#include "base/error.h"
#include "base/fork_mutex.h"

namespace rh {

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

}  // namespace rh
