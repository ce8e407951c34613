#include <roundhouse/roundhouse_c_api.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "accelerators.h"
#include "command.h"
#include "dependencies.h"
#include "elf.h"
#include "finding.h"
#include "model_options.h"
#include "print.h"
#include "probe.h"
#include "python_packages.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

using nlohmann::json;

json list_providers() {
  Ort::AllocatorWithDefaultOptions allocator;
  char* text = nullptr;
  Ort::ThrowOnError(RhListProviders(environment(), allocator, &text));
  return json::parse(Ort::AllocatedStringPtr(text, Ort::detail::AllocatedFree(allocator)).get());
}

/// One library of providers, examined from outside to inside until something is wrong.
class Examination : Finding {
 public:
  Examination(std::string library, std::chrono::milliseconds limit) : library_(std::move(library)), limit_(limit) {
    result_.update({{"library", library_}, {"dependencies", json::array()}, {"probe", nullptr}});
  }

  json run(const json& driver) && {
    if (!check_file() || !check_dependencies() || !check_driver(driver)) return std::move(result_);
    probe();
    return std::move(result_);
  }

 private:
  bool check_file() {
    std::error_code error;
    if (!std::filesystem::exists(as_path(library_), error))
      return conclude("there is no file '" + library_ + "'", "give the path of the plugin's library");
    try {
      if (read_elf(library_).for_this_machine) return true;
    } catch (const std::exception& problem) {
      return conclude(problem.what(), "install the plugin again, in a build for this system");
    }
    return conclude("it was built for another processor", "install the plugin in a build for this one");
  }

  bool check_dependencies() {
    std::string first;
    for (const Dependency& d : dependencies_of(library_)) {
      result_["dependencies"].push_back(
          {{"name", d.name}, {"path", d.path}, {"version", d.version}, {"needed_by", d.needed_by}, {"problem", d.problem}});
      if (!d.problem.empty() && first.empty()) {
        first = d.name;
        conclude(d.name + " " + (d.path.empty() ? "is " : "") + d.problem, source_of(d.name));
      }
    }
    return first.empty();
  }

  bool check_driver(const json& driver) {
    result_["driver"] = driver;
    if (driver.is_null()) return true;
    const std::string name = driver["name"];
    if (driver["devices"].empty())
      return conclude("the machine has no device that the " + name + " is for", "run it on a machine that has one");
    if (driver["version"] == "" && driver["library"] == "") return conclude("the " + name + " is not installed", "install the " + name);
    return true;
  }

  void probe() {
    const json found = probe_plugin(library_, limit_);
    result_["probe"] = found;
    const std::string verdict = found["verdict"], detail = found["detail"];
    if (verdict != "works") {
      conclude((verdict == "fails" ? "fails: " : "") + (verdict == "fails" ? detail : "it " + detail),
               verdict == "fails" ? "see the message; it is the plugin's own, or names the call that failed"
                                  : "install another version of the plugin, and tell its authors");
      return;
    }
    if (found["providers"].empty()) {
      conclude("it finds no device that it can use", "run it on a machine that has one, or install the device's driver");
      return;
    }
    be_ready();
  }

  std::string library_;
  std::chrono::milliseconds limit_;
};

std::string hex(const json& number) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x", number.get<unsigned>());
  return text;
}

std::string device_text(const json& device) {
  std::string text = device["type"].get<std::string>() + " " + device["vendor"].get<std::string>();
  if (device.contains("vendor_id") && device["type"] != "CPU") text += " " + hex(device["vendor_id"]) + ":" + hex(device["device_id"]);
  return text;
}

struct Doctor {
  std::vector<std::string> plugins;
  std::string root = "/";
  std::string packages;
  double limit_s = 30;
  bool all = false;

