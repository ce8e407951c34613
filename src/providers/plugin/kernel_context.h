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

/// A provider whose memory kernels of custom operators may work on.
class PlaceOfKernels {
 public:
  virtual ~PlaceOfKernels() = default;
  virtual KernelPlace kernel_place() const = 0;
};

}  // namespace rh::plugin

/// One call of a plugin's kernel. Used by one thread.
struct OrtKernelContext {
  OrtKernelContext(rh::RunContext& context, const rh::plugin::KernelPlace& kernel_place);
  ~OrtKernelContext();
  OrtKernelContext(const OrtKernelContext&) = delete;
  OrtKernelContext& operator=(const OrtKernelContext&) = delete;

  /// Null where the input is left out, or the node has no such input.
  const OrtValue* input(size_t index);
  /// Null where nobody wants the output, or the node has no such output. Throws Error{invalid_argument} for a wrong shape.
  OrtValue* output(size_t index, const int64_t* dims, size_t rank);
  /// Memory of the kernel's device until its work of this call is done. Throws Error{ep_fail} where there is none left.
  void* device_scratch(size_t bytes);
  /// Whether the kernel gave the tensors that others want, once it is done.
  rh::Status check_given() const;
  /// The kernel gave its outputs in another way.
  void mark_given() { given_ = true; }

  rh::RunContext& run;
  const rh::plugin::KernelPlace& place;

 private:
  void start_as_input(int output, const rh::MutableView& memory);

  std::vector<std::unique_ptr<OrtValue>> inputs_, outputs_;
  std::vector<void*> device_scratch_;
  bool given_ = false;
};
