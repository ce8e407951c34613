#pragma once

#include <filesystem>
#include <string_view>

namespace rh {

#if defined(_WIN32)
using PathChar = wchar_t;
inline constexpr char kPathSeparator = ';';
inline constexpr std::string_view kLibraryPrefix = "", kLibrarySuffix = ".dll", kSystemName = "Windows";
#elif defined(__APPLE__)
using PathChar = char;
inline constexpr char kPathSeparator = ':';
inline constexpr std::string_view kLibraryPrefix = "lib", kLibrarySuffix = ".dylib", kSystemName = "macOS";
#elif defined(__ANDROID__)
using PathChar = char;
inline constexpr char kPathSeparator = ':';
inline constexpr std::string_view kLibraryPrefix = "lib", kLibrarySuffix = ".so", kSystemName = "Android";
#else
using PathChar = char;
inline constexpr char kPathSeparator = ':';
inline constexpr std::string_view kLibraryPrefix = "lib", kLibrarySuffix = ".so", kSystemName = "Linux";
#endif

/// Loads a shared library, by its path or by a name that the system finds, but not in the current folder; its symbols stay its own. Throws
/// Error{fail} with the system's reason.
void* open_library(const PathChar* path);

/// Null where there is no such symbol; a null library stands for all that the process has loaded.
void* find_symbol(void* library, const char* name);

void close_library(void* library);

/// The folder of the file that this code was loaded from; empty where the system does not tell.
std::filesystem::path own_library_folder();

}  // namespace rh
