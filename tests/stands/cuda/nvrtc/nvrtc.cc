// libnvrtc.so.13 of the stand: NVRTC's functions over the host's compiler.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "stands/cuda/api/nvrtc_api.h"
#include "stands/cuda/common/calls.h"
#include "stands/cuda/common/kind.h"
#include "stands/cuda/nvrtc/compile.h"

using rh::stand::CompiledImage;
using rh::stand::CompileOptions;

int rh::stand::planned(int error) { return error; }

struct _nvrtcProgram {
  rh::stand::SourceProgram source;
  CompiledImage image;
};

RH_STAND_CALL(int, nvrtcVersion, (int* major, int* minor), (major, minor)) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = rh::stand::kCompilerMajor;
  *minor = rh::stand::kCompilerMinor;
  return NVRTC_SUCCESS;
}

RH_STAND_CALL(int, nvrtcCreateProgram,
              (nvrtcProgram * program, const char* source, const char* name, int count, const char* const* texts, const char* const* names),
              (program, source, name, count, texts, names)) {
  if (!program || !source || count < 0 || (count && (!texts || !names))) return NVRTC_ERROR_INVALID_INPUT;
  auto made = std::make_unique<_nvrtcProgram>();
  made->source.source = source;
  made->source.name = name ? name : "default_program";
  for (int i = 0; i < count; ++i) made->source.headers.emplace_back(names[i], texts[i]);
  *program = made.release();
  return NVRTC_SUCCESS;
}

RH_STAND_CALL(int, nvrtcDestroyProgram, (nvrtcProgram * program), (program)) {
  if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

RH_STAND_CALL(int, nvrtcAddNameExpression, (nvrtcProgram program, const char* expression), (program, expression)) {
  if (!program || !expression) return NVRTC_ERROR_INVALID_INPUT;
  program->source.expressions.emplace_back(expression, rh::stand::lowered_name(expression));
  return NVRTC_SUCCESS;
}

RH_STAND_CALL(int, nvrtcGetLoweredName, (nvrtcProgram program, const char* expression, const char** lowered),
              (program, expression, lowered)) {
  if (!program || !expression || !lowered) return NVRTC_ERROR_INVALID_INPUT;
  for (const auto& [given, name] : program->source.expressions)
    if (given == expression) {
      *lowered = name.c_str();
      return NVRTC_SUCCESS;
    }
  return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

RH_STAND_CALL(int, nvrtcCompileProgram, (nvrtcProgram program, int count, const char* const* options), (program, count, options)) {
  if (!program) return NVRTC_ERROR_INVALID_PROGRAM;
  CompileOptions read;
  program->image = {};
  if (!rh::stand::read_options(count, options, &read)) {
    program->image.log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
    return NVRTC_ERROR_INVALID_OPTION;
  }
  return rh::stand::compile(program->source, read, &program->image) ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

// A string's size with its end, and the string.
static int size_of_text(const std::string* text, size_t* size) {
  if (!text || !size) return NVRTC_ERROR_INVALID_INPUT;
  *size = text->size() + 1;
  return NVRTC_SUCCESS;
}
static int copy_bytes(const std::string* bytes, char* to, size_t more) {
  if (!bytes || !to) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(to, bytes->c_str(), bytes->size() + more);
  return NVRTC_SUCCESS;
}
// An image's size: that of code is 0 where only PTX was asked for.
static int size_of_image(nvrtcProgram program, const std::string& image, size_t* size) {
  if (!program || !size) return NVRTC_ERROR_INVALID_INPUT;
  if (program->image.ptx.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  *size = image.size();
  return NVRTC_SUCCESS;
}

RH_STAND_CALL(int, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t* size), (program, size)) {
  return size_of_text(program ? &program->image.log : nullptr, size);
}
RH_STAND_CALL(int, nvrtcGetProgramLog, (nvrtcProgram program, char* log), (program, log)) {
  return copy_bytes(program ? &program->image.log : nullptr, log, 1);
}
RH_STAND_CALL(int, nvrtcGetCUBINSize, (nvrtcProgram program, size_t* size), (program, size)) {
  return size_of_image(program, program->image.code, size);
}
RH_STAND_CALL(int, nvrtcGetCUBIN, (nvrtcProgram program, char* code), (program, code)) {
  return copy_bytes(program ? &program->image.code : nullptr, code, 0);
}
RH_STAND_CALL(int, nvrtcGetPTXSize, (nvrtcProgram program, size_t* size), (program, size)) {
  return size_of_image(program, program->image.ptx, size);
}
RH_STAND_CALL(int, nvrtcGetPTX, (nvrtcProgram program, char* ptx), (program, ptx)) {
  return copy_bytes(program ? &program->image.ptx : nullptr, ptx, 0);
}

RH_STAND_CALL(int, nvrtcGetNumSupportedArchs, (int* count), (count)) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(rh::stand::known_architectures().size());
  return NVRTC_SUCCESS;
}
RH_STAND_CALL(int, nvrtcGetSupportedArchs, (int* architectures), (architectures)) {
  if (!architectures) return NVRTC_ERROR_INVALID_INPUT;
  std::ranges::copy(rh::stand::known_architectures(), architectures);
  return NVRTC_SUCCESS;
}

RH_STAND_EXPORT const char* nvrtcGetErrorString(int error) {
  switch (error) {
    case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case NVRTC_ERROR_OUT_OF_MEMORY: return "NVRTC_ERROR_OUT_OF_MEMORY";
    case NVRTC_ERROR_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION: return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    default: return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}
