#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dynamic_library.h"
#include "base/error.h"
#include "providers/kit/vendor_library.h"

namespace rh::sample {

struct Program;  ///< the vendor's

struct VendorTensor {
  const void* data;
  const int64_t* dims;
  int rank;
};

using StepDone = void (*)(void* state, int step);
using MakeOutput = float* (*)(void* state, int index, const int64_t* dims, int rank);

inline constexpr std::string_view kFile = kSystemName == "Windows" ? "sample_vendor.dll" : "libsample_vendor.so";

/// The vendor's functions.
struct Vendor {
  explicit Vendor(std::string_view path) : library({"the sample vendor's library", kFile, path, "library_path", "SAMPLE_VENDOR_LIBRARY"}) {
    if (const int found = version(); found < 4) {
      fail(ErrorCode::not_found, "{} is of version {}, expected 4 or newer: install a newer one", library.path(), found);
    }
  }

  kit::VendorLibrary library;
  int (*version)() = library.function("sv_version");
  Program* (*create)(int) = library.function("sv_create");
  void (*destroy)(Program*) = library.function("sv_destroy");
  int (*add_constant)(Program*, const float*, const int64_t*, int) = library.function("sv_add_constant");
  int (*add_step)(Program*, const char*, int, int) = library.function("sv_add_step");
  int (*add_branch)(Program*, int, Program*, const int*, Program*, const int*) = library.function("sv_add_branch");
  int (*set_outputs)(Program*, const int*, int) = library.function("sv_set_outputs");
  size_t (*save)(const Program*, void*, size_t) = library.function("sv_save");
  Program* (*load)(const void*, size_t) = library.function("sv_load");
  int (*run_watched)(const Program*, const VendorTensor*, MakeOutput, StepDone, void*, const char**) = library.function("sv_run_watched");
};

/// A program, and the names of the nodes that its steps compute; constants have none.
struct OwnedProgram {
  std::unique_ptr<Program, void (*)(Program*)> program;
  std::vector<std::string> steps;
};

}  // namespace rh::sample
