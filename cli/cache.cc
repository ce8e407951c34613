#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <stdexcept>

#include "command.h"
#include "model_options.h"
#include "print.h"
#include "system.h"
#include "terminal.h"

namespace rh::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Where providers keep what they compile, unless an option of theirs says otherwise.
fs::path default_folder() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value ? value : nullptr;
  };
  if (const char* given = set("ROUNDHOUSE_CACHE_DIR")) return as_path(given);
  if (const char* caches = set("XDG_CACHE_HOME")) return as_path(caches) / "roundhouse";
  if (const char* home = set("HOME")) return as_path(home) / ".cache" / "roundhouse";
  if (const char* local = set("LOCALAPPDATA")) return as_path(local) / "roundhouse" / "cache";
  throw std::runtime_error("the cache has no folder: set ROUNDHOUSE_CACHE_DIR, or name it with --dir");
}

/// Throws std::runtime_error where providers would not use the folder. One that is not there yet is made by the first of them.
fs::path checked_folder() {
  const fs::path folder = default_folder();
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return folder;
  const std::string named = "cache: '" + utf8(folder) + "' ";
  const char* other = ": name a folder with --dir, or set ROUNDHOUSE_CACHE_DIR";
  if (status.type() == fs::file_type::none) throw std::runtime_error(named + "cannot be read (" + error.message() + ")" + other);
  if (status.type() != fs::file_type::directory) throw std::runtime_error(named + "is no folder" + other);
  if (const std::string why = why_not_own(folder); !why.empty()) throw std::runtime_error(named + "is not used: " + why);
  return folder;
}

/// What the head of a file says: lines "name: value" up to an empty one.
json head_of(const fs::path& file) {
  json head{{"provider", ""}, {"made_by", ""}, {"region", ""}, {"roundhouse", ""}};
  std::ifstream stream(file, std::ios::binary);
  std::string line;
  if (!std::getline(stream, line) || line != "roundhouse artifact 3") return head;
  while (std::getline(stream, line) && !line.empty()) {
    const size_t colon = line.find(": ");
    if (colon != line.npos && head.contains(line.substr(0, colon))) head[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return head;
}

struct Cache {
  std::string action = "list", folder;
  ModelOptions options;

  int operator()(const Globals& globals) const {
    if (!folder.empty()) set_variable("ROUNDHOUSE_CACHE_DIR", folder);  // for the providers of `warm`
    const fs::path at = checked_folder();
    const json before = entries(at);
    json report{{"folder", utf8(at)}, {"action", action}};
    if (action == "warm") {
      if (options.model.empty()) throw std::runtime_error("cache warm: name a model");
      const Ort::Session session = options.session();
      report["entries"] = added_since(before, at);
      if (before.empty() && report["entries"].empty()) {
        throw std::runtime_error("cache warm: nothing is kept in '" + utf8(at) +
                                 "': no provider of the session keeps what it compiles, or the folder is not one that it may use");
      }
    } else {
      report["entries"] = before;
      if (action == "clear") clear(before, at);
    }
    if (globals.json) {
      std::printf("%s\n", json_text(report).c_str());
    } else {
      print(globals, report);
    }
    return 0;
  }

  /// Of the providers that are asked for, what was used last first.
  json entries(const fs::path& at) const {
    json rows = json::array();
    std::error_code error;
    fs::directory_iterator files(at, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      throw std::runtime_error("cache: '" + utf8(at) + "' cannot be read (" + error.message() + "): name a folder with --dir");
    }
    for (const auto& entry : files) {
      const std::string end = entry.path().extension().string();
      if (!entry.is_regular_file(error) || (end != ".artifact" && end != ".key")) continue;
      json row = head_of(entry.path());
      if (end == ".key" && !options.settings.providers.empty()) continue;
      if (end == ".artifact" && !is_asked_for(row["provider"])) continue;
      row["file"] = entry.path().filename().string();
      row["bytes"] = entry.file_size(error);
      const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
      row["unused_s"] = std::max<double>(0, std::chrono::duration<double>(age).count());
      rows.push_back(std::move(row));
    }
    std::stable_sort(rows.begin(), rows.end(), [](const json& a, const json& b) { return a["unused_s"] < b["unused_s"]; });
    return rows;
  }

  bool is_asked_for(const std::string& provider) const {
    const auto& asked = options.settings.providers;
    return asked.empty() || std::ranges::find(asked, provider) != asked.end();
  }

  json added_since(const json& before, const fs::path& at) const {
    std::set<std::string> known;
    for (const json& row : before) known.insert(row["file"]);
    json added = json::array();
    for (json& row : entries(at)) {
      if (!known.contains(row["file"])) added.push_back(std::move(row));
    }
    return added;
  }

  void clear(const json& rows, const fs::path& at) const {
    const auto remove = [&](const std::string& name) {
      std::error_code error;
      if (!fs::remove(at / name, error) && error) throw std::runtime_error(utf8(at / name) + " cannot be removed: " + error.message());
    };
    for (const json& row : rows) remove(row["file"]);
    if (options.settings.providers.empty()) remove("marks.secret");  // of the names that were removed
  }

  static std::string age_text(double seconds) {
    if (seconds < 120) return number_text(seconds, 2) + " s";
    if (seconds < 7200) return number_text(seconds / 60, 2) + " min";
    return seconds < 172800 ? number_text(seconds / 3600, 2) + " h" : number_text(seconds / 86400, 3) + " days";
  }

  static void print(const Globals& globals, const json& report) {
    double bytes = 0;
    Table table({{.title = "provider"},
                 {.title = "region", .elastic = true},
                 {.title = "made by", .elastic = true},
                 {.title = "size", .right = true},
                 {.title = "not used for", .right = true}});
    for (const json& row : report["entries"]) {
      bytes += row["bytes"].get<double>();
      table.add({row["provider"], row["region"], row["made_by"], bytes_text(row["bytes"]), age_text(row["unused_s"])});
    }
    const std::string action = report["action"];
    const char* what = action == "clear" ? "removed" : action == "warm" ? "added" : "kept";
    const size_t count = report["entries"].size();
    std::printf("%s: %zu file%s, %s %s\n", report["folder"].get<std::string>().c_str(), count, count == 1 ? "" : "s",
                bytes_text(bytes).c_str(), what);
    if (count > 0) table.print(globals);
  }
};

}  // namespace

Command declare_cache(CLI::App& app, const Globals& globals) {
  auto cache = std::make_shared<Cache>();
  app.add_option("action", cache->action, "list, warm (with a model), or clear; --provider chooses")
      ->check(CLI::IsMember({"list", "warm", "clear"}));
  cache->options.declare(app);
  app.get_option("model")->required(false);
  app.add_option("--dir", cache->folder, "The cache's folder, where it is not the default one");
  return [cache, &globals] { return (*cache)(globals); };
}

}  // namespace rh::cli
