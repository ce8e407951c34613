#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "child_process.h"
#include "command.h"
#include "model_options.h"
#include "print.h"
#include "provider_checks.h"
#include "skip_list.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

using nlohmann::json;
using Clock = ChildProcess::Clock;

constexpr const char* kOnnxPrefix = "onnx/";

/// What stands in the report.
struct Result {
  std::string name, status, detail;
  bool from_skip_list = false;
};

void to_json(json& out, const Result& result) { out = {{"name", result.name}, {"status", result.status}, {"detail", result.detail}}; }

struct Settings {
  std::string library, ep, skip_file, python;
  std::vector<std::string> options, only;
  double timeout_s = 120;
  bool list = false, onnx = false;

  /// Whether checks may be wanted whose names begin so.
  bool may_want(const std::string& prefix) const {
    const auto may_fit = [&](const std::string& pattern) {
      const size_t plain = std::min(pattern.find_first_of("*?["), prefix.size());
      return prefix.starts_with(pattern.substr(0, plain)) && plain <= pattern.size();
    };
    return only.empty() || std::any_of(only.begin(), only.end(), may_fit);
  }
  bool wanted(const std::string& name) const {
    return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& pattern) { return fits(pattern, name); });
  }
};

class ProviderReport {
 public:
  ProviderReport(const Settings& settings, const Globals& globals) : settings_(settings), globals_(globals) {
    if (!settings.skip_file.empty()) skips_ = SkipList(settings.skip_file);
    for (const ProviderCheck& check : provider_checks()) skips_.mark_known(check.name);
    request_ = {{"library", utf8(std::filesystem::absolute(as_path(settings.library)))},
                {"ep", settings.ep},
                {"options", json::object()},
                {"only", settings.only},
                {"timeout", settings.timeout_s}};
    for (const std::string& pair : settings.options) {
      const auto [key, value] = split_entry(pair, "--option");
      request_["options"][key] = value;
    }
  }

  int run() {
    std::vector<std::string> left;
    for (const ProviderCheck& check : provider_checks()) {
      if (settings_.wanted(check.name)) left.push_back(check.name);
    }
    const auto limit = std::chrono::milliseconds(static_cast<int64_t>(settings_.timeout_s * 1000));
    do {
      request_["names"] = left;
      run_process({kThisProgram, kCheckerArgument}, limit, left.empty() ? kLoadCheck : left.front());
      if (!loaded()) break;
      std::erase_if(left, [&](const std::string& name) { return seen_.contains(name); });
    } while (!left.empty());
    if (settings_.onnx && loaded() && settings_.may_want(kOnnxPrefix)) run_onnx_cases(limit);
    conclude();
    print_summary();
    return count("fail") ? kDiffers : 0;
  }

 private:
  bool loaded() const { return !results_.empty() && results_.front().name == kLoadCheck && results_.front().status == "pass"; }

  /// A process that tells of its checks; `first` is what it is at where it dies before it tells of any.
  void run_process(std::vector<std::string> command, std::chrono::milliseconds limit, const std::string& first) {
    const std::string file = utf8(folder_ / "request");
    std::ofstream(as_path(file)) << request_;
    command.push_back(file);
    ChildProcess child(std::move(command));
    std::string at = first;
    json line;
    ChildProcess::Next next;
    while ((next = child.next(Clock::now() + limit, line)) == ChildProcess::Next::line) {
      at = line.value("start", std::string());
      if (!line.contains("name")) continue;
      add({line.at("name"), line.at("status"), line.at("detail")});
    }
    const bool in_time = next == ChildProcess::Next::end && child.wait(Clock::now() + limit);
    child.kill();
    const std::string ended = in_time ? child.how_it_ended() : "";
    if (in_time && ended.empty()) return;
    std::string detail = in_time ? "it " + ended : "it did not end in " + number_text(settings_.timeout_s) + " s";
    const std::string said = child.output();
    if (!said.empty()) detail += ": " + said.substr(said.rfind('\n') + 1);
    if (at.empty()) at = "the process after its last check";
    add({at, "fail", detail});
  }

  /// The official cases, in a Python that has them. It looks after cases that crash or hang itself.
  void run_onnx_cases(std::chrono::milliseconds limit) {
    const char* environment = std::getenv("VIRTUAL_ENV");
    const std::string python = !settings_.python.empty() ? settings_.python
                               : environment             ? std::string(environment) + "/bin/python"
                                                         : "python3";
    run_process({python, "-m", "roundhouse.check_provider_onnx"}, limit + std::chrono::minutes(5), "onnx/the suite");
  }

