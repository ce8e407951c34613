#include "base/vendor_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "base/paths.h"
#include "base/vendor_files_system.h"

namespace rh {

namespace {

namespace fs = std::filesystem;

/// The parts of a text with blanks between.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// 0: the name has none.
int number_of(const VendorFiles& vendor, const fs::path& file) { return number_in_name(utf8(file.filename()), vendor.file).value_or(0); }

/// The file of a folder whose name begins so; empty: there is none.
fs::path first_in(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (utf8(at->path().filename()).starts_with(name)) return at->path();
  }
  return {};
}

/// Those of a folder, the newest first.
std::vector<fs::path> files_in(const VendorFiles& vendor, const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (number_in_name(utf8(at->path().filename()), vendor.file)) found.push_back(at->path());
  }
  std::ranges::sort(
      found, [&](const fs::path& a, const fs::path& b) { return std::pair(number_of(vendor, a), a) > std::pair(number_of(vendor, b), b); });
  return found;
}

/// The part of a path up to its folder of Python packages; empty where it has none.
fs::path packages_folder(const fs::path& path) {
  fs::path folder;
  for (const fs::path& part : path) {
    folder /= part;
    if (part == "site-packages" || part == "dist-packages") return folder;
  }
  return {};
}

void add(std::vector<fs::path>& folders, const fs::path& folder) {
  if (!folder.empty() && std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
}

std::vector<fs::path> python_folders() {
  std::vector<fs::path> folders;
  add(folders, packages_folder(own_library_folder()));
  for (const fs::path& library : loaded_libraries()) add(folders, packages_folder(library));
  const std::string environment = environment_variable("VIRTUAL_ENV").value_or("");
  if (environment.empty()) return folders;
  for (const fs::path& packages : packages_of_environment(as_path(environment))) add(folders, packages);
  return folders;
}

std::vector<fs::path> search_folders(const VendorFiles& vendor) {
  std::vector<fs::path> folders;
  add(folders, own_library_folder());
  const std::vector<std::string_view> within = words_of(vendor.python);
  for (const fs::path& packages : within.empty() ? std::vector<fs::path>() : python_folders()) {
    for (const std::string_view folder : within) add(folders, packages / as_path(folder));
  }
  for (const fs::path& folder : library_folders()) add(folders, folder);
  return folders;
}

/// How the vendor's package is installed: "pip install openvino".
std::string remedy(const VendorFiles& vendor, std::string_view flag = {}) {
  if (vendor.python.empty()) return fmt::format("install {}", vendor.package);
  return fmt::format("pip install {}{}{}", flag, flag.empty() ? "" : " ", vendor.package);
}

std::string problem_of(const VendorFiles& vendor, const fs::path& file) {
  if (const int number = number_of(vendor, file); number > 0 && number < vendor.least) {
    return fmt::format("{} {} ('{}') is too old, expected {} or newer: {}", vendor.title, vendor_version(number), utf8(file),
                       vendor_version(vendor.least), remedy(vendor, "--upgrade"));
  }
  if (const std::string_view fault = fault_of(file); !fault.empty()) {
    return fmt::format("{} ('{}') is damaged: it {}: {}", vendor.title, utf8(file), fault, remedy(vendor, "--force-reinstall"));
  }
  const std::u8string folder = file.parent_path().generic_u8string();
  const auto is_end = [&](std::string_view within) { return folder.ends_with(as_path(within).generic_u8string()); };
  if (std::ranges::none_of(words_of(vendor.python), is_end)) return {};
  for (const std::string_view name : words_of(vendor.companions)) {
    const fs::path companion = first_in(file.parent_path(), name);
    if (companion.empty()) {
      return fmt::format("{} ('{}') is damaged: there is no file {} beside it: {}", vendor.title, utf8(file), name,
                         remedy(vendor, "--force-reinstall"));
    }
    if (const std::string_view fault = fault_of(companion); !fault.empty()) {
      return fmt::format("{} ('{}') is damaged: {} beside it {}: {}", vendor.title, utf8(file), name, fault,
                         remedy(vendor, "--force-reinstall"));
    }
  }
  return {};
}

/// A file, or the newest in a folder.
VendorFilesState at_place(const VendorFiles& vendor, const fs::path& place, std::string_view whose) {
  std::error_code error;
  if (fs::is_regular_file(place, error)) return {place, problem_of(vendor, place)};
  if (const auto files = files_in(vendor, place); !files.empty()) return {files[0], problem_of(vendor, files[0])};
  return {{},
          fmt::format("{} is not at '{}', which {} names: there is no file {}", vendor.title, utf8(place), whose, names_of(vendor.file))};
}

}  // namespace

const VendorFiles* vendor_files(std::string_view key) {
  const std::span<const VendorFiles> vendors = vendors_of_system();
  const auto at = std::ranges::find(vendors, key, &VendorFiles::key);
  return at == vendors.end() ? nullptr : &*at;
}

std::string vendor_version(int number) {
  if (number < 1000) return {};
  return fmt::format("{}.{}.{}", 2000 + number / 100, number / 10 % 10, number % 10);
}

VendorFilesState look_for_vendor(const VendorFiles& vendor, std::string_view given) {
  if (!given.empty()) return at_place(vendor, as_path(given), "the option");
  if (const auto named = environment_variable(vendor.variable).value_or(""); !named.empty())
    return at_place(vendor, as_path(named), vendor.variable);
  for (const fs::path& folder : search_folders(vendor)) {
    if (const auto files = files_in(vendor, folder); !files.empty()) return {files[0], problem_of(vendor, files[0])};
  }
  const std::string python = vendor.python.empty()
                                 ? std::string()
                                 : fmt::format("in a folder {} of Python's packages, ", fmt::join(words_of(vendor.python), " or "));
  return {{},
          fmt::format("{} is not installed: there is no file {} beside this library, {}or in the system's folders: {}, or "
                      "name its file in {}",
                      vendor.title, names_of(vendor.file), python, remedy(vendor), vendor.variable)};
}

}  // namespace rh
