// What Roundhouse offers beside the ABI of onnxruntime_c_api.h.
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Roundhouse's own version, "0.1.0". OrtApiBase::GetVersionString answers the version of the interface that is spoken.
ORT_EXPORT const char* ORT_API_CALL RhGetVersionString(void);

/// What a session does with its model, as JSON, to be freed with `allocator`: {"providers": [names], "missing_providers":
/// [{"provider", "reason"}] (asked for, and it goes on without), "nodes": [node], "counts": {"nodes",
/// "providers": {name: count}, "removed", "divided", "unassigned"}, "copies": [{"value", "from", "to", "cause"}], "statistics": {...}}.
/// A node of the model as it was read: {"node": name or "#<index>", "op_type", "domain", "opset", "function": of a node in the body of a
/// model-local function, the node that calls it, "fate": "runs", "removed" (by a pass), "divided" (a call whose function several providers
/// run), "unassigned", "provider", "kernel": operators that compute it, "runs_as": the first node of the final graph that stands for it,
/// "fused_from": the nodes of the model that this one stands for where there are others, "unit": the compiled unit, "pass", "reason": why
/// it does not run, "refusals": [{"provider", "code", "reason"}]}. Codes: op, opset, type, shape, attribute, layout, claimed_earlier, unit,
/// cost, forced, unstated. The counts add up to "nodes", those of functions' bodies left out. "variant" of a node is the way in which it
/// computes, where its operator has several ("winograd", "fip", "blocked"), else "". "variants" has, of each node of the final graph whose
/// way can be chosen: {"node", "problem": what tuning knows it by, "variant": the way taken, "variants": all};
/// "machine" and "threads" are what a file of `roundhouse tune` must have been made with. "precision" is the one in force
/// ("roundhouse.precision"). "amx" is as RhListProviders gives it.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionGetReport(const OrtSession* session, OrtAllocator* allocator, char** json);

/// The name of the session's provider of this number, the most preferred first, valid as long as the session; null beyond the last.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSessionGetProvider(const OrtSession* session, size_t index, const char** name);

/// What a session with these options would do with a model, as JSON, without making it: nothing is compiled, and nodes that no provider
/// takes are no error. As RhSessionGetReport without the statistics and variants, and {"model": path, "name", "graph": {"inputs": [value],
/// "outputs": [value], "values": [{"name", "type", "kind": "input", "weight" or "value", "bytes" where the shape is known}], "nodes":
/// [beside those of the report: null for calls of functions, else {"inputs": [value], "outputs": [value], "attributes": {name: text},
/// "bodies":
/// [{"attribute", "inputs", "outputs"}] of subgraphs, "inside": the subgraph that it is in}]}}: the graph as it was read. A value is a
/// position in "values", -1 where left out. The text is freed with `allocator`. Errors: those of making a session.
ORT_EXPORT OrtStatus* ORT_API_CALL RhExplainModel(const OrtEnv* env, const ORTCHAR_T* path, const OrtSessionOptions* options,
                                                  OrtAllocator* allocator, char** json);

/// Which providers there can be, and what the machine has, as JSON: {"version", "folders": [where libraries of providers are looked for],
/// "providers": [{"name", "short_name", "library": path, "" where there is none, "state": "built in", "found", "missing", "not for this
/// system" or "gone", "reason"}], "libraries": [paths of other libraries of providers in those folders], "hardware": [{"type": "CPU", "GPU"
/// or "NPU", "vendor", "vendor_id", "device_id", "metadata": {key: value}}], "amx": {"used": whether float products may use AMX tiles in
/// this process, "reason": why not}}. Loads nothing. The text is freed with `allocator`.
ORT_EXPORT OrtStatus* ORT_API_CALL RhListProviders(const OrtEnv* env, OrtAllocator* allocator, char** json);

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

/// Gives an environment that was made without them the global thread pools of sessions without threads of their own
/// (DisablePerSessionThreads). FAIL where it has them.
ORT_EXPORT OrtStatus* ORT_API_CALL RhEnvMakeGlobalThreadPools(OrtEnv* env, const OrtThreadingOptions* options);

/// The seed of random operators without one of their own, in all sessions that are made from now on: the same seed, model and options
/// give the same numbers. Until the first call each session draws a seed.
ORT_EXPORT OrtStatus* ORT_API_CALL RhSetRandomSeed(int64_t seed);

