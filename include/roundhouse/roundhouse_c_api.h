// What Roundhouse offers beside the ABI of onnxruntime_c_api.h.
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Roundhouse's own version, "0.1.0". OrtApiBase::GetVersionString answers the version of the interface that is spoken.
ORT_EXPORT const char* ORT_API_CALL RhGetVersionString(void);

/// What a session does with its model, as JSON: {"providers": [...], "nodes": [{"node", "op_type", "provider", "kernel", "reason",
/// "refusals"}], "statistics": {...}}. `allocator` gives the text, which the caller frees with it.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionGetReport(const OrtSession* session, OrtAllocator* allocator, char** json);

/// The shape that an input will have.
typedef struct RhInputShape {
  const char* input_name;
  const int64_t* dims;
  size_t rank;
} RhInputShape;

/// A named dimension of the model's inputs, and its value.
typedef struct RhDimension {
  const char* name;
  int64_t value;
} RhDimension;

/// What a run takes of memory, before it, as JSON: {"total_bytes", "weight_bytes", "packed_bytes", "arena_bytes", "live_bytes",
/// "output_bytes", "late_tensors", "late_bytes", "scratch_bytes", "budget_bytes", "symbols": {name: value}, "assumed": [name], "peak_node",
/// "at_peak":
/// [{"tensor", "node", "bytes"}], "weights": [the same]}. The total is the sum of weights, packed weights, arena, outputs, and of the most
/// that values of unknown size ("late") and scratch memory have taken so far. Inputs that are left out have the shape that the model
/// declares, with `dimensions` for its names; names without a value count as 1 and are listed in "assumed". The text is freed with
/// `allocator`.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionGetMemoryPlan(const OrtSession* session, const RhInputShape* shapes, size_t shape_count,
                                                          const RhDimension* dimensions, size_t dimension_count, OrtAllocator* allocator,
                                                          char** json);

/// Gives back what no run in flight uses: memory kept for later runs, memory of threads while no session runs, and what the heap holds on
/// to. `bytes`, where not null, gets how much that was of the first two.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionTrim(OrtSession* session, size_t* bytes);

/// What a model file holds, as JSON, whether it can be run or not: {"ir_version", "producer", "opsets", "inputs", "outputs", "nodes",
/// "operators", "weights", "unsupported": [{"operator", "reason", "count"}]}. The text is freed with `allocator`. Errors: those of reading
/// a model.
ORT_EXPORT OrtStatus* ORT_API_CALL RhInspectModel(const ORTCHAR_T* path, OrtAllocator* allocator, char** json);

/// Writes a copy of a model in which every tensor that a node of the main graph gives is an output as well, so that another runtime's
/// intermediate values can be read. Weights go to the file `to` + ".data". Errors: those of reading and writing a model.
ORT_EXPORT OrtStatus* ORT_API_CALL RhExposeValues(const ORTCHAR_T* from, const ORTCHAR_T* to);

/// A tensor, and its name, from the bytes of a TensorProto, as test data of models is kept. The name is freed with `allocator`.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateValueFromProto(const void* bytes, size_t size, OrtAllocator* allocator, OrtValue** value,
                                                          char** name);

/// A sequence of no tensors, whose elements would be of the given type; undefined goes with any. CreateValue needs at least one element.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateEmptySequence(ONNXTensorElementDataType type, OrtValue** value);

/// A node of the final graph that has run, as a callback sees it. Everything is valid during the call alone. Later versions may add fields
/// at the end.
typedef struct RhNodeRun {
  const char* name;
  const char* domain;  ///< "" is ai.onnx
  const char* op_type;
  const char* provider;
  int64_t depth;                    ///< 0 in the main graph; the nodes of a subgraph come before the node that runs it
  size_t original_count;            ///< nodes of the model as it was read that this one stands for
  const char* const* originals;     ///< their names, "#<index>" where one has none
  const char* const* original_ops;  ///< their operators
  size_t input_count;               ///< left-out ones are included
  const char* const* input_names;   ///< "" where left out
  const OrtValue* const* inputs;    ///< null where left out, or a constant that the kernel has packed
  size_t output_count;              ///< left-out ones are included
  const char* const* output_names;  ///< "" where left out
  const OrtValue* const* outputs;   ///< null where left out
  double flops;                     ///< of products, convolutions and recurrent cells, a multiply-add counted as two; else negative
  uint64_t begin_ns, end_ns;        ///< of the steady clock
} RhNodeRun;

typedef void(ORT_API_CALL* RhNodeCallback)(void* state, const RhNodeRun* node);

/// Runs under these options call `callback` after each node, on the thread that runs the model; null: nobody is called. What is computed,
/// and how, stays the same. Where kernels work in place, an input's memory may hold the output already.
ORT_EXPORT OrtStatus* ORT_API_CALL RhRunOptionsSetNodeCallback(OrtRunOptions* options, RhNodeCallback callback, void* state);

#ifdef __cplusplus
}
#endif
