#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>

#include "command.h"
#include "finite_check.h"
#include "model_options.h"
#include "peer.h"
#include "print.h"
#include "system.h"

namespace rh::cli {

namespace {

/// A value of the reference run, and the node that gave it.
struct Reference {
  Contents tensor;
  std::string node, op;
  nlohmann::json originals;
};

/// Names of values that stay apart when a loop makes them again: "x", "x (2nd time)".
class Occurrences {
 public:
  std::string name(const char* value) {
    const int count = ++counts_[value];
    return count == 1 ? value : std::string(value) + " (time " + std::to_string(count) + ")";
  }

 private:
  std::map<std::string, int> counts_;
};

using Log = std::map<std::string, Reference>;

/// A bar over the nodes of a run.
class NodeProgress {
 public:
  NodeProgress(const std::string& label, const Ort::Session& session)
      : progress_(label), nodes_(report_of(session)["statistics"].value("nodes", 1.0)) {}
  void step() { progress_.update(++done_ / nodes_); }

 private:
  Progress progress_;
  double nodes_, done_ = 0;
};

Log log_run(Ort::Session& session, const std::vector<NamedValue>& inputs) {
  Log log;
  Occurrences occurrences;
  NodeProgress progress("reference", session);
  Runner(session, inputs).run_watched([&](const RhNodeRun& node) {
    progress.step();
    for (size_t i = 0; i < node.output_count; ++i) {
      if (*node.output_names[i]) {
        log[occurrences.name(node.output_names[i])] = {contents_of(node.outputs[i]), node.name, node.op_type, originals_of(node)};
      }
    }
  });
  return log;
}

bool is_narrow_integer(ONNXTensorElementDataType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
}

bool is_half(ONNXTensorElementDataType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
}

struct Compare {
  ModelOptions options;  ///< of the reference
  std::string other_model, peer;
  std::optional<int> other_optimization, other_threads;
  std::string other_precision;
  std::vector<std::string> other_providers, other_config;
  double bound = -1;
  size_t top = 10;
  bool nan = false;
  const CLI::Option* level = nullptr;  ///< -O

  int operator()(const Globals& globals) const { return nan ? check_finite(globals) : compare(globals); }

  int check_finite(const Globals& globals) const {
    Ort::Session session = options.session();
    const std::vector<NamedValue> inputs = options.values(session);
    FiniteCheck check(inputs);
    Runner(session, inputs).run_watched([&](const RhNodeRun& node) { check.visit(node); });
    const nlohmann::json report = check.report();
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      FiniteCheck::print(globals, report);
    }
    return check.passed() ? 0 : kDiffers;
  }

  bool other_differs() const {
    return !other_model.empty() || !peer.empty() || other_optimization || other_threads || !other_precision.empty() ||
           !other_providers.empty() || !other_config.empty();
  }

  // Where no level is asked for, first the one that keeps the model's own values, then the default.
  std::vector<int> levels() const {
    const int asked = options.settings.optimization;
    if (level->count() > 0 || other_optimization || !other_differs()) return {asked};
    return {1, asked};
  }

  SessionSettings other_settings(int optimization) const {
    SessionSettings settings = options.settings;
    settings.optimization = optimization;
    if (other_optimization) settings.optimization = *other_optimization;
    if (other_threads) settings.threads = *other_threads;
    if (!other_precision.empty()) settings.precision = other_precision;
    if (!other_providers.empty()) settings.providers = other_providers;
    settings.config.insert(settings.config.end(), other_config.begin(), other_config.end());
    return settings;
  }

  // What float results may be off by, relative to the largest magnitude of the reference.
  double bound_for(const Contents& a, const Contents& b, const SessionSettings& tested) const {
    if (bound >= 0) return bound;
    const auto coarse = [](const std::string& precision) { return precision == "fast" || precision == "bf16"; };
    return is_half(a.type) || is_half(b.type) || coarse(tested.precision) || coarse(options.settings.precision) ? 2e-2 : 1e-4;
  }

  bool exceeds(const Contents& a, const Contents& b, const Difference& d, const SessionSettings& tested) const {
    if (!d.same_shape || d.not_finite) return true;
    if (is_floating(a.type) || is_floating(b.type)) return d.relative > bound_for(a, b, tested);
    return d.max_abs > (is_narrow_integer(a.type) ? 1 : 0);
  }