  int operator()(const Globals& globals) const {
    json report = list_providers();
    const auto limit = std::chrono::milliseconds(static_cast<int64_t>(limit_s * 1000));
    report["accelerators"] = find_accelerators(root);
    report["python"] = packages.empty() ? find_own_python_packages() : find_python_packages(packages);
    json examined = json::array();
    if (plugins.empty()) {
      for (const json& provider : report["providers"]) examined.push_back(examine(provider, report["hardware"], limit));
      for (const json& library : report["libraries"]) examined.push_back(Examination(library, limit).run(nullptr));
    }
    for (const std::string& plugin : plugins) examined.push_back(Examination(plugin, limit).run(nullptr));
    report["providers"] = std::move(examined);
    report.erase("libraries");
    const bool failed = std::any_of(report["providers"].begin(), report["providers"].end(),
                                    [](const json& p) { return !p["ok"] && !p["library"].get<std::string>().empty(); });
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return failed ? kDiffers : 0;
  }

 private:
  json examine(const json& provider, const json& hardware, std::chrono::milliseconds limit) const {
    const std::string library = provider["library"], state = provider["state"];
    json result = provider;
    if (state == "found") {
      result.update(Examination(library, limit).run(driver_of(provider["short_name"], hardware, root)));
      return result;
    }
    result["ok"] = state == "built in";
    result["verdict"] = state == "built in" ? "ready" : state == "missing" ? "not installed" : state;
    result["remedy"] = provider["reason"];
    return result;
  }

  static std::string name_of(const json& provider) {
    if (provider.contains("name")) return provider["name"];
    const json& probe = provider["probe"];
    if (probe.is_object() && !probe["providers"].empty()) return probe["providers"][0]["name"];
    return utf8(as_path(provider["library"].get<std::string>()).filename());
  }

  void print(const Globals& globals, const json& report) const {
    std::printf("roundhouse %s\n", report["version"].get<std::string>().c_str());
    for (const json& device : report["hardware"]) std::printf("  %s\n", device_text(device).c_str());
    const std::string why_not = report["amx"]["reason"];
    std::printf("  AMX: %s\n", report["amx"]["used"] ? "used for products of floats" : ("not used: " + why_not).c_str());
    if (report["python"].is_object()) print_packages(globals, report["python"]);
    for (const json& accelerator : report["accelerators"]) print_accelerator(globals, accelerator);
    size_t absent = 0;
    for (const json& provider : report["providers"]) {
      const bool present = provider["ok"] || !provider["library"].get<std::string>().empty();
      if (present || all) {
        print_provider(globals, provider);
      } else {
        ++absent;
      }
    }
    if (absent)
      std::printf("\n%zu more known providers are not installed, or not for this system; --all says what each would take\n", absent);
  }

  static void print_packages(const Globals& globals, const json& python) {
    std::printf("\n%s  %s\n", styled(globals, Style::bold, "Python packages").c_str(), python["folder"].get<std::string>().c_str());
    for (const json& package : python["packages"])
      std::printf("  package     %s %s\n", package["name"].get<std::string>().c_str(), package["version"].get<std::string>().c_str());
    const std::string names = python["import_onnxruntime"], verdict = python["verdict"];
    std::printf("  programs    `import onnxruntime` gets %s\n", names.empty() ? "nothing" : names.c_str());
    if (verdict.empty()) return;
    std::printf("  overlap     %s\n  remedy      %s\n", styled(globals, Style::bad, verdict).c_str(),
                python["remedy"].get<std::string>().c_str());
  }

  static void print_accelerator(const Globals& globals, const json& a) {
    const std::string driver = a["name"], module = a["module"], version = a["module_version"], remedy = a["remedy"];
    const std::string title =
        a["type"].get<std::string>() + (a["vendor_id"] == 0 ? "" : " " + hex(a["vendor_id"]) + ":" + hex(a["device_id"]));
    std::printf("\n%s  %s\n", styled(globals, Style::bold, title).c_str(),
                styled(globals,
                       a["ok"]          ? Style::good
                       : driver.empty() ? Style::dim
                                        : Style::bad,
                       a["verdict"])
                    .c_str());
    if (!remedy.empty()) std::printf("  remedy      %s\n", remedy.c_str());
    if (!driver.empty() || !module.empty()) std::printf("  driver      %s %s %s\n", driver.c_str(), module.c_str(), version.c_str());
    for (const std::string file : a["nodes"]) std::printf("  device      %s\n", file.c_str());
    print_dependencies(globals, a["libraries"]);
    for (const std::string file : a["icds"]) std::printf("  loader      %s\n", file.c_str());
    std::string providers;
    for (const std::string name : a["providers"]) providers += (providers.empty() ? "" : ", ") + name;
    if (!providers.empty()) std::printf("  for         %s\n", providers.c_str());
  }

