#pragma once

#include <functional>
#include <string>
#include <vector>

#include "checked_provider.h"

namespace rh::cli {

/// One line of the report of check-provider. It passes where `run` throws nothing, says nothing where that throws Skip, and else fails.
struct ProviderCheck {
  std::string name;  ///< "copies/divided_with_the_cpu"
  std::function<void(CheckedProvider&)> run;
};

/// In the order in which they run.
const std::vector<ProviderCheck>& provider_checks();

/// The child process of check-provider: runs the checks that a file names and tells {"start": name}, {"name", "status", "detail"}.
int serve_as_checker(const char* request_file, const char* descriptor);
inline constexpr const char* kCheckerArgument = "--serve-as-checker";

/// What comes first in each process.
inline constexpr const char* kLoadCheck = "load/the_library";

}  // namespace rh::cli
