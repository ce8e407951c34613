#include "base/vendor_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "base/paths.h"
#ifdef __linux__
#include <link.h>
#endif

namespace rh {

namespace {

namespace fs = std::filesystem;

constexpr VendorFiles kVendors[] = {
#define RH_VENDOR(...) {__VA_ARGS__},
#include "base/vendor_files.inc"
#undef RH_VENDOR
};

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

/// The number behind the name, "libopenvino_c.so.2641"; 0 where none is.
int number_of(const VendorFiles& vendor, const fs::path& file) {
  const std::string name = utf8(file.filename());
  int number = 0;
  if (name.size() > vendor.file.size() + 1) std::from_chars(name.data() + vendor.file.size() + 1, name.data() + name.size(), number);
  return number;
}

/// The file of a folder whose name begins so; empty: there is none.
fs::path first_in(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (utf8(at->path().filename()).starts_with(name)) return at->path();
  }
  return {};
}

template <typename T>
T number_at(const char* bytes) {
  T number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

/// What is wrong with a file that is to be a library: one that ends before its table of sections, which is its last part, ends a process
/// that opens it. Empty: nothing, or the file cannot be read.
std::string_view fault_of(const fs::path& file) {
  constexpr size_t kHeader = 64, kClass = 4, kSections = 40, kSectionSize = 58, kSectionCount = 60;
  std::error_code error;
  const uintmax_t size = fs::file_size(file, error);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(utf8(file).c_str(), "rb"), std::fclose);
  if (error || !stream) return {};
  char header[kHeader] = {};
  const size_t got = std::fread(header, 1, kHeader, stream.get());
  if (std::string_view(header, 4) != "\177ELF") return "is no library";
  if (got < kHeader) return "is cut short";
  if (header[kClass] != 2) return {};
  const uintmax_t sections = uintmax_t{number_at<uint16_t>(header + kSectionSize)} * number_at<uint16_t>(header + kSectionCount);
  return number_at<uint64_t>(header + kSections) + sections > size ? "is cut short" : "";
}

/// Those of a folder, the newest first.
std::vector<fs::path> files_in(const VendorFiles& vendor, const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = utf8(at->path().filename());
    const std::string_view rest = std::string_view(name).substr(std::min(name.size(), vendor.file.size()));
    if (name.starts_with(vendor.file) && rest.find_first_not_of(".0123456789") == rest.npos) found.push_back(at->path());
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

void add_of_loaded_libraries(std::vector<fs::path>& folders) {
#ifdef __linux__
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        if (info->dlpi_name && *info->dlpi_name) add(*static_cast<std::vector<fs::path>*>(into), packages_folder(info->dlpi_name));
        return 0;
      },
      &folders);
#else
  (void)folders;
#endif
}

void add_of_virtual_environment(std::vector<fs::path>& folders) {
  const std::string environment = environment_variable("VIRTUAL_ENV").value_or("");
  if (environment.empty()) return;
  std::error_code error;
  for (fs::directory_iterator at(as_path(environment) / "lib", error), end; !error && at != end; at.increment(error)) {
    add(folders, at->path() / "site-packages");
  }
}

std::vector<fs::path> python_folders() {
  std::vector<fs::path> folders;
  add(folders, packages_folder(own_library_folder()));
  add_of_loaded_libraries(folders);
  add_of_virtual_environment(folders);
  return folders;
}

std::vector<fs::path> search_folders(const VendorFiles& vendor) {
  std::vector<fs::path> folders;
  add(folders, own_library_folder());
  const std::vector<std::string_view> within = words_of(vendor.python);
  for (const fs::path& packages : within.empty() ? std::vector<fs::path>() : python_folders()) {
    for (const std::string_view folder : within) add(folders, packages / as_path(folder));
  }
  const std::string listed = environment_variable("LD_LIBRARY_PATH").value_or("");
  for (std::string_view rest = listed; !rest.empty();) {
    const size_t end = std::min(rest.find(kPathSeparator), rest.size());
    add(folders, as_path(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const char* folder : {"/opt/rocm/lib", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                             "/usr/lib", "/usr/local/cuda/lib64", "/usr/lib/wsl/lib"}) {
    add(folders, folder);
  }
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
          fmt::format("{} is not at '{}', which {} names: there is no file {} or {}.<version>", vendor.title, utf8(place), whose,
                      vendor.file, vendor.file)};
}

}  // namespace

const VendorFiles* vendor_files(std::string_view key) {
  const auto at = std::ranges::find(kVendors, key, &VendorFiles::key);
  return at == std::end(kVendors) ? nullptr : &*at;
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
          fmt::format("{} is not installed: there is no file {} or {}.<version> beside this library, {}or in the system's folders: {}, or "
                      "name its file in {}",
                      vendor.title, vendor.file, vendor.file, python, remedy(vendor), vendor.variable)};
}

}  // namespace rh
