#include "child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace rh::cli {

namespace {

using nlohmann::json;

constexpr int kTellDescriptor = 3;

/// Without the names that glibc has from 2.32 on.
std::string signal_text(int number) {
  static constexpr std::pair<int, const char*> kNames[] = {
      {SIGABRT, "ABRT"}, {SIGALRM, "ALRM"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},   {SIGHUP, "HUP"},   {SIGILL, "ILL"},   {SIGINT, "INT"},
      {SIGKILL, "KILL"}, {SIGPIPE, "PIPE"}, {SIGQUIT, "QUIT"}, {SIGSEGV, "SEGV"}, {SIGSYS, "SYS"},   {SIGTERM, "TERM"}, {SIGTRAP, "TRAP"},
      {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}, {SIGXCPU, "XCPU"}, {SIGXFSZ, "XFSZ"}, {SIGSTOP, "STOP"}, {SIGTSTP, "TSTP"},
  };
  const auto* named = std::ranges::find(kNames, number, &std::pair<int, const char*>::first);
  const char* about = strsignal(number);
  return "SIG" + (named == std::end(kNames) ? std::to_string(number) : named->second) + (about ? std::string(" (") + about + ")" : "");
}

/// In the child: sets its descriptors and becomes the program.
[[noreturn]] void become(char* const* arguments, int output, int tell_to) {
  setpgid(0, 0);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  const int moved = fcntl(tell_to, F_DUPFD, 10);  // out of the way of the number that the child is told
  dup2(moved, kTellDescriptor);
  close(moved);
  execvp(arguments[0], arguments);
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> command) {
  command.push_back(std::to_string(kTellDescriptor));
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  const int output = open((folder_ / "output").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  process_ = fork();
  if (process_ == 0) become(arguments.data(), output, ends[1]);
  close(ends[1]);
  if (output >= 0) close(output);
  from_ = ends[0];
  if (process_ > 0) return;
  close(from_);
  throw std::runtime_error("no process can be started");
}

ChildProcess::~ChildProcess() {
  close(from_);
  kill();
}

ChildProcess::Next ChildProcess::next(Clock::time_point until, json& line) {
  for (;;) {
    for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n')) {
      line = json::parse(text_.substr(0, at), nullptr, false);
      text_.erase(0, at + 1);
      if (line.is_object()) return Next::line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return Next::late;
    pollfd wait{from_, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready < 0 && errno != EINTR) return Next::end;
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(from_, buffer, sizeof buffer);
    if (count <= 0) return Next::end;
    text_.append(buffer, static_cast<size_t>(count));
  }
}

bool ChildProcess::wait(Clock::time_point until) {
  for (int status = 0; !status_; usleep(5000)) {
    const pid_t done = waitpid(process_, &status, WNOHANG);
    if (done == process_ || (done < 0 && errno != EINTR)) {
      status_ = status;
    } else if (Clock::now() >= until) {
      return false;
    }
  }
  return true;
}

void ChildProcess::kill() {
  if (status_) return;
  ::kill(-process_, SIGKILL);
  int status = 0;
  waitpid(process_, &status, 0);
  status_ = status;
}

std::string ChildProcess::how_it_ended() const {
  const int status = status_.value_or(0);
  if (WIFSIGNALED(status)) return "was ended by " + signal_text(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? std::string() : "ended the process with code " + std::to_string(WEXITSTATUS(status));
}

std::string ChildProcess::output() const {
  constexpr size_t kMost = 600;
  std::ifstream stream(folder_ / "output", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void tell(int descriptor, const json& line) {
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t wrote = write(descriptor, text.data() + at, text.size() - at);
    if (wrote <= 0) _exit(1);
    at += static_cast<size_t>(wrote);
  }
}

}  // namespace rh::cli
