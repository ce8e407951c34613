#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/environment.h"
#include "base/paths.h"
#include "base/vendor_files_system.h"
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

template <typename T>
T number_at(const char* bytes) {
  T number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

}  // namespace

std::span<const VendorFiles> vendors_of_system() { return kVendors; }

std::optional<int> number_in_name(std::string_view file_name, std::string_view of_row) {
  if (!file_name.starts_with(of_row)) return {};
  const std::string_view rest = file_name.substr(of_row.size());
  if (rest.find_first_not_of(".0123456789") != rest.npos) return {};
  int number = 0;
  if (rest.size() > 1) std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
  return number;
}

std::string names_of(std::string_view of_row) { return fmt::format("{} or {}.<version>", of_row, of_row); }

// One that ends before its table of sections, which is its last part, ends a process that opens it.
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

std::vector<fs::path> loaded_libraries() {
  std::vector<fs::path> libraries;
#ifdef __linux__
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        if (info->dlpi_name && *info->dlpi_name) static_cast<std::vector<fs::path>*>(into)->emplace_back(info->dlpi_name);
        return 0;
      },
      &libraries);
#endif
  return libraries;
}

std::vector<fs::path> packages_of_environment(const fs::path& environment) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator at(environment / "lib", error), end; !error && at != end; at.increment(error)) {
    folders.push_back(at->path() / "site-packages");
  }
  return folders;
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  const std::string listed = environment_variable("LD_LIBRARY_PATH").value_or("");
  for (std::string_view rest = listed; !rest.empty();) {
    const size_t end = std::min(rest.find(':'), rest.size());
    folders.push_back(as_path(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const char* folder : {"/opt/rocm/lib", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                             "/usr/lib", "/usr/local/cuda/lib64", "/usr/lib/wsl/lib"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace rh
