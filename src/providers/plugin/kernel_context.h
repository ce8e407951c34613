#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/logger.h"
#include "abi/value.h"
#include "graph/type.h"
#include "providers/kernel.h"
#include "providers/plugin/stream.h"

namespace rh::plugin {

/// An output as the model has it.
struct OutputFact {
  std::string name;
  ValueType type;
};

/// Where the inputs and outputs of a plugin's kernel live, and what it may ask for as it runs.
struct KernelPlace {
  Device device;
  std::shared_ptr<const OrtMemoryInfo> memory;  ///< of the device; null: the host
  uint64_t host_inputs = 0, host_outputs = 0;   ///< bit i: on the host
  OrtAllocator* allocator = nullptr;
  const OrtLogger* logger = nullptr;
  /// Input, output: the output starts as the input's content.
  std::vector<std::pair<int, int>> same_memory = {};
  std::vector<OutputFact> outputs = {};  ///< what the kernel gives is held against them
};

}  // namespace rh::plugin

/// One call of a plugin's kernel. Used by one thread.
struct OrtKernelContext {
  OrtKernelContext(rh::RunContext& context, const rh::plugin::KernelPlace& kernel_place);

  /// Null where the input is left out. Throws Error{invalid_argument} for a wrong index.
  const OrtValue* input(size_t index);
  /// Null where nobody wants the output. Throws Error{invalid_argument} for a wrong index or shape.
  OrtValue* output(size_t index, const int64_t* dims, size_t rank);
  /// Whether the kernel gave the tensors that others want, once it is done.
  rh::Status check_given() const;
  /// The kernel gave its outputs in another way.
  void mark_given() { given_ = true; }

  rh::RunContext& run;
  const rh::plugin::KernelPlace& place;

 private:
  void start_as_input(int output, const rh::MutableView& memory);

  std::vector<std::unique_ptr<OrtValue>> inputs_, outputs_;
  bool given_ = false;
};
