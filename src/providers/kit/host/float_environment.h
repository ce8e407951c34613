#pragma once

#include <cfenv>

namespace rh::kit {

/// While it lives, this thread computes as it does where a program starts, then as before: hosts may have it take denormals for zero, which
/// vendors' libraries do not expect (some compare integers as floats). Threads that are made meanwhile keep it.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&before_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

}  // namespace rh::kit
