#include "peer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace rh::cli {

namespace {

namespace fs = std::filesystem;

std::string first_line_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  char text[4096];
  std::string line = std::fgets(text, sizeof text, pipe) ? text : "";
  pclose(pipe);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  return line;
}

// The library of the onnxruntime package that the Python in use would import.
std::string installed_library() {
  constexpr const char* kScript =
      " -c 'import glob, importlib.util as u, os; s = u.find_spec(\"onnxruntime\"); "
      "print(next(iter(glob.glob(os.path.join(s.submodule_search_locations[0], \"capi\", \"libonnxruntime.so*\"))), \"\") if s else \"\")' "
      "2>/dev/null";
  std::vector<std::string> pythons = {"python3", "python"};
  if (const char* environment = std::getenv("VIRTUAL_ENV"))
    pythons.insert(pythons.begin(), "'" + std::string(environment) + "/bin/python'");
  for (const std::string& python : pythons) {
    std::string path = first_line_of(python + kScript);
    if (!path.empty() && fs::exists(path)) return path;
  }
  throw std::runtime_error(
      "--peer onnxruntime: no Python package onnxruntime is installed for python3; install it with pip, or give the path of a "
      "libonnxruntime.so");
}

std::string resolve(const std::string& library) {
  if (library == "onnxruntime") return installed_library();
  if (!fs::exists(library)) throw std::runtime_error("--peer " + library + ": there is no such file, expected 'onnxruntime' or a library");
  return fs::absolute(library).string();
}

}  // namespace

Peer::Peer(const std::string& library, const std::string& model, const SessionSettings& settings, const std::vector<NamedValue>& inputs) {
  nlohmann::json request{{"library", resolve(library)},
                         {"model", model},
                         {"threads", settings.threads},
                         {"optimization", settings.optimization},
                         {"inputs", nlohmann::json::array()}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string file = (folder_ / ("input" + std::to_string(i) + ".npy")).string();
    write_npy(file, inputs[i].second);
    request["inputs"].push_back({{"name", inputs[i].first}, {"file", file}});
  }
  signal(SIGPIPE, SIG_IGN);
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) throw std::runtime_error("--peer: no pipe can be made");
  child_ = fork();
  if (child_ == 0) {
    dup2(down[0], STDIN_FILENO);
    dup2(up[1], STDOUT_FILENO);
    execl("/proc/self/exe", "roundhouse", kPeerArgument, static_cast<char*>(nullptr));
    _exit(127);
  }
  close(down[0]);
  close(up[1]);
  to_ = down[1];
  from_ = fdopen(up[0], "r");
  if (child_ < 0) throw std::runtime_error("--peer: no process can be started");
  const nlohmann::json answer = ask(request);
  const bool stock = library == "onnxruntime" || fs::path(library).filename().string().starts_with("libonnxruntime.");
  name_ = (stock ? "onnxruntime " : "peer ") + answer.at("version").get<std::string>();
  load_ms_ = answer.at("load_ms");
}

Peer::~Peer() {
  if (to_ >= 0) close(to_);
  if (from_) std::fclose(from_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

nlohmann::json Peer::ask(const nlohmann::json& request) {
  const std::string text = request.dump() + "\n";
  for (size_t at = 0; at < text.size();) {
    const ssize_t wrote = write(to_, text.data() + at, text.size() - at);
    if (wrote <= 0) throw std::runtime_error("--peer: the process that runs the other library has ended");
    at += static_cast<size_t>(wrote);
  }
  std::string line;
  for (int c = 0; (c = std::fgetc(from_)) != EOF && c != '\n';) line += static_cast<char>(c);
  if (line.empty()) throw std::runtime_error("--peer: the process that runs the other library has ended");
  nlohmann::json answer = nlohmann::json::parse(line);
  if (answer.contains("error")) throw std::runtime_error("--peer: " + answer["error"].get<std::string>());
  return answer;
}

Measurement Peer::measure(const MeasureOptions& options) { return measurement(ask({{"measure", to_json(options)}})); }

std::vector<NamedValue> Peer::outputs() {
  std::vector<NamedValue> values;
  const nlohmann::json answer = ask({{"save", (folder_ / "output").string()}});
  for (const auto& output : answer.at("outputs")) {
    for (NamedValue& value : read_arrays(output.at("file"))) values.emplace_back(output.at("name"), std::move(value.second));
  }
  return values;
}

}  // namespace rh::cli
