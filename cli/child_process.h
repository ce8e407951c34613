#pragma once

#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "system.h"

namespace rh::cli {

/// This program, for ChildProcess.
inline constexpr const char* kThisProgram = "/proc/self/exe";

/// A process in which something may crash or hang without harm. It tells lines of JSON through a descriptor, whose number is its last
/// argument; what it prints is kept. It ends with this object, and what it started with it.
class ChildProcess {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Next { line, end, late };

  /// A program, which is looked for in PATH, and its arguments. Throws std::runtime_error where no process can be started.
  explicit ChildProcess(std::vector<std::string> command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// The next line that it tells; `end` where there will be none, `late` where none came in time.
  Next next(Clock::time_point until, nlohmann::json& line);
  /// Waits for its end; false where it did not end in time.
  bool wait(Clock::time_point until);
  void kill();
  /// Empty where it ended as it should; else: "was ended by SIGSEGV (Segmentation fault)", "ended with code 7".
  std::string how_it_ended() const;
  /// The last lines that it printed.
  std::string output() const;

 private:
  TemporaryFolder folder_;
  [[maybe_unused]] pid_t process_ = -1;
  [[maybe_unused]] int from_ = -1;
  std::optional<int> status_;
  std::string text_;
};

/// What a child says: a line to the descriptor that it was given. Ends the process where nobody listens.
void tell(int descriptor, const nlohmann::json& line);

}  // namespace rh::cli
