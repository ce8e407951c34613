#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "onnx/reader.h"
#include "onnx/writer.h"

/// Reads the bytes as a model. What can be read can be written, unless the writer says why not.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rh::onnx::ReadOptions options;
  options.limits.inlined_nodes = 10'000;
  try {
    const rh::Model model = rh::onnx::read_model({reinterpret_cast<const std::byte*>(data), size}, options);
    rh::onnx::write_model(model);
  } catch (const rh::Error&) {
  }
  return 0;
}
