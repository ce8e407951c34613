#pragma once

// What differs from system to system in the search for vendors' libraries (base/vendor_files.h): vendor_files_posix.cc,
// vendor_files_windows.cc.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/vendor_files.h"

namespace rh {

/// The vendors whose libraries there are for this system.
std::span<const VendorFiles> vendors_of_system();

/// The number in the name of a file: 2641 for "libopenvino_c.so.2641" and a row that says "libopenvino_c.so", 0 where the name has none.
/// Nothing: it is another file.
std::optional<int> number_in_name(std::string_view file_name, std::string_view of_row);

/// "libcuda.so or libcuda.so.<version>": what the file of a row may be called.
std::string names_of(std::string_view of_row);

/// What is wrong with a file that is to be a library: "is cut short", "is no library". Empty: nothing, or the file cannot be read.
std::string_view fault_of(const std::filesystem::path& file);

/// The libraries that the process has loaded.
std::vector<std::filesystem::path> loaded_libraries();

/// The folders of Python packages that may be in a virtual environment.
std::vector<std::filesystem::path> packages_of_environment(const std::filesystem::path& environment);

/// Folders that the user lists for libraries, then those of the system.
std::vector<std::filesystem::path> library_folders();

}  // namespace rh
