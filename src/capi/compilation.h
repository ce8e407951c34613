#pragma once

#include <string>

#include "abi/model_builder.h"
#include "abi/options.h"

/// What is compiled (one of three), with which options, and where to (one of three; none: a file beside the input).
struct OrtModelCompilationOptions {
  OrtSessionOptions session;
  std::string input_path;
  const void* input_data = nullptr;  ///< the caller's
  size_t input_bytes = 0;
  const OrtModel* input_model = nullptr;  ///< the caller's

  std::string output_path;
  OrtAllocator* output_allocator = nullptr;
  void** output_buffer = nullptr;
  size_t* output_bytes = nullptr;
  OrtWriteBufferFunc write = nullptr;
  void* write_state = nullptr;

  std::string external_file;  ///< for large initializers, relative to the folder of the output
  size_t external_threshold = 0;
  OrtGetInitializerLocationFunc locate = nullptr;
  void* locate_state = nullptr;

  bool embed_context = false;
  std::string context_folder, context_name;
  uint32_t flags = OrtCompileApiFlags_NONE;

  bool has_output() const { return !output_path.empty() || output_buffer || write; }
};
