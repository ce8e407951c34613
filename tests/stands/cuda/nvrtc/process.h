#pragma once

#include <string>
#include <vector>

namespace rh::stand {

// Runs a program to its end; what it writes goes into the log. Returns whether it succeeded.
bool run_program(const std::vector<std::string>& arguments, const std::string& log);

}  // namespace rh::stand
