// Paths of wide characters, which programs that are written for Windows have, where paths are of bytes.
#pragma once

#include "base.h"

#ifndef _WIN32
namespace Ort::detail {

/// The text as UTF-8. Throws Exception{ORT_INVALID_ARGUMENT} for what is no Unicode character.
inline std::string Utf8(const wchar_t* text) {
  std::string result;
  for (; *text; ++text) {
    const auto code = static_cast<uint32_t>(*text);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      ORT_CXX_API_THROW("a path of wide characters has the number " + std::to_string(code) + ", expected a Unicode character",
                        ORT_INVALID_ARGUMENT);
    }
    const auto add = [&](uint32_t byte) { result += static_cast<char>(byte); };
    if (code < 0x80) {
      add(code);
      continue;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    add((0xff00u >> (more + 1) & 0xffu) | code >> (6 * more));
    for (int i = more - 1; i >= 0; --i) add(0x80u | (code >> (6 * i) & 0x3fu));
  }
  return result;
}

}  // namespace Ort::detail
#endif