  nlohmann::json row(const RhNodeRun& node, const std::string& value, const Reference& reference, const Contents& actual,
                     const SessionSettings& tested) const {
    const Difference d = difference(reference.tensor, actual);
    nlohmann::json row{{"value", value},
                       {"node", node.name},
                       {"operator", node.op_type},
                       {"provider", node.provider},
                       {"originals", originals_of(node)},
                       {"type", element_name(actual.type)},
                       {"shape", actual.shape},
                       {"max_abs", d.max_abs},
                       {"relative", d.relative},
                       {"rms", d.rms},
                       {"cosine", d.cosine},
                       {"not_finite", d.not_finite},
                       {"exceeds", exceeds(reference.tensor, actual, d, tested)}};
    row["reference"] = {{"node", reference.node},
                        {"operator", reference.op},
                        {"originals", reference.originals},
                        {"type", element_name(reference.tensor.type)},
                        {"shape", reference.tensor.shape}};
    if (d.same_shape && d.worst < actual.count()) {
      std::vector<int64_t> index(actual.shape.size());
      size_t rest = d.worst;
      for (size_t k = index.size(); k-- > 0; rest /= static_cast<size_t>(actual.shape[k])) {
        index[k] = static_cast<int64_t>(rest % static_cast<size_t>(actual.shape[k]));
      }
      row["worst"] = {{"index", index}, {"reference", reference.tensor[d.worst]}, {"actual", actual[d.worst]}};
    }
    return row;
  }

  int compare(const Globals& globals) const {
    nlohmann::json report;
    for (const int optimization : levels()) {
      report = compare_at(optimization);
      if (!report["first"].is_null()) break;
    }
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return report["first"].is_null() ? 0 : kDiffers;
  }

  nlohmann::json compare_at(int optimization) const {
    const SessionSettings tested = other_settings(optimization);
    ModelOptions first = options;
    first.settings.optimization = other_differs() ? optimization : 0;
    const std::string& model = other_model.empty() ? options.model : other_model;
    Ort::Session session = first.session();
    const std::vector<NamedValue> inputs = options.values(session);
    nlohmann::json report{{"reference", {{"model", options.model}, {"settings", first.settings.text()}}},
                          {"tested", {{"model", model}, {"settings", tested.text()}}}};
    const Log log = peer.empty() ? log_run(session, inputs) : log_peer(first.settings, inputs, report["reference"]["settings"]);
    size_t values = 0;
    const nlohmann::json rows = compare_run(model, tested, inputs, log, values);
    if (rows.empty()) throw std::runtime_error("no value of '" + model + "' has the name of one of the reference; nothing can be compared");
    const auto exceeding = [](const nlohmann::json& r) { return r["exceeds"].get<bool>(); };
    const auto found = std::find_if(rows.begin(), rows.end(), exceeding);
    report["values"] = {{"compared", rows.size()}, {"without_counterpart", values - rows.size()}};
    report["exceeding"] = std::count_if(rows.begin(), rows.end(), exceeding);
    report["first"] = found == rows.end() ? nlohmann::json() : *found;
    report["worst"] = worst_of(rows);
    return report;
  }

  // A row for each value that the reference has as well; `values` gets the count of all.
  nlohmann::json compare_run(const std::string& model, const SessionSettings& tested, const std::vector<NamedValue>& inputs, const Log& log,
                             size_t& values) const {
    nlohmann::json rows = nlohmann::json::array();
    Ort::Session session = tested.open(model);
    NodeProgress progress("comparing", session);
    Occurrences occurrences;
    std::map<std::string, nlohmann::json> errors;  // by value: its latest
    bool found = false;
    Runner(session, inputs).run_watched([&](const RhNodeRun& node) {
      progress.step();
      for (size_t i = 0; i < node.output_count; ++i) {
        const Contents actual = contents_of(node.outputs[i]);
        if (!*node.output_names[i] || actual.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) continue;
        ++values;
        const std::string name = occurrences.name(node.output_names[i]);
        const auto reference = log.find(name);
        if (reference == log.end() || reference->second.tensor.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) continue;
        rows.push_back(row(node, name, reference->second, actual, tested));
        nlohmann::json& made = rows.back();
        errors[node.output_names[i]] = {{"value", name}, {"relative", made["relative"]}, {"max_abs", made["max_abs"]}};
        if (found || !made["exceeds"].get<bool>()) continue;
        found = true;
        made["inputs"] = nlohmann::json::array();
        for (size_t k = 0; k < node.input_count; ++k) {
          if (const auto error = errors.find(node.input_names[k]); error != errors.end()) made["inputs"].push_back(error->second);
        }
      }
    });
    return rows;
  }

  Log log_peer(const SessionSettings& reference, const std::vector<NamedValue>& inputs, nlohmann::json& settings) const {
    const TemporaryFolder folder;
    const std::string exposed = utf8(folder / "exposed.onnx");
    Ort::ThrowOnError(RhExposeValues(as_path(options.model).c_str(), as_path(exposed).c_str()));
    Peer other(peer, exposed, reference, inputs);
    settings = other.name() + ", " + reference.text();
    Log log;
    for (const NamedValue& output : other.outputs()) log[output.first] = {contents_of(output.second), "", "", nlohmann::json::array()};
    return log;
  }

