#pragma once

#include <string>

#include "providers/coreml/mil.h"

namespace rh::coreml {

/// A program as an .mlpackage on disk, and beside it what Core ML compiles of it: in a folder of its own, which goes with this, or in one
/// of the cache's, named by the program's content.
class Package {
 public:
  /// Writes it, unless the cache has it. `cache`: a folder, made where it is missing; empty: none. Throws Error.
  Package(const Program& program, const std::string& cache);
  ~Package();
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;

  std::string package() const { return folder_ + "/model.mlpackage"; }
  std::string compiled() const { return folder_ + "/model.mlmodelc"; }

 private:
  std::string folder_;
  bool is_kept_ = false;
};

}  // namespace rh::coreml
