#include <chrono>
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "model_options.h"
#include "print.h"

namespace rh::cli {

namespace {

// A file name for an output: its name without characters that paths give a meaning.
std::string file_name(std::string name) {
  for (char& c : name) {
    if (c == '/' || c == '\\' || c == ':') c = '_';
  }
  return name;
}

struct Run {
  ModelOptions options;
  std::vector<std::string> outputs;
  std::string save;

  void operator()(const Globals& globals) const {
    Ort::Session session = options.session();
    const std::vector<NamedValue> inputs = options.values(session);
    const std::vector<std::string> wanted = outputs.empty() ? session.GetOutputNames() : outputs;
    std::vector<const char*> in_names, out_names;
    std::vector<const OrtValue*> values;
    for (const NamedValue& input : inputs) {
      in_names.push_back(input.first.c_str());
      values.push_back(input.second);
    }
    for (const std::string& name : wanted) out_names.push_back(name.c_str());
    std::vector<OrtValue*> raw(wanted.size(), nullptr);
    const auto begin = std::chrono::steady_clock::now();
    Ort::ThrowOnError(
        Ort::GetApi().Run(session, nullptr, in_names.data(), values.data(), values.size(), out_names.data(), out_names.size(), raw.data()));
    const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    nlohmann::json report{{"ms", ms}, {"inputs", nlohmann::json::object()}, {"outputs", nlohmann::json::object()}};
    for (const NamedValue& input : inputs) report["inputs"][input.first] = describe(input.second);
    for (size_t i = 0; i < raw.size(); ++i) {
      const Ort::Value value(raw[i]);
      report["outputs"][wanted[i]] = describe(value);
      if (!save.empty()) {
        std::filesystem::create_directories(save);
        write_npy((std::filesystem::path(save) / (file_name(wanted[i]) + ".npy")).string(), value);
      }
      if (!globals.json) std::printf("%s: %s\n", wanted[i].c_str(), text_of(report["outputs"][wanted[i]]).c_str());
    }
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      std::printf("%.3f ms\n", ms);
    }
  }
};

}  // namespace

Command declare_run(CLI::App& app, const Globals& globals) {
  auto run = std::make_shared<Run>();
  run->options.declare(app);
  app.add_option("-o,--output", run->outputs, "Names of the outputs wanted; all where none is given");
  app.add_option("-s,--save", run->save, "Folder for the outputs, one .npy each");
  return [run, &globals] { (*run)(globals); };
}

}  // namespace rh::cli
