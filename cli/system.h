#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace rh::cli {

// What the command asks of the system: system_posix.cc, system_windows.cc. Text is UTF-8 on every system.

/// The path that text names, and the text of a path.
std::filesystem::path as_path(const std::string& utf8);
std::string utf8(const std::filesystem::path& path);

/// The words behind the program's name. Makes the terminal take UTF-8 where it does not by itself.
std::vector<std::string> program_arguments(int argc, char** argv);
/// The file of this program; empty where the system does not tell.
std::filesystem::path own_program();
void set_variable(const char* name, const std::string& value);

/// Why the user alone cannot have written what is in a folder, and what to do, as providers see it for their cache; empty where he can.
std::string why_not_own(const std::filesystem::path& folder);

bool is_terminal(std::FILE* stream);
/// Columns of the terminal that standard output goes to; 0 where it goes elsewhere.
size_t terminal_columns();

/// The most memory that this process has had.
int64_t peak_memory_bytes();
/// Ends the process as it is: nothing is cleaned up.
[[noreturn]] void end_at_once(int code);

/// Throws std::runtime_error where the library does not load or has no such function.
void* open_library(const std::string& path);
void* find_function(void* library, const char* name);  ///< null where there is none

/// A folder that goes with its contents when this does.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace rh::cli
