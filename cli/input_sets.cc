#include "input_sets.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>

#include "image.h"
#include "system.h"

namespace rh::cli {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries(const std::string& folder) {
  if (!fs::is_directory(as_path(folder))) throw std::runtime_error(folder + ": is no folder");
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(as_path(folder))) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_value_file(const fs::path& path) {
  const std::string ending = utf8(path.extension());
  return ending == ".npy" || ending == ".npz" || ending == ".pb" || ending == ".json" || is_image(utf8(path));
}

// 3 of "input_3.pb" where the word is "input_".
std::optional<int> numbered(const fs::path& path, const std::string& word) {
  const std::string stem = utf8(path.stem());
  int number = 0;
  if (!stem.starts_with(word)) return std::nullopt;
  const auto [end, error] = std::from_chars(stem.data() + word.size(), stem.data() + stem.size(), number);
  return error == std::errc() && end == stem.data() + stem.size() ? std::optional(number) : std::nullopt;
}

InputSet set_of(const fs::path& folder) {
  InputSet set{.name = utf8(folder.filename()), .inputs = {}, .expected = {}};
  std::map<int, std::string> inputs, outputs;
  for (const fs::path& path : entries(utf8(folder))) {
    if (!fs::is_regular_file(path) || !is_value_file(path)) continue;
    if (const auto at = numbered(path, "input_")) {
      inputs[*at] = utf8(path);
    } else if (const auto output = numbered(path, "output_")) {
      outputs[*output] = utf8(path);
    } else {
      set.inputs.push_back(path.extension() == ".npz" ? utf8(path) : utf8(path.stem()) + "=" + utf8(path));
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
  if (sets.empty()) sets.push_back(set_of(as_path(folder)));
  if (sets.front().inputs.empty()) throw std::runtime_error(folder + ": holds no inputs, expected .npy, .npz, .pb, .json files or images");
  return sets;
}

std::vector<InputSet> image_sets(const std::string& folder) {
  std::vector<InputSet> sets;
  for (const fs::path& path : entries(folder)) {
    if (is_image(utf8(path))) sets.push_back({utf8(path.filename()), {utf8(path)}, {}});
  }
  if (sets.empty()) throw std::runtime_error(folder + ": holds no images, expected .jpg, .png, .bmp or .ppm files");
  return sets;
}

}  // namespace rh::cli
