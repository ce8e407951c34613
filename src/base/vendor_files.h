#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rh {

/// A vendor's library, as its files tell of it: nothing is opened.
struct VendorFiles {
  std::string_view key;         ///< of the provider
  std::string_view title;       ///< "OpenVINO"
  std::string_view file;        ///< how the file's name begins: "libopenvino_c.so"
  std::string_view python;      ///< folders within those of Python packages, with blanks between: "openvino/libs"; empty: none
  const char* variable;         ///< of the environment: a file or a folder
  int least;                    ///< the least number that may follow the name; files without a number are not judged by it
  std::string_view package;     ///< what `pip install` is given; of the system: what is to be installed
  std::string_view companions;  ///< beside a file in a Python package, separated by blanks
};

/// Null for providers without such a row.
const VendorFiles* vendor_files(std::string_view key);

/// What was found of a vendor's library.
struct VendorFilesState {
  std::filesystem::path file;  ///< empty: none
  std::string problem;         ///< a sentence that says what is wrong and what to do; empty: as far as files tell it works
};

/// Looks at `given` alone where a file or a folder is given, else at the environment's variable alone where it is set, else beside this
/// library, in the folders of Python packages (those around this library and around libraries that the process has loaded, and that of
/// VIRTUAL_ENV), and in the system's folders. The newest of the first folder that has any.
VendorFilesState look_for_vendor(const VendorFiles& vendor, std::string_view given = {});

/// "2026.4.1" for a file's number 2641; empty where there is none.
std::string vendor_version(int number);

}  // namespace rh
