#include <dlfcn.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "system.h"

namespace rh::cli {

std::vector<std::string> program_arguments(int argc, char** argv) { return {argv + (argc > 0 ? 1 : 0), argv + argc}; }

std::filesystem::path own_program() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path() : self;
}

void set_variable(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

std::string why_not_own(const std::filesystem::path& folder) {
  struct stat state{};
  if (::stat(folder.c_str(), &state) != 0) return {};
  char text[160];
  if (state.st_uid != ::geteuid()) {
    std::snprintf(text, sizeof text, "it belongs to user %u, not to user %u: name a folder of yours with --dir",
                  static_cast<unsigned>(state.st_uid), static_cast<unsigned>(::geteuid()));
    return text;
  }
  if ((state.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  std::snprintf(text, sizeof text, "it may be written by others (mode %o): run `chmod go-w` on it",
                static_cast<unsigned>(state.st_mode & 0777));
  return text;
}

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)); }

size_t terminal_columns() {
  if (!is_terminal(stdout)) return 0;
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<int64_t>(usage.ru_maxrss) * 1024;
}

void end_at_once(int code) { _exit(code); }

void* open_library(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  return library;
}

void* find_function(void* library, const char* name) { return dlsym(library, name); }

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "roundhouse-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder can be made: " + pattern);
  path_ = pattern;
}

}  // namespace rh::cli
