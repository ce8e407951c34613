#pragma once

// The system's header, and what the files for Windows (*_windows.cc) share.
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// Behind it.
#include <psapi.h>

#include <string>
#include <string_view>
#include <vector>

namespace rh {

/// The system's words for an error with its number: "Access is denied (Windows error 5)".
std::string windows_reason(DWORD error);

/// The path that text in UTF-8 names, as the system's functions take it: one that is too long for their old limit is made absolute and
/// gets the prefix that lifts it.
std::wstring windows_path(std::string_view utf8);

/// The file that a library was loaded from.
std::wstring module_file(HMODULE module);

/// The libraries that the process has loaded, and its program.
std::vector<HMODULE> loaded_modules();

}  // namespace rh
