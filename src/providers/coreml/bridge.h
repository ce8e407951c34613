#pragma once

#include <cstddef>
#include <cstdint>

namespace rh::coreml {

/// What the provider asks of Core ML, as a table of C functions: the system's (apple.h), or that of a library which stands in for it where
/// there is none (RhCoreMlBridge). A function that fails gives a message, which is valid until the thread's next call; else null.
extern "C" {

/// An array that a prediction takes or gives, its elements one behind the other.
struct BridgeArray {
  const char* name;
  int32_t is_float;  ///< float32, else int32
  const int64_t* shape;
  size_t rank;
  void* data;  ///< for results: memory of the shape's size, which is filled
};

struct BridgeSettings {
  const char* package;    ///< the folder of the .mlpackage
  const char* compiled;   ///< where the compiled model lies, or is to be kept: a folder .mlmodelc
  int32_t compute_units;  ///< as MLComputeUnits counts: 0 CPU alone, 1 and the GPU, 2 all, 3 and the Neural Engine
  int32_t low_precision_on_gpu;
  int32_t fast_prediction;
};

struct Bridge {
  uint32_t size;  ///< of this struct
  const char* (*version)();
  const char* (*load)(const BridgeSettings* settings, void** model);
  /// One at a time of a model.
  const char* (*predict)(void* model, const BridgeArray* inputs, size_t input_count, const BridgeArray* outputs, size_t output_count);
  void (*release)(void* model);
};

}  // extern "C"

/// The name of the function of a library that stands in: const Bridge* RhCoreMlBridge().
inline constexpr const char* kBridgeFunction = "RhCoreMlBridge";

}  // namespace rh::coreml
