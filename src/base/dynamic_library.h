#pragma once

namespace rh {

#ifdef _WIN32
using PathChar = wchar_t;
#else
using PathChar = char;
#endif

/// Loads a shared library; its symbols stay its own. Throws Error{fail} with the system's reason.
void* open_library(const PathChar* path);

/// Null where there is no such symbol; a null library stands for all that the process has loaded.
void* find_symbol(void* library, const char* name);

void close_library(void* library);

}  // namespace rh