  nlohmann::json worst_of(nlohmann::json rows) const {
    std::vector<nlohmann::json> sorted(rows.begin(), rows.end());
    const auto error = [](const nlohmann::json& r) { return r["relative"].get<double>(); };
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) { return error(a) > error(b); });
    if (sorted.size() > top) sorted.resize(top);
    return sorted;
  }

  static void print_first(const Globals& globals, const nlohmann::json& r) {
    const std::string node = r["node"].get<std::string>() + " (" + r["operator"].get<std::string>() + ")";
    std::printf("%s\n", styled(globals, Style::bad, "first node off: " + node).c_str());
    std::printf("  value      %s  %s%s\n", r["value"].get<std::string>().c_str(), r["type"].get<std::string>().c_str(),
                shape_text(r["shape"]).c_str());
    const std::string originals = originals_text(r["originals"]);
    if (!originals.empty() && originals != node) std::printf("  stands for %s\n", originals.c_str());
    const std::string given = r["reference"]["node"].get<std::string>();
    if (!given.empty() && given != r["node"].get<std::string>()) {
      std::printf("  reference  %s (%s)\n", given.c_str(), r["reference"]["operator"].get<std::string>().c_str());
    }
    if (r["shape"] != r["reference"]["shape"])
      std::printf("  its shape  %s in the reference\n", shape_text(r["reference"]["shape"]).c_str());
    std::printf("  error      %s of the largest magnitude, at most %s, cosine %s\n", number_text(r["relative"]).c_str(),
                number_text(r["max_abs"]).c_str(), number_text(r["cosine"], 8).c_str());
    for (const auto& input : r["inputs"]) {
      std::printf("  input      %s is off by %s of its largest magnitude, at most %s\n", input["value"].get<std::string>().c_str(),
                  number_text(input["relative"]).c_str(), number_text(input["max_abs"]).c_str());
    }
    if (r["not_finite"] != 0) std::printf("  not finite %s elements in one alone\n", r["not_finite"].dump().c_str());
    if (r.contains("worst")) {
      std::printf("  worst at   %s: reference %s, tested %s\n", shape_text(r["worst"]["index"]).c_str(),
                  number_text(r["worst"]["reference"], 7).c_str(), number_text(r["worst"]["actual"], 7).c_str());
    }
  }

  static void print(const Globals& globals, const nlohmann::json& report) {
    for (const char* side : {"reference", "tested"}) {
      std::printf("%-10s %s  %s\n", side, report[side]["model"].get<std::string>().c_str(),
                  report[side]["settings"].get<std::string>().c_str());
    }
    std::printf("compared   %s values; %s have no counterpart\n\n", report["values"]["compared"].dump().c_str(),
                report["values"]["without_counterpart"].dump().c_str());
    if (report["first"].is_null()) {
      std::printf("%s\n\n", styled(globals, Style::good, "every value is within the bound").c_str());
    } else {
      print_first(globals, report["first"]);
      std::printf("  after it   %d more values exceed the bound\n\n", report["exceeding"].get<int>() - 1);
    }
    Table table({{.title = "worst values", .elastic = true},
                 {.title = "node", .elastic = true},
                 {.title = "operator"},
                 {.title = "relative", .right = true},
                 {.title = "max abs", .right = true},
                 {.title = "cosine", .right = true}});
    for (const auto& r : report["worst"]) {
      table.add(
          {r["value"], r["node"], r["operator"], number_text(r["relative"], 3), number_text(r["max_abs"], 3), number_text(r["cosine"], 6)},
          r["exceeds"].get<bool>() ? Style::bad : Style::plain);
    }
    table.print(globals);
  }
};

}  // namespace

Command declare_compare(CLI::App& app, const Globals& globals) {
  auto compare = std::make_shared<Compare>();
  compare->options.declare(app);
  compare->level = app.get_option("--optimization");
  app.get_option("model")->description("The .onnx file whose values are the reference");
  app.add_option("other", compare->other_model, "The model to test; the same one where it is left out");
  app.add_option("--other-optimization", compare->other_optimization, "Optimization of the tested side")
      ->check(CLI::IsMember({0, 1, 2, 99}));
  app.add_option("--other-threads", compare->other_threads, "Threads of the tested side")->check(CLI::Range(0, 4096));
  app.add_option("--other-precision", compare->other_precision, "Precision of the tested side")
      ->check(CLI::IsMember({"strict", "fp32", "fast", "bf16"}));
  app.add_option("--other-provider", compare->other_providers, "Execution providers of the tested side");
  app.add_option("--other-config", compare->other_config, "Session configuration of the tested side, key=value");
  app.add_option("--peer", compare->peer, "Take the reference from another library: 'onnxruntime' or a path");
  app.add_option("--bound", compare->bound, "Error allowed, relative to a value's largest magnitude; 1e-4, and 2e-2 for half types")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--top", compare->top, "Rows of the table of the worst values")->check(CLI::Range(0, 1000000));
  app.add_flag("--nan", compare->nan, "Find the node that makes the first NaN or infinity instead");
  return [compare, &globals] { return (*compare)(globals); };
}

}  // namespace rh::cli
