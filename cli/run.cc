#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "command.h"
#include "finite_check.h"
#include "input_sets.h"
#include "model_options.h"
#include "print.h"
#include "runner.h"
#include "system.h"

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
  std::string save, sets_folder, images_folder;
  bool check_finite = false;
  double bound = 1e-3;

  int operator()(const Globals& globals) const {
    if (sets_folder.empty() && images_folder.empty()) {
      Ort::Session session = options.session();
      nlohmann::json report = run_one(session, options, {}, save);
      print(globals, report);
      return report["passed"] ? 0 : kDiffers;
    }
    return run_sets(globals, sets_folder.empty() ? image_sets(images_folder) : input_sets(sets_folder));
  }

  int run_sets(const Globals& globals, const std::vector<InputSet>& sets) const {
    Ort::Session session = options.session();
    nlohmann::json reports = nlohmann::json::array();
    {
      Progress progress("running");
      for (const InputSet& set : sets) {
        ModelOptions with = options;
        with.inputs.insert(with.inputs.begin(), set.inputs.begin(), set.inputs.end());
        nlohmann::json report = run_one(session, with, set, save.empty() ? save : utf8(as_path(save) / as_path(set.name)));
        report["name"] = set.name;
        reports.push_back(std::move(report));
        progress.update(static_cast<double>(reports.size()) / static_cast<double>(sets.size()));
      }
    }
    const bool passed = std::all_of(reports.begin(), reports.end(), [](const nlohmann::json& r) { return r["passed"].get<bool>(); });
    if (globals.json) {
      std::printf("%s\n", json_text({{"sets", reports}, {"passed", passed}}).c_str());
    } else {
      for (const nlohmann::json& report : reports) {
        std::printf("%s\n", styled(globals, Style::bold, report["name"].get<std::string>()).c_str());
        print(globals, report);
      }
    }
    return passed ? 0 : kDiffers;
  }

  nlohmann::json run_one(Ort::Session& session, const ModelOptions& with, const InputSet& set, const std::string& folder) const {
    const std::vector<NamedValue> inputs = with.values(session);
    Runner runner(session, inputs, outputs);
    FiniteCheck check(inputs);
    double ms = 0;
    const std::vector<Ort::Value> values =
        check_finite ? runner.run_watched([&](const RhNodeRun& node) { check.visit(node); }, &ms) : runner.run(&ms);
    nlohmann::json report{{"ms", ms}, {"inputs", nlohmann::json::object()}, {"outputs", nlohmann::json::object()}};
    bool passed = !check_finite || check.passed();
    for (const NamedValue& input : inputs) report["inputs"][input.first] = describe(input.second);
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string& name = runner.outputs()[i];
      report["outputs"][name] = describe(values[i]);
      if (i < set.expected.size() && outputs.empty()) {
        const nlohmann::json expected = against(set.expected[i], values[i]);
        passed &= expected["passed"].get<bool>();
        report["outputs"][name]["expected"] = expected;
      }
      if (folder.empty()) continue;
      std::filesystem::create_directories(as_path(folder));
      write_npy(utf8(as_path(folder) / as_path(file_name(name) + ".npy")), values[i]);
    }
    if (check_finite) report["finite"] = check.report();
    report["passed"] = passed;
    return report;
  }

  // How far a value is from what a file says that it should be; values that are no tensors of numbers are not looked at.
  nlohmann::json against(const std::string& file, const Ort::Value& value) const {
    const std::vector<NamedValue> expected = read_arrays(file);
    const Contents reference = contents_of(expected.front().second), actual = contents_of(value);
    if (reference.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) return {{"passed", true}};
    const Difference d = difference(reference, actual);
    return {{"relative", d.relative}, {"max_abs", d.max_abs}, {"passed", actual.type == reference.type && d.relative <= bound}};
  }

  void print(const Globals& globals, const nlohmann::json& report) const {
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
      return;
    }
    for (const auto& [name, output] : report["outputs"].items()) {
      std::printf("%s: %s\n", name.c_str(), text_of(output).c_str());
      if (!output.contains("expected") || !output["expected"].contains("relative")) continue;
      const nlohmann::json& expected = output["expected"];
      const std::string error = number_text(expected["relative"], 3);
      std::printf("  %s\n", expected["passed"] ? styled(globals, Style::good, "as expected, off by " + error).c_str()
                                               : styled(globals, Style::bad, "not as expected, off by " + error).c_str());
    }
    if (check_finite) FiniteCheck::print(globals, report["finite"]);
    std::printf("%.3f ms\n", report["ms"].get<double>());
  }
};

}  // namespace

Command declare_run(CLI::App& app, const Globals& globals) {
  auto run = std::make_shared<Run>();
  run->options.declare(app);
  app.add_option("-o,--output", run->outputs, "Names of the outputs wanted; all where none is given");
  app.add_option("-s,--save", run->save, "Folder for the outputs, one .npy each");
  app.add_option("--inputs", run->sets_folder, "Folder of sets of inputs, test_data_set_0 and so on, or of files named by input");
  app.add_option("--batch-dir", run->images_folder, "Folder of images, each for a run")->excludes("--inputs");
  app.add_option("--bound", run->bound, "Error allowed where a set says what is expected, relative to the largest magnitude")
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--check-finite", run->check_finite, "Name the node that makes the first NaN or infinity");
  return [run, &globals] { return (*run)(globals); };
}

}  // namespace rh::cli