  static void print_provider(const Globals& globals, const json& provider) {
    const bool ok = provider["ok"];
    const std::string library = provider["library"];
    const bool problem = !ok && !library.empty();
    const std::string verdict = provider["verdict"];
    std::printf("\n%s  %s\n", styled(globals, Style::bold, name_of(provider)).c_str(),
                styled(globals,
                       ok        ? Style::good
                       : problem ? Style::bad
                                 : Style::dim,
                       verdict)
                    .c_str());
    if (!ok && !provider["remedy"].get<std::string>().empty())
      std::printf("  remedy      %s\n", provider["remedy"].get<std::string>().c_str());
    if (!library.empty()) std::printf("  library     %s\n", library.c_str());
    if (provider.contains("driver") && provider["driver"].is_object()) print_driver(provider["driver"]);
    if (provider.contains("dependencies")) print_dependencies(globals, provider["dependencies"]);
    if (provider.contains("probe") && provider["probe"].is_object()) print_probe(provider["probe"]);
  }

  static void print_driver(const json& driver) {
    std::printf("  driver      %s %s %s\n", driver["name"].get<std::string>().c_str(), driver["version"].get<std::string>().c_str(),
                driver["library"].get<std::string>().c_str());
    for (const json& device : driver["devices"]) std::printf("  device      %s\n", device_text(device).c_str());
  }

  static void print_dependencies(const Globals& globals, const json& dependencies) {
    for (const json& d : dependencies) {
      const std::string problem = d.value("problem", d["path"] == "" ? "is not found" : "");
      std::string line = d["name"].get<std::string>() + "  " + (d["path"] == "" ? "" : d["path"].get<std::string>());
      if (d["version"] != "") line += "  (" + d["version"].get<std::string>() + ")";
      if (!problem.empty()) line += "  " + problem;
      std::printf("  needs       %s\n", styled(globals, problem.empty() ? Style::plain : Style::bad, line).c_str());
    }
  }

  static void print_probe(const json& probe) {
    for (const json& p : probe["providers"]) {
      for (const json& device : p["devices"]) {
        std::printf("  device      %s of %s %s\n", device_text(device).c_str(), p["name"].get<std::string>().c_str(),
                    p["version"].get<std::string>().c_str());
      }
      std::printf("  trial       a model ran; %s of its %s nodes were taken\n", p["nodes"].dump().c_str(), p["of"].dump().c_str());
    }
    if (probe["verdict"] == "works" || probe["output"] == "") return;
    std::string text = probe["output"];
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) text.insert(at + 1, "              ");
    std::printf("  it printed  %s\n", text.c_str());
  }
};

}  // namespace

Command declare_doctor(CLI::App& app, const Globals& globals) {
  auto doctor = std::make_shared<Doctor>();
  app.add_option("--plugin", doctor->plugins, "Examine these libraries of providers alone");
  app.add_option("--root", doctor->root, "Where the system's /sys, /dev and /etc are that GPUs and NPUs are looked for in");
  app.add_option("--packages", doctor->packages, "The folder of Python packages (site-packages) to examine; by default the command's own");
  app.add_option("--time-limit", doctor->limit_s, "Seconds that a library has for being tried")->check(CLI::Range(0.1, 3600.0));
  app.add_flag("--all", doctor->all, "Show the providers that are not installed as well");
  return [doctor, &globals] { return (*doctor)(globals); };
}

}  // namespace rh::cli
