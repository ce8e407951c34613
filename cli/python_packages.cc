#include "python_packages.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "system.h"

namespace rh::cli {

namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Folders such as onnxruntime_gpu-1.32.0.dist-info say which packages were installed.
json installed_packages(const fs::path& folder) {
  json packages = json::array();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    constexpr std::string_view kEnd = ".dist-info";
    const size_t dash = file.find('-');
    if (!file.ends_with(kEnd) || dash == std::string::npos) continue;
    std::string name = file.substr(0, dash);
    std::ranges::replace(name, '_', '-');
    const std::string version = file.substr(dash + 1, file.size() - dash - 1 - kEnd.size());
    const bool has_its_names = name == "onnxruntime" || name.starts_with("onnxruntime-");
    if (name != "roundhouse" && !(has_its_names && fs::exists(entry.path() / "RECORD", error))) continue;
    packages.push_back(
        {{"name", name}, {"version", version}, {"ours", name == "roundhouse" || version.find("+roundhouse") != std::string::npos}});
  }
  std::sort(packages.begin(), packages.end());  // by name, which is their first key
  return packages;
}

/// Of these packages, those that lay out the folder onnxruntime: not onnxruntime-extensions and the like.
bool lays_out_onnxruntime(const fs::path& folder, const json& package) {
  std::string name = package["name"];
  if (name == "roundhouse") return false;
  std::ranges::replace(name, '-', '_');
  std::ifstream record(folder / (name + "-" + package["version"].get<std::string>() + ".dist-info") / "RECORD");
  for (std::string line; std::getline(record, line);)
    if (line.starts_with("onnxruntime/__init__.py,")) return true;
  return false;
}

std::string whose_names(const fs::path& folder) {
  std::ifstream file(folder / "onnxruntime" / "__init__.py");
  if (!file) return "";
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.find("roundhouse") != std::string::npos ? "Roundhouse" : "ONNX Runtime";
}

}  // namespace

json find_python_packages(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "roundhouse" / "__init__.py", error)) return nullptr;
  json result = {{"folder", folder.string()},
                 {"packages", json::array()},
                 {"import_onnxruntime", whose_names(folder)},
                 {"verdict", ""},
                 {"remedy", ""}};
  std::string names;
  size_t count = 0;
  bool ours = false;
  for (const json& package : installed_packages(folder)) {
    const bool lays_out = lays_out_onnxruntime(folder, package);
    if (!lays_out && package["name"] != "roundhouse") continue;
    result["packages"].push_back(package);
    if (!lays_out) continue;
    names += (names.empty() ? "" : " ") + package["name"].get<std::string>();
    ++count;
    ours = package["ours"];
  }
  const std::string there = result["import_onnxruntime"];
  if (count > 1) {
    result["verdict"] = names + " lay out the same files; those of " + (there.empty() ? "neither" : there) + " are there";
    result["remedy"] = "pip uninstall " + names + ", then install the one that you want";
  } else if (count == 1 && there != (ours ? "Roundhouse" : "ONNX Runtime")) {
    result["verdict"] = "the files of " + names + " are not those that it came with";
    result["remedy"] = "pip install --force-reinstall " + names + ", of the version that you want";
  }
  return result;
}

json find_own_python_packages() {
  const fs::path self = own_program();
  return self.empty() ? json(nullptr) : find_python_packages(self.parent_path().parent_path().parent_path());
}

}  // namespace rh::cli
