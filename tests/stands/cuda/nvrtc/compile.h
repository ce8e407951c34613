// Compiles kernel sources by the host's compiler into a shared library, which the stand gives out as the device's code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stands/cuda/nvrtc/rewrite.h"

namespace rh::stand {

constexpr int kCompilerMajor = 13, kCompilerMinor = 5;

struct CompileOptions {
  int architecture = 0;    // 80 of sm_80; 0: the compiler's default
  bool code_only = false;  // compute_80: no code of a device, PTX alone
  std::vector<std::string> flags;
};
// Reads the options of nvrtcCompileProgram; what does not matter here is left out. False: not a known architecture.
bool read_options(int count, const char* const* options, CompileOptions* result);

struct SourceProgram {
  std::string source, name;
  std::vector<std::pair<std::string, std::string>> headers;  // name and text
  std::vector<NameExpression> expressions;
};
struct CompiledImage {
  std::string code, ptx;  // either is a shared library; equal but for what the driver may do with it
  std::string log;
};
// Returns whether it compiled; the log has what the compiler says.
bool compile(const SourceProgram& program, const CompileOptions& options, CompiledImage* image);

}  // namespace rh::stand
