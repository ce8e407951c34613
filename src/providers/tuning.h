#pragma once

#include <map>
#include <string>
#include <string_view>

namespace rh {

/// Which way is taken where a kernel has several (KernelVariant): what `roundhouse tune` measured to be faster than what the cost model
/// chose.
struct Tuning {
  std::string preferred;                                    ///< taken wherever it can be; empty: none
  std::map<std::string, std::string, std::less<>> choices;  ///< by problem

  /// What is asked for; empty: nothing.
  std::string_view choice(std::string_view problem) const;
};

/// A file of `roundhouse tune` (docs/command_line.md). What was measured on another class of machine, or with another number of threads, is
/// left out: `ignored` then says why. Throws Error naming file and line.
Tuning read_tuning(const std::string& path, int threads, std::string& ignored);

}  // namespace rh
