#include "base/system_windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/paths.h"

namespace rh {

std::string windows_reason(DWORD error) {
  wchar_t text[512];
  constexpr DWORD kFlags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS | FORMAT_MESSAGE_MAX_WIDTH_MASK;
  const DWORD length = FormatMessageW(kFlags, nullptr, error, 0, text, static_cast<DWORD>(std::size(text)), nullptr);
  std::string words = length == 0 ? "" : utf8(std::wstring(text, length));
  if (const size_t name = words.find("%1"); name != words.npos) words.replace(name, 2, "the file");  // which nobody puts in
  while (!words.empty() && (words.back() == ' ' || words.back() == '.')) words.pop_back();
  return words.empty() ? fmt::format("Windows error {}", error) : fmt::format("{} (Windows error {})", words, error);
}

std::wstring windows_path(std::string_view utf8) {
  constexpr size_t kOldLimit = MAX_PATH - 13;  // less what a folder leaves for a file of the oldest form
  std::wstring path = as_path(utf8).native();
  std::replace(path.begin(), path.end(), L'/', L'\\');
  if (path.starts_with(L"\\\\?\\")) return path;
  const DWORD room = GetFullPathNameW(path.c_str(), 0, nullptr, nullptr);
  if (room < kOldLimit) return path;
  std::wstring whole(room, L'\0');
  whole.resize(GetFullPathNameW(path.c_str(), room, whole.data(), nullptr));
  if (whole.empty()) return path;
  return whole.starts_with(L"\\\\") ? L"\\\\?\\UNC\\" + whole.substr(2) : L"\\\\?\\" + whole;
}

}  // namespace rh
