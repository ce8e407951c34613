#pragma once

#include <string>
#include <vector>

namespace rh::cli {

/// A shared library that another one needs, as the system's loader would find it.
struct Dependency {
  std::string name;       ///< "libcudart.so.12"
  std::string path;       ///< empty where it is not found
  std::string version;    ///< of the file, "12.4.127"; empty where nothing tells it
  std::string needed_by;  ///< the first library that names it
  std::string problem;    ///< a sentence; empty where it is as it should be
};

/// All libraries that a library needs, and theirs in turn, each once. Nothing is loaded or run. Throws std::runtime_error where the library
/// itself cannot be read.
std::vector<Dependency> dependencies_of(const std::string& library);

/// Where the loader finds a library that is opened by its bare name; empty where it does not.
std::string find_library(const std::string& name);

/// The version that a library's file tells by its name or its symbols.
std::string library_version(const std::string& path);

}  // namespace rh::cli
