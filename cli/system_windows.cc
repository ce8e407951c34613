#include "system.h"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
// Behind it.
#include <io.h>
#include <psapi.h>
#include <shellapi.h>

#include <cstdlib>
#include <stdexcept>

namespace rh::cli {

namespace {

HANDLE output() { return GetStdHandle(STD_OUTPUT_HANDLE); }

}  // namespace

std::vector<std::string> program_arguments(int, char**) {
  SetConsoleOutputCP(CP_UTF8);
  DWORD mode = 0;
  if (GetConsoleMode(output(), &mode)) SetConsoleMode(output(), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);  // colours
  int count = 0;
  wchar_t** const words = CommandLineToArgvW(GetCommandLineW(), &count);
  std::vector<std::string> arguments;
  for (int i = 1; i < count; ++i) arguments.push_back(utf8(words[i]));
  LocalFree(words);
  return arguments;
}

std::filesystem::path own_program() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

// Of the process, for libraries that ask the system, and of C's library, for those that ask it.
void set_variable(const char* name, const std::string& value) {
  _wputenv_s(as_path(name).c_str(), as_path(value).c_str());
  SetEnvironmentVariableW(as_path(name).c_str(), as_path(value).c_str());
}

// The user's own folders give their files to nobody else by what they inherit.
std::string why_not_own(const std::filesystem::path&) { return {}; }

bool is_terminal(std::FILE* stream) { return _isatty(_fileno(stream)); }

size_t terminal_columns() {
  if (!is_terminal(stdout)) return 0;
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (!GetConsoleScreenBufferInfo(output(), &info)) return 80;
  return static_cast<size_t>(info.srWindow.Right - info.srWindow.Left + 1);
}

int64_t peak_memory_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  return K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? static_cast<int64_t>(counters.PeakWorkingSetSize) : 0;
}

void end_at_once(int code) {
  TerminateProcess(GetCurrentProcess(), static_cast<UINT>(code));
  std::abort();  // not reached
}

void* open_library(const std::string& path) {
  const std::filesystem::path file = std::filesystem::absolute(as_path(path));
  void* const library = LoadLibraryExW(file.c_str(), nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
  if (!library) throw std::runtime_error("'" + path + "' does not load: Windows error " + std::to_string(GetLastError()));
  return library;
}

void* find_function(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

TemporaryFolder::TemporaryFolder() {
  const std::string stem = "roundhouse-" + std::to_string(GetCurrentProcessId()) + "-";
  for (int i = 0; i < 1000; ++i) {
    path_ = std::filesystem::temp_directory_path() / (stem + std::to_string(i));
    std::error_code error;
    if (std::filesystem::create_directory(path_, error)) return;
  }
  throw std::runtime_error("no temporary folder can be made: " + utf8(path_));
}

}  // namespace rh::cli