  void add(Result result) {
    if (!seen_.insert(result.name).second) return;
    skips_.mark_known(result.name);
    if (SkipList::Entry* entry = skips_.find(result.name)) {
      entry->needed = entry->needed || result.status == "fail";
      result.from_skip_list = true;
      if (result.status == "pass") {
        result.status = "fail";
        result.detail = "it passes, but the skip list has it (" + entry->reason + "): take it out";
        entry->needed = true;
      } else {
        result.status = "skip";
        result.detail = "skip list: " + entry->reason;
      }
    }
    results_.push_back(result);
    const bool not_taken = result.name.starts_with(kOnnxPrefix) && result.status == "skip" && !result.from_skip_list;
    if (!globals_.json && !not_taken) print(result.status, result.name, result.detail);
  }

  /// Checks of the report itself.
  void conclude() {
    const bool onnx_ran = settings_.onnx && loaded();
    for (const SkipList::Entry& entry : skips_.entries()) {
      const std::string what = "line " + std::to_string(entry.line) + ", '" + entry.pattern + "'";
      if (!entry.known && (onnx_ran || !entry.pattern.starts_with(kOnnxPrefix)) && settings_.only.empty()) {
        add({"the skip list", "fail", what + ", names no check: take it out"});
      } else if (entry.known && !entry.needed && settings_.only.empty()) {
        unused_.push_back(what + ", is not needed: what it names is not taken by the provider");
      }
    }
    if (settings_.only.empty() && !count("fail") && !taken("operators/")) {
      add({"operators", "fail", "the provider takes none of the operator cases: nothing was checked"});
    }
  }

  size_t count(const std::string& status) const {
    return static_cast<size_t>(
        std::count_if(results_.begin(), results_.end(), [&](const Result& result) { return result.status == status; }));
  }

  size_t taken(const std::string& prefix) const {
    return static_cast<size_t>(std::count_if(results_.begin(), results_.end(), [&](const Result& result) {
      return result.name.starts_with(prefix) && result.status == "pass";
    }));
  }

  void print(const std::string& status, const std::string& name, const std::string& detail) const {
    const Style style = status == "pass" ? Style::good : status == "fail" ? Style::bad : Style::dim;
    std::printf("%s  %s%s%s\n", styled(globals_, style, status).c_str(), name.c_str(), detail.empty() ? "" : "  ", detail.c_str());
    std::fflush(stdout);
  }

  void print_summary() const {
    const size_t operators = taken("operators/"), official = taken(kOnnxPrefix);
    const auto official_all = static_cast<size_t>(
        std::count_if(results_.begin(), results_.end(), [](const Result& result) { return result.name.starts_with(kOnnxPrefix); }));
    if (globals_.json) {
      const json counts{{"pass", count("pass")},        {"fail", count("fail")},
                        {"skip", count("skip")},        {"operator_cases_taken", operators},
                        {"onnx_cases_taken", official}, {"onnx_cases", official_all}};
      std::printf("%s\n",
                  json_text({{"library", settings_.library}, {"counts", counts}, {"checks", results_}, {"unused_skips", unused_}}).c_str());
      return;
    }
    for (const std::string& line : unused_) print("note", "the skip list", line);
    std::printf("%zu passed, %zu failed, %zu skipped; %zu operator cases ran on the provider", count("pass"), count("fail"), count("skip"),
                operators);
    if (settings_.onnx) std::printf(", and %zu of the %zu official ones", official, official_all);
    std::printf("\n");
  }

  const Settings& settings_;
  const Globals& globals_;
  TemporaryFolder folder_;
  SkipList skips_;
  json request_;
  std::vector<Result> results_;
  std::vector<std::string> unused_;
  std::set<std::string> seen_;
};

}  // namespace

Command declare_check_provider(CLI::App& app, const Globals& globals) {
  auto settings = std::make_shared<Settings>();
  app.add_option("library", settings->library, "The provider's shared library");
  app.add_option("--ep", settings->ep, "Name of the provider, where the library has several");
  app.add_option("--option", settings->options, "Option of the provider, key=value");
  app.add_option("--skip", settings->skip_file, "Checks that are known to fail, a line each: PATTERN: REASON");
  app.add_option("--only", settings->only, "Only these checks, as in 'operators/Conv*'");
  app.add_option("--timeout", settings->timeout_s, "Seconds that a check may take")->check(CLI::Range(0.1, 86400.0));
  app.add_flag("--list", settings->list, "Print the names of the checks");
  app.add_flag("--onnx", settings->onnx, "Run the official ONNX cases as well, with a Python that has the packages onnx and roundhouse");
  app.add_option("--python", settings->python, "That Python; by default the active environment's, else python3");
  return [settings, &globals] {
    if (settings->list) {
      for (const ProviderCheck& check : provider_checks()) std::printf("%s\n", check.name.c_str());
      return 0;
    }
    if (settings->library.empty()) throw std::runtime_error("check-provider: no library is given");
    return ProviderReport(*settings, globals).run();
  };
}

}  // namespace rh::cli
