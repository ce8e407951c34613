// A library that stands in for Core ML: it writes down what reaches it, fails where it is told to, and has packages evaluated by a program.
//   RH_COREML_RECORD     the file to which a line is added for each call
//   RH_COREML_KEEP       a folder into which each package is copied, as NUMBER.mlpackage
//   RH_COREML_FAULT      "<function>: <message>": that function fails with the message
//   RH_COREML_EVALUATOR  the command that evaluates packages (evaluate.py); without it predictions give zeros
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "providers/coreml/bridge.h"

namespace {

using rh::coreml::Bridge, rh::coreml::BridgeArray, rh::coreml::BridgeSettings;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::mutex mutex;

void record(const std::string& line) {
  if (const char* path = environment("RH_COREML_RECORD"); *path) std::ofstream(path, std::ios::app) << line << '\n';
}

const char* failed(std::string text) {
  static thread_local std::string message;
  message = std::move(text);
  return message.c_str();
}

const char* fault(std::string_view function) {
  const std::string_view given = environment("RH_COREML_FAULT");
  const size_t colon = given.find(": ");
  return colon != given.npos && given.substr(0, colon) == function ? failed(std::string(given.substr(colon + 2))) : nullptr;
}

size_t bytes_of(const BridgeArray& array) {
  size_t bytes = 4;
  for (size_t i = 0; i < array.rank; ++i) bytes *= static_cast<size_t>(array.shape[i]);
  return bytes;
}

std::string line_of(const BridgeArray& array) {
  std::string line = std::string(array.name) + (array.is_float ? " f4" : " i4");
  for (size_t i = 0; i < array.rank; ++i) line += " " + std::to_string(array.shape[i]);
  return line;
}

/// The program that evaluates packages, of this process: one request at a time. Children of a fork start their own.
class Evaluator {
 public:
  bool start() {
    const char* command = environment("RH_COREML_EVALUATOR");
    if (!*command || process_ == ::getpid()) return *command;
    int to[2], from[2];
    if (::pipe2(to, O_CLOEXEC) || ::pipe2(from, O_CLOEXEC)) return false;
    process_ = ::getpid();
    if (::fork() == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::execl("/bin/sh", "sh", "-c", (std::string("exec ") + command).c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
    return true;
  }
  bool send(const void* data, size_t size) {
    return move_all(size, [&](size_t at) { return ::write(to_, static_cast<const char*>(data) + at, size - at); });
  }
  bool send(const std::string& line) { return send((line + "\n").data(), line.size() + 1); }
  bool take(void* data, size_t size) {
    return move_all(size, [&](size_t at) { return ::read(from_, static_cast<char*>(data) + at, size - at); });
  }
  /// Null for "ok".
  const char* answer() {
    std::string line;
    for (char c = 0; take(&c, 1) && c != '\n';) line += c;
    if (line == "ok") return nullptr;
    return failed(line.starts_with("error ") ? line.substr(6) : "the evaluator has ended");
  }

 private:
  template <typename Step>
  static bool move_all(size_t size, Step step) {
    for (size_t at = 0; at < size;) {
      const ssize_t moved = step(at);
      if (moved <= 0) return false;
      at += static_cast<size_t>(moved);
    }
    return true;
  }

  pid_t process_ = 0;
  int to_ = -1, from_ = -1;
};
Evaluator evaluator;

struct Model {
  std::string number;
};

const char* version() { return "a stand-in for Core ML"; }

const char* load(const BridgeSettings* settings, void** out) {
  static size_t count = 0;
  const std::lock_guard lock(mutex);
  const char* units[] = {"CPUOnly", "CPUAndGPU", "ALL", "CPUAndNeuralEngine"};
  record(std::string("load ") + units[settings->compute_units] + (settings->low_precision_on_gpu ? " low_precision" : "") +
         (settings->fast_prediction ? " fast_prediction" : "") + (std::filesystem::exists(settings->compiled) ? " compiled" : ""));
  if (const char* message = fault("load")) return message;
  auto model = std::make_unique<Model>();
  model->number = std::to_string(count++);
  if (const char* folder = environment("RH_COREML_KEEP"); *folder) {
    std::filesystem::copy(settings->package, std::string(folder) + "/" + model->number + ".mlpackage",
                          std::filesystem::copy_options::recursive);
  }
  std::filesystem::create_directories(settings->compiled);
  if (evaluator.start()) {
    evaluator.send("load " + model->number + " " + settings->package);
    if (const char* message = evaluator.answer()) return message;
  }
  *out = model.release();
  return nullptr;
}

const char* predict(void* raw, const BridgeArray* inputs, size_t input_count, const BridgeArray* outputs, size_t output_count) {
  const std::lock_guard lock(mutex);
  std::string line = "predict";
  for (size_t i = 0; i < input_count; ++i) line += " " + line_of(inputs[i]);
  record(line);
  if (const char* message = fault("predict")) return message;
  if (!evaluator.start()) {
    for (size_t i = 0; i < output_count; ++i) std::memset(outputs[i].data, 0, bytes_of(outputs[i]));
    return nullptr;
  }
  evaluator.send("predict " + static_cast<Model*>(raw)->number + " " + std::to_string(input_count) + " " + std::to_string(output_count));
  for (size_t i = 0; i < input_count; ++i) {
    evaluator.send(line_of(inputs[i]));
    evaluator.send(inputs[i].data, bytes_of(inputs[i]));
  }
  for (size_t i = 0; i < output_count; ++i) evaluator.send(line_of(outputs[i]));
  if (const char* message = evaluator.answer()) return message;
  for (size_t i = 0; i < output_count; ++i) {
    if (!evaluator.take(outputs[i].data, bytes_of(outputs[i]))) return failed("the evaluator has ended");
  }
  return nullptr;
}

void release(void* raw) {
  const std::lock_guard lock(mutex);
  const std::unique_ptr<Model> model(static_cast<Model*>(raw));
  if (!evaluator.start()) return;
  evaluator.send("release " + model->number);
  evaluator.answer();
}

constexpr Bridge kBridge = {sizeof(Bridge), version, load, predict, release};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Bridge* RhCoreMlBridge() { return &kBridge; }
