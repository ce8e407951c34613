#include "base/environment.h"
#include "base/paths.h"
#include "base/system_windows.h"

namespace rh {

std::optional<std::string> environment_variable(const char* name) {
  const std::wstring wide(name, name + std::char_traits<char>::length(name));  // names are ASCII
  std::wstring value(256, L'\0');
  for (;;) {
    SetLastError(ERROR_SUCCESS);
    const DWORD length = GetEnvironmentVariableW(wide.c_str(), value.data(), static_cast<DWORD>(value.size()));
    if (length == 0 && GetLastError() == ERROR_ENVVAR_NOT_FOUND) return std::nullopt;
    const bool fits = length < value.size();
    value.resize(length);
    if (fits) return utf8(value);
  }
}

}  // namespace rh
