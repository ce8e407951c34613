#pragma once

#include <cstddef>
#include <new>

#include "base/error.h"

namespace rh {

/// Thrown where the system has no memory left; making it takes none. `purpose`: what it was for, a literal, or null.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(size_t bytes, const char* purpose = nullptr) noexcept : bytes_(bytes), purpose_(purpose) {}
  const char* what() const noexcept override { return "out of memory"; }
  size_t bytes() const { return bytes_; }
  const char* purpose() const { return purpose_; }

 private:
  size_t bytes_;
  const char* purpose_;
};

/// The same as an Error, which can say where.
Error error_of(const std::bad_alloc& problem);

}  // namespace rh
