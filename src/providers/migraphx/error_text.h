#pragma once

#include <streambuf>
#include <string>

#include "providers/kit/vendor_library.h"

namespace rh::migraphx {

/// While it lives, what this thread writes to the standard error stream of the C++ library that MIGraphX uses is kept: MIGraphX tells
/// there, and nowhere else, why a call failed. What other threads write goes where it went.
class ErrorText {
 public:
  explicit ErrorText(const kit::VendorLibrary& library);
  ~ErrorText();
  ErrorText(const ErrorText&) = delete;
  ErrorText& operator=(const ErrorText&) = delete;

  /// On one line, without the places in MIGraphX's source.
  std::string take() const;
};

}  // namespace rh::migraphx
