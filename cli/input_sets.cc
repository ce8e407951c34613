#include "input_sets.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include "image.h"

namespace rh::cli {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const std::string& folder) {
  if (!fs::is_directory(folder)) throw std::runtime_error(folder + ": is no folder");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_value_file(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".npy" || ending == ".npz" || ending == ".pb" || ending == ".json" || is_image(path.string());
}

// 3 of "input_3.pb" where the word is "input_".
std::optional<int> numbered(const fs::path& path, const std::string& word) {
  const std::string stem = path.stem().string();
  int number = 0;
  if (!stem.starts_with(word)) return std::nullopt;
  const auto [end, error] = std::from_chars(stem.data() + word.size(), stem.data() + stem.size(), number);
  return error == std::errc() && end == stem.data() + stem.size() ? std::optional(number) : std::nullopt;
}

InputSet set_of(const fs::path& folder) {
  InputSet set{.name = folder.filename().string(), .inputs = {}, .expected = {}};
  std::map<int, std::string> inputs, outputs;
  for (const fs::path& path : entries(folder.string())) {
    if (!fs::is_regular_file(path) || !is_value_file(path)) continue;
    if (const auto at = numbered(path, "input_")) {
      inputs[*at] = path.string();
    } else if (const auto output = numbered(path, "output_")) {
      outputs[*output] = path.string();
    } else {
      set.inputs.push_back(path.extension() == ".npz" ? path.string() : path.stem().string() + "=" + path.string());
    }
  }
  for (const auto& [number, path] : inputs) set.inputs.push_back(path);
  for (const auto& [number, path] : outputs) set.expected.push_back(path);
  return set;
}

}  // namespace

std::vector<InputSet> input_sets(const std::string& folder) {
  std::vector<InputSet> sets;
  for (const fs::path& path : entries(folder)) {
    if (fs::is_directory(path)) sets.push_back(set_of(path));
  }
  std::erase_if(sets, [](const InputSet& set) { return set.inputs.empty(); });
  if (sets.empty()) sets.push_back(set_of(folder));
  if (sets.front().inputs.empty()) throw std::runtime_error(folder + ": holds no inputs, expected .npy, .npz, .pb, .json files or images");
  return sets;
}

std::vector<InputSet> image_sets(const std::string& folder) {
  std::vector<InputSet> sets;
  for (const fs::path& path : entries(folder)) {
    if (is_image(path.string())) sets.push_back({path.filename().string(), {path.string()}, {}});
  }
  if (sets.empty()) throw std::runtime_error(folder + ": holds no images, expected .jpg, .png, .bmp or .ppm files");
  return sets;
}

}  // namespace rh::cli
