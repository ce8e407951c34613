#include "probe.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "peer.h"

namespace rh::cli {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// The child, started with its output going to a file.
struct Child {
  pid_t process = -1;
  int from = -1;
};

Child start(const std::string& library, const std::string& output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe can be made");
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const std::string descriptor = "3";
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    const int moved = fcntl(ends[1], F_DUPFD, 10);  // out of the way of the number that the child is told
    dup2(moved, 3);
    close(moved);
    execl("/proc/self/exe", "roundhouse", kProbeArgument, library.c_str(), descriptor.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  if (file >= 0) close(file);
  if (process < 0) {
    close(ends[0]);
    throw std::runtime_error("no process can be started");
  }
  return {process, ends[0]};
}

/// Lines of the child until it ends; false once the time is over.
bool read_lines(const Child& child, Clock::time_point end, std::vector<json>& lines) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd wait{child.from, POLLIN, 0};
    const int ready = left > 0 ? poll(&wait, 1, static_cast<int>(std::min<int64_t>(left, 1000))) : -2;
    if (ready == -2) return false;
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = read(child.from, buffer, sizeof buffer);
    if (count <= 0) return true;
    text.append(buffer, static_cast<size_t>(count));
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n')) {
      json line = json::parse(text.substr(0, at), nullptr, false);
      if (line.is_object()) lines.push_back(std::move(line));
      text.erase(0, at + 1);
    }
  }
}

/// How a process ended, if within the time.
bool wait_until(pid_t process, Clock::time_point end, int& status) {
  for (;;) {
    const pid_t done = waitpid(process, &status, WNOHANG);
    if (done == process || (done < 0 && errno != EINTR)) return true;
    if (Clock::now() >= end) return false;
    usleep(5000);
  }
}

std::string last_lines(const std::string& file) {
  constexpr size_t kMost = 600;
  std::ifstream stream(file, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.size() > kMost) text.erase(0, text.size() - kMost);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::string signal_text(int number) {
  const char* name = sigabbrev_np(number);
  const char* about = sigdescr_np(number);
  return std::string("SIG") + (name ? name : std::to_string(number).c_str()) + (about ? std::string(" (") + about + ")" : std::string());
}

}  // namespace

json probe_plugin(const std::string& library, std::chrono::milliseconds limit) {
  const TemporaryFolder folder;
  const std::string output = (folder / "output").string();
  const Child child = start(library, output);
  const auto end = Clock::now() + limit;
  std::vector<json> lines;
  int status = 0;
  const bool in_time = read_lines(child, end, lines) && wait_until(child.process, end, status);
  close(child.from);
  if (!in_time) {
    kill(-child.process, SIGKILL);
    waitpid(child.process, &status, 0);
  }
  json result{{"verdict", "works"}, {"step", "start"}, {"detail", ""}, {"providers", json::array()}};
  std::string error;
  for (const json& line : lines) {
    result["step"] = line.value("step", result["step"].get<std::string>());
    if (line.contains("providers")) result["providers"] = line["providers"];
    if (line.contains("error")) error = line["error"];
  }
  const std::string step = result["step"];
  if (!in_time) {
    result["verdict"] = "hangs";
    result["detail"] = "did not end within " + std::to_string(limit.count()) + " ms; it was to " + step;
  } else if (!error.empty()) {
    result["verdict"] = "fails";
    result["detail"] = error;
  } else if (WIFSIGNALED(status)) {
    result["verdict"] = "crashes";
    result["detail"] = "was ended by " + signal_text(WTERMSIG(status)) + "; it was to " + step;
  } else if (step != "end") {
    result["verdict"] = "crashes";
    result["detail"] = "ended the process with code " + std::to_string(WEXITSTATUS(status)) + "; it was to " + step;
  }
  result["output"] = last_lines(output);
  return result;
}

}  // namespace rh::cli
