#include <cstdio>
#include <filesystem>

#include "command.h"
#include "finite_check.h"
#include "model_options.h"
#include "print.h"
#include "runner.h"

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
  bool check_finite = false;

  int operator()(const Globals& globals) const {
    Ort::Session session = options.session();
    const std::vector<NamedValue> inputs = options.values(session);
    Runner runner(session, inputs, outputs);
    FiniteCheck check(inputs);
    double ms = 0;
    const std::vector<Ort::Value> values =
        check_finite ? runner.run_watched([&](const RhNodeRun& node) { check.visit(node); }, &ms) : runner.run(&ms);
    nlohmann::json report{{"ms", ms}, {"inputs", nlohmann::json::object()}, {"outputs", nlohmann::json::object()}};
    for (const NamedValue& input : inputs) report["inputs"][input.first] = describe(input.second);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string& name = runner.outputs()[i];
      report["outputs"][name] = describe(values[i]);
      if (!save.empty()) {
        std::filesystem::create_directories(save);
        write_npy((std::filesystem::path(save) / (file_name(name) + ".npy")).string(), values[i]);
      }
      if (!globals.json) std::printf("%s: %s\n", name.c_str(), text_of(report["outputs"][name]).c_str());
    }
    if (check_finite) report["finite"] = check.report();
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      if (check_finite) FiniteCheck::print(globals, report["finite"]);
      std::printf("%.3f ms\n", ms);
    }
    return check_finite && !check.passed() ? kDiffers : 0;
  }
};

}  // namespace

Command declare_run(CLI::App& app, const Globals& globals) {
  auto run = std::make_shared<Run>();
  run->options.declare(app);
  app.add_option("-o,--output", run->outputs, "Names of the outputs wanted; all where none is given");
  app.add_option("-s,--save", run->save, "Folder for the outputs, one .npy each");
  app.add_flag("--check-finite", run->check_finite, "Name the node that makes the first NaN or infinity");
  return [run, &globals] { return (*run)(globals); };
}

}  // namespace rh::cli
