#include "stands/cuda/nvrtc/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace rh::stand {
namespace {

// Without the libraries that the host program was started with: a compiler wants its own.
std::vector<char*> environment_of_child() {
  std::vector<char*> kept;
  for (char** e = environ; *e; ++e)
    if (strncmp(*e, "LD_PRELOAD=", 11) != 0 && strncmp(*e, "LD_LIBRARY_PATH=", 16) != 0) kept.push_back(*e);
  kept.push_back(nullptr);
  return kept;
}

}  // namespace

bool run_program(const std::vector<std::string>& arguments, const std::string& log) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (auto& a : copies)
    if (!a.empty()) argv.push_back(a.data());
  argv.push_back(nullptr);
  auto environment = environment_of_child();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int status = -1, error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error) {
    std::ofstream(log, std::ios::app) << "stand: the compiler " << argv[0] << " cannot be started: " << strerror(error)
                                      << "; RH_STAND_CXX names another\n";
    return false;
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;
}

}  // namespace rh::stand