/// Takes messages that would go to stderr; where it answers 0 they go there. `location` may be empty.
typedef int(ORT_API_CALL* RhLogFunction)(OrtLoggingLevel severity, const char* category, const char* logid, const char* location,
                                         const char* message);

/// Has messages of all environments and sessions without a function of their own go to `function`; null: to stderr again. It may be called
/// from any thread, and still be running in some when this call returns.
ORT_EXPORT void ORT_API_CALL RhSetLogFunction(RhLogFunction function);

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

/// Writes a copy of a model that computes in another type, and tells what became of its nodes. Keys, some of which may come several times:
/// "precision" is "float16", "bfloat16", "int8" or "uint8"; "calibration" the text of a table of ranges or scales, which the types of 8
/// bits need; "keep_operator" ("Softmax", "com.microsoft::Gelu"), "keep_node" and "keep_value" (an input or output) name what stays
/// float32; "convert_operator" what converts though it loses precision; "keep_inputs" and "keep_outputs" are "1" (the default: they stay
/// float32) or "0"; "symmetric" and "per_channel" are "1" (the default) or "0", for 8 bits. An unknown key or value is an error. JSON:
/// {"precision", "converted": [node], "kept": [{"node", "operator", "reason"}], "added_nodes", "constants": how many were converted,
/// "unused": [tensors of the table that the model does not have], "weight_bytes": {"before", "after"}}, to be freed with `allocator`.
/// Weights of 2 GiB and more go to the file `to` + ".data". Errors: those of reading and writing a model.
ORT_EXPORT OrtStatus* ORT_API_CALL RhConvertModel(const ORTCHAR_T* from, const ORTCHAR_T* to, const char* const* keys,
                                                  const char* const* values, size_t count, OrtAllocator* allocator, char** json);

/// A tensor, and its name, from the bytes of a TensorProto, as test data of models is kept. The name is freed with `allocator`.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateValueFromProto(const void* bytes, size_t size, OrtAllocator* allocator, OrtValue** value,
                                                          char** name);

/// A sequence of no tensors, whose elements would be of the given type; undefined goes with any. CreateValue needs at least one element.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateEmptySequence(ONNXTensorElementDataType type, OrtValue** value);

/// The maps of a sequence in one step. Where all of them share the memory of their keys, and their floats lie one map after the other, as
/// ZipMap gives them: `keys` gets the keys, to be released, and `values` the floats of all maps, which are valid as long as the sequence
/// is. Elsewhere both get null.
ORT_EXPORT OrtStatus* ORT_API_CALL RhGetMapsOfSequence(const OrtValue* sequence, OrtValue** keys, const float** values);

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

/// What a LoRA adapter holds beside its parameters.
typedef struct RhLoraAdapterInfo {
  int32_t format_version;  ///< of the file format; not read by RhWriteLoraAdapter
  int32_t adapter_version;
  int32_t model_version;  ///< of the model that it is made for
  size_t parameter_count;
} RhLoraAdapterInfo;

/// An adapter without parameters, to be loaded. It is freed by ReleaseLoraAdapter.
ORT_EXPORT OrtStatus* ORT_API_CALL RhCreateEmptyLoraAdapter(OrtLoraAdapter** adapter);

/// Replaces what an adapter holds by the content of a file. Runs under way keep what they began with; after an error it is as it was.
ORT_EXPORT OrtStatus* ORT_API_CALL RhLoadLoraAdapter(OrtLoraAdapter* adapter, const ORTCHAR_T* path);

ORT_EXPORT OrtStatus* ORT_API_CALL RhGetLoraAdapterInfo(const OrtLoraAdapter* adapter, RhLoraAdapterInfo* info);

/// The parameter at `index`, in the order of the file: a value that shares its memory, to be released, and its name, which is valid until
/// the adapter is loaded anew or released.
ORT_EXPORT OrtStatus* ORT_API_CALL RhGetLoraAdapterParameter(const OrtLoraAdapter* adapter, size_t index, const char** name,
                                                             OrtValue** value);

/// Writes a file that CreateLoraAdapter reads, with `info->parameter_count` names and values: tensors of numbers in memory of the host,
/// in all up to 2 GB. An older file of that path is replaced when the new one is complete.
ORT_EXPORT OrtStatus* ORT_API_CALL RhWriteLoraAdapter(const ORTCHAR_T* path, const RhLoraAdapterInfo* info, const char* const* names,
                                                      const OrtValue* const* values);

#ifdef __cplusplus
}
#endif
