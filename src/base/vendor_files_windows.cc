#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>

#include "base/environment.h"
#include "base/paths.h"
#include "base/system_windows.h"
#include "base/vendor_files_system.h"

namespace rh {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnd = ".dll";

constexpr VendorFiles kVendors[] = {
    {"openvino", "OpenVINO", "openvino_c.dll", "openvino/libs", "ROUNDHOUSE_OPENVINO_LIBRARY", 0, "openvino",
     "openvino.dll openvino_onnx_frontend.dll tbb12.dll openvino_intel_cpu_plugin.dll"},
    {"cuda", "NVIDIA's driver", "nvcuda.dll", "", "ROUNDHOUSE_CUDA_LIBRARY", 0, "the NVIDIA driver", ""},
    {"nvrtc", "NVRTC", "nvrtc64.dll", "nvidia/cu13/bin/x86_64 nvidia/cuda_nvrtc/bin", "ROUNDHOUSE_NVRTC_LIBRARY", 0, "nvidia-cuda-nvrtc",
     "nvrtc-builtins64"},
};

std::vector<fs::path> parts_of_list(std::string_view list) {
  std::vector<fs::path> folders;
  while (!list.empty()) {
    const size_t end = std::min(list.find(';'), list.size());
    folders.push_back(as_path(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return folders;
}

fs::path system_folder() {
  wchar_t folder[MAX_PATH] = {};
  return GetSystemDirectoryW(folder, MAX_PATH) == 0 ? fs::path() : fs::path(folder);
}

}  // namespace

std::span<const VendorFiles> vendors_of_system() { return kVendors; }

// "nvrtc64.dll" stands for "nvrtc64_130_0.dll" as well.
std::optional<int> number_in_name(std::string_view file_name, std::string_view of_row) {
  const std::string_view stem = of_row.substr(0, of_row.size() - kEnd.size());
  if (!file_name.starts_with(stem) || !file_name.substr(stem.size()).ends_with(kEnd)) return {};
  const std::string_view rest = file_name.substr(stem.size(), file_name.size() - stem.size() - kEnd.size());
  if (rest.find_first_not_of("_0123456789") != rest.npos) return {};
  int number = 0;
  if (rest.size() > 1) std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
  return number;
}

std::string names_of(std::string_view of_row) { return std::string(of_row); }

std::string_view fault_of(const fs::path& file) {
  constexpr std::streamoff kHeaderPlace = 0x3c;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {};
  char mark[4] = {};
  uint32_t place = 0;
  if (!stream.read(mark, 2) || std::string_view(mark, 2) != "MZ") return "is no library";
  stream.seekg(kHeaderPlace);
  if (!stream.read(reinterpret_cast<char*>(&place), sizeof place)) return "is cut short";
  stream.seekg(place);
  if (!stream.read(mark, 4)) return "is cut short";
  return std::string_view(mark, 2) == "PE" ? "" : "is no library";
}

std::vector<fs::path> loaded_libraries() {
  std::vector<fs::path> libraries;
  for (const HMODULE module : loaded_modules()) libraries.emplace_back(module_file(module));
  return libraries;
}

std::vector<fs::path> packages_of_environment(const fs::path& environment) { return {environment / "Lib" / "site-packages"}; }

// The folders of PATH that do not depend on the current one, where anybody may have put a file.
std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& folder : parts_of_list(environment_variable("PATH").value_or(""))) {
    if (folder.is_absolute()) folders.push_back(folder);
  }
  if (const std::string cuda = environment_variable("CUDA_PATH").value_or(""); !cuda.empty()) {
    folders.push_back(as_path(cuda) / "bin");
    folders.push_back(as_path(cuda) / "bin" / "x64");
  }
  folders.push_back(system_folder());
  return folders;
}

}  // namespace rh
