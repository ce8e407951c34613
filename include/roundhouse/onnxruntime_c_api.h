// The C ABI of ONNX Runtime, as Roundhouse speaks it. Start at OrtGetApiBase()->GetApi(ORT_API_VERSION).
// Written by scripts/generate_abi_headers.py from tests/data/abi.json.
// clang-format off
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ORT_API_VERSION 32

#ifdef __cplusplus
extern "C" {
#endif

// Annotations of parameters: direction and whether null is allowed. They compile to nothing except with Microsoft's compiler.
#ifdef _WIN32
#include <specstrings.h>
#ifndef _Frees_ptr_opt_  // MinGW's has most of them
#define _Frees_ptr_opt_
#endif
#else
#define _In_
#define _In_z_
#define _In_opt_
#define _In_opt_z_
#define _In_reads_(X)
#define _In_reads_opt_(X)
#define _Out_
#define _Out_opt_
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_result_buffer_maybenull_(X)
#define _Out_writes_(X)
#define _Out_writes_opt_(X)
#define _Out_writes_all_(X)
#define _Out_writes_bytes_all_(X)
#define _Inout_
#define _Inout_opt_
#define _Inout_updates_(X)
#define _Inout_updates_all_(X)
#define _Success_(X)
#define _Frees_ptr_opt_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Check_return_
#define _Must_inspect_result_
#endif

// Calling convention, export and path characters.
#ifdef _WIN32
#define ORT_API_CALL __stdcall
#ifdef ORT_DLL_IMPORT
#define ORT_EXPORT __declspec(dllimport)
#elif defined(__MINGW32__)
#define ORT_EXPORT __attribute__((visibility("default")))
#else
#define ORT_EXPORT
#endif
#define ORTCHAR_T wchar_t
#define ORT_FILE L"" __FILE__
#define ORT_TSTR(X) L##X
#define ORT_TSTR_ON_MACRO(X) L"" X
#else
#define ORT_API_CALL
#define ORT_EXPORT __attribute__((visibility("default")))
#define ORTCHAR_T char
#define ORT_FILE __FILE__
#define ORT_TSTR(X) X
#define ORT_TSTR_ON_MACRO(X) X
#endif

#ifdef __cplusplus
#define NO_EXCEPTION noexcept
#else
#define NO_EXCEPTION
#endif
#if defined(__GNUC__)
#define ORT_MUST_USE_RESULT __attribute__((warn_unused_result))
#else
#define ORT_MUST_USE_RESULT
#endif

// For declaring functions with this interface's conventions.
#define ORT_API(RETURN_TYPE, NAME, ...) RETURN_TYPE ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION
#define ORT_API_STATUS(NAME, ...) OrtStatusPtr ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION ORT_MUST_USE_RESULT
#define ORT_API_STATUS_IMPL(NAME, ...) OrtStatusPtr ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION
#define ORT_API2_STATUS(NAME, ...) OrtStatusPtr(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION ORT_MUST_USE_RESULT
#define ORT_CLASS_RELEASE(X) void(ORT_API_CALL* Release##X)(_Frees_ptr_opt_ Ort##X* input)
#define ORT_RUNTIME_CLASS(X) \
  struct Ort##X;             \
  typedef struct Ort##X Ort##X

// Opaque handles

ORT_RUNTIME_CLASS(Env);
ORT_RUNTIME_CLASS(Status);
ORT_RUNTIME_CLASS(MemoryInfo);
ORT_RUNTIME_CLASS(IoBinding);
ORT_RUNTIME_CLASS(Session);
ORT_RUNTIME_CLASS(Value);
ORT_RUNTIME_CLASS(RunOptions);
ORT_RUNTIME_CLASS(TypeInfo);
ORT_RUNTIME_CLASS(TensorTypeAndShapeInfo);
ORT_RUNTIME_CLASS(MapTypeInfo);
ORT_RUNTIME_CLASS(SequenceTypeInfo);
ORT_RUNTIME_CLASS(OptionalTypeInfo);
ORT_RUNTIME_CLASS(SessionOptions);
ORT_RUNTIME_CLASS(CustomOpDomain);
ORT_RUNTIME_CLASS(ModelMetadata);
ORT_RUNTIME_CLASS(ThreadPoolParams);
ORT_RUNTIME_CLASS(ThreadingOptions);
ORT_RUNTIME_CLASS(ArenaCfg);
ORT_RUNTIME_CLASS(PrepackedWeightsContainer);
ORT_RUNTIME_CLASS(TensorRTProviderOptionsV2);
ORT_RUNTIME_CLASS(NvTensorRtRtxProviderOptions);
ORT_RUNTIME_CLASS(CUDAProviderOptionsV2);
ORT_RUNTIME_CLASS(CANNProviderOptions);
ORT_RUNTIME_CLASS(DnnlProviderOptions);
ORT_RUNTIME_CLASS(Op);
ORT_RUNTIME_CLASS(OpAttr);
ORT_RUNTIME_CLASS(Logger);
ORT_RUNTIME_CLASS(ShapeInferContext);
ORT_RUNTIME_CLASS(LoraAdapter);
ORT_RUNTIME_CLASS(ValueInfo);
ORT_RUNTIME_CLASS(Node);
ORT_RUNTIME_CLASS(Graph);
ORT_RUNTIME_CLASS(Model);
ORT_RUNTIME_CLASS(ModelCompilationOptions);
ORT_RUNTIME_CLASS(HardwareDevice);
ORT_RUNTIME_CLASS(EpDevice);
ORT_RUNTIME_CLASS(KeyValuePairs);
ORT_RUNTIME_CLASS(SyncStream);
ORT_RUNTIME_CLASS(ExternalInitializerInfo);
ORT_RUNTIME_CLASS(ExternalResourceImporter);
ORT_RUNTIME_CLASS(DeviceEpIncompatibilityDetails);
ORT_RUNTIME_CLASS(EpAssignedSubgraph);
ORT_RUNTIME_CLASS(EpAssignedNode);
ORT_RUNTIME_CLASS(EpGraphSupportInfo);
ORT_RUNTIME_CLASS(MemoryDevice);
ORT_RUNTIME_CLASS(NodeComputeContext);
ORT_RUNTIME_CLASS(OpSchema);
ORT_RUNTIME_CLASS(OpSchemaTypeConstraint);
ORT_RUNTIME_CLASS(ProfilingEventsContainer);
ORT_RUNTIME_CLASS(ProfilingEvent);
ORT_RUNTIME_CLASS(KernelRegistry);
ORT_RUNTIME_CLASS(KernelDefBuilder);
ORT_RUNTIME_CLASS(KernelDef);
ORT_RUNTIME_CLASS(DataType);
ORT_RUNTIME_CLASS(SharedPrePackedWeightCache);
ORT_RUNTIME_CLASS(ModelPackageOptions);
ORT_RUNTIME_CLASS(ModelPackageContext);
ORT_RUNTIME_CLASS(ModelPackageComponentContext);
ORT_RUNTIME_CLASS(EpContextConfig);
ORT_RUNTIME_CLASS(KernelInfo);
ORT_RUNTIME_CLASS(KernelContext);
ORT_RUNTIME_CLASS(TrainingApi);

// Tables and structs filled in by their makers

ORT_RUNTIME_CLASS(Allocator);
ORT_RUNTIME_CLASS(ApiBase);
ORT_RUNTIME_CLASS(Api);
ORT_RUNTIME_CLASS(CustomOp);
ORT_RUNTIME_CLASS(ModelEditorApi);
ORT_RUNTIME_CLASS(CompileApi);
ORT_RUNTIME_CLASS(InteropApi);
ORT_RUNTIME_CLASS(ModelPackageApi);
ORT_RUNTIME_CLASS(ExternalMemoryHandle);
ORT_RUNTIME_CLASS(ExternalSemaphoreHandle);
ORT_RUNTIME_CLASS(DataTransferImpl);
ORT_RUNTIME_CLASS(SyncNotificationImpl);
ORT_RUNTIME_CLASS(SyncStreamImpl);
ORT_RUNTIME_CLASS(ExternalResourceImporterImpl);
ORT_RUNTIME_CLASS(EpProfilerImpl);
ORT_RUNTIME_CLASS(NodeComputeInfo);
ORT_RUNTIME_CLASS(KernelImpl);
ORT_RUNTIME_CLASS(LoopKernelHelper);
ORT_RUNTIME_CLASS(ScanKernelHelper);
ORT_RUNTIME_CLASS(EpApi);
ORT_RUNTIME_CLASS(Ep);
ORT_RUNTIME_CLASS(EpFactory);
typedef OrtStatus* OrtStatusPtr;
/// A thread made by the caller's functions.
typedef const struct OrtCustomHandleType* OrtCustomThreadHandle;

// Enumerations

typedef enum OrtErrorCode {
  ORT_OK = 0,
  ORT_FAIL = 1,
  ORT_INVALID_ARGUMENT = 2,
  ORT_NO_SUCHFILE = 3,
  ORT_NO_MODEL = 4,
  ORT_ENGINE_ERROR = 5,
  ORT_RUNTIME_EXCEPTION = 6,
  ORT_INVALID_PROTOBUF = 7,
  ORT_MODEL_LOADED = 8,
  ORT_NOT_IMPLEMENTED = 9,
  ORT_INVALID_GRAPH = 10,
  ORT_EP_FAIL = 11,
  ORT_MODEL_LOAD_CANCELED = 12,
  ORT_MODEL_REQUIRES_COMPILATION = 13,
  ORT_NOT_FOUND = 14,
  ORT_DEVICE_RESET = 15,
} OrtErrorCode;

typedef enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 = 4,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32 = 12,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64 = 13,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 = 14,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128 = 15,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN = 17,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ = 18,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2 = 19,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ = 20,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4 = 21,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4 = 22,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 = 23,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 = 24,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 = 25,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0 = 26,
} ONNXTensorElementDataType;

typedef enum ONNXType {
  ONNX_TYPE_UNKNOWN = 0,
  ONNX_TYPE_TENSOR = 1,
  ONNX_TYPE_SEQUENCE = 2,
  ONNX_TYPE_MAP = 3,
  ONNX_TYPE_OPAQUE = 4,
  ONNX_TYPE_SPARSETENSOR = 5,
  ONNX_TYPE_OPTIONAL = 6,
} ONNXType;

typedef enum OrtSparseFormat {
  ORT_SPARSE_UNDEFINED = 0,
  ORT_SPARSE_COO = 1,
  ORT_SPARSE_CSRC = 2,
  ORT_SPARSE_BLOCK_SPARSE = 4,
} OrtSparseFormat;

typedef enum OrtSparseIndicesFormat {
  ORT_SPARSE_COO_INDICES = 0,
  ORT_SPARSE_CSR_INNER_INDICES = 1,
  ORT_SPARSE_CSR_OUTER_INDICES = 2,
  ORT_SPARSE_BLOCK_SPARSE_INDICES = 3,
} OrtSparseIndicesFormat;

typedef enum OrtLoggingLevel {
  ORT_LOGGING_LEVEL_VERBOSE = 0,
  ORT_LOGGING_LEVEL_INFO = 1,
  ORT_LOGGING_LEVEL_WARNING = 2,
  ORT_LOGGING_LEVEL_ERROR = 3,
  ORT_LOGGING_LEVEL_FATAL = 4,
} OrtLoggingLevel;

typedef enum OrtOpAttrType {
  ORT_OP_ATTR_UNDEFINED = 0,
  ORT_OP_ATTR_INT = 1,
  ORT_OP_ATTR_INTS = 2,
  ORT_OP_ATTR_FLOAT = 3,
  ORT_OP_ATTR_FLOATS = 4,
  ORT_OP_ATTR_STRING = 5,
  ORT_OP_ATTR_STRINGS = 6,
  ORT_OP_ATTR_GRAPH = 7,
  ORT_OP_ATTR_TENSOR = 8,
} OrtOpAttrType;

typedef enum GraphOptimizationLevel {
  ORT_DISABLE_ALL = 0,
  ORT_ENABLE_BASIC = 1,
  ORT_ENABLE_EXTENDED = 2,
  ORT_ENABLE_LAYOUT = 3,
  ORT_ENABLE_ALL = 99,
} GraphOptimizationLevel;

typedef enum ExecutionMode {
  ORT_SEQUENTIAL = 0,
  ORT_PARALLEL = 1,
} ExecutionMode;

typedef enum OrtLanguageProjection {
  ORT_PROJECTION_C = 0,
  ORT_PROJECTION_CPLUSPLUS = 1,
  ORT_PROJECTION_CSHARP = 2,
  ORT_PROJECTION_PYTHON = 3,
  ORT_PROJECTION_JAVA = 4,
  ORT_PROJECTION_WINML = 5,
  ORT_PROJECTION_NODEJS = 6,
} OrtLanguageProjection;

typedef enum OrtAllocatorType {
  OrtInvalidAllocator = -1,
  OrtDeviceAllocator = 0,
  OrtArenaAllocator = 1,
  OrtReadOnlyAllocator = 2,
} OrtAllocatorType;

typedef enum OrtMemType {
  OrtMemTypeCPUInput = -2,
  OrtMemTypeCPUOutput = -1,
  OrtMemTypeCPU = -1,
  OrtMemTypeDefault = 0,
} OrtMemType;

typedef enum OrtDeviceMemoryType {
  OrtDeviceMemoryType_DEFAULT = 0,
  OrtDeviceMemoryType_HOST_ACCESSIBLE = 5,
} OrtDeviceMemoryType;

typedef enum OrtMemoryInfoDeviceType {
  OrtMemoryInfoDeviceType_CPU = 0,
  OrtMemoryInfoDeviceType_GPU = 1,
  OrtMemoryInfoDeviceType_FPGA = 2,
  OrtMemoryInfoDeviceType_NPU = 3,
} OrtMemoryInfoDeviceType;

typedef enum OrtHardwareDeviceType {
  OrtHardwareDeviceType_CPU = 0,
  OrtHardwareDeviceType_GPU = 1,
  OrtHardwareDeviceType_NPU = 2,
} OrtHardwareDeviceType;

typedef enum OrtExecutionProviderDevicePolicy {
  OrtExecutionProviderDevicePolicy_DEFAULT = 0,
  OrtExecutionProviderDevicePolicy_PREFER_CPU = 1,
  OrtExecutionProviderDevicePolicy_PREFER_NPU = 2,
  OrtExecutionProviderDevicePolicy_PREFER_GPU = 3,
  OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE = 4,
  OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY = 5,
  OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER = 6,
} OrtExecutionProviderDevicePolicy;

typedef enum OrtDeviceEpIncompatibilityReason {
  OrtDeviceEpIncompatibility_NONE = 0,
  OrtDeviceEpIncompatibility_DRIVER_INCOMPATIBLE = 1,
  OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE = 2,
  OrtDeviceEpIncompatibility_MISSING_DEPENDENCY = 4,
  OrtDeviceEpIncompatibility_UNKNOWN = 0x80000000,
} OrtDeviceEpIncompatibilityReason;

typedef enum OrtCudnnConvAlgoSearch {
  OrtCudnnConvAlgoSearchExhaustive = 0,
  OrtCudnnConvAlgoSearchHeuristic = 1,
  OrtCudnnConvAlgoSearchDefault = 2,
} OrtCudnnConvAlgoSearch;

typedef enum OrtExternalMemoryHandleType {
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE = 0,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP = 1,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_WIN32 = 2,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD = 3,
} OrtExternalMemoryHandleType;

typedef enum OrtExternalSemaphoreType {
  ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE = 0,
  ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_WIN32 = 1,
  ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD = 2,
} OrtExternalSemaphoreType;

typedef enum OrtGraphicsApi {
  ORT_GRAPHICS_API_NONE = 0,
  ORT_GRAPHICS_API_D3D12 = 1,
  ORT_GRAPHICS_API_VULKAN = 2,
} OrtGraphicsApi;

typedef enum OrtCompiledModelCompatibility {
  OrtCompiledModelCompatibility_EP_NOT_APPLICABLE = 0,
  OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL = 1,
  OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION = 2,
  OrtCompiledModelCompatibility_EP_UNSUPPORTED = 3,
} OrtCompiledModelCompatibility;

typedef enum OrtCustomOpInputOutputCharacteristic {
  INPUT_OUTPUT_REQUIRED = 0,
  INPUT_OUTPUT_OPTIONAL = 1,
  INPUT_OUTPUT_VARIADIC = 2,
} OrtCustomOpInputOutputCharacteristic;

typedef enum OrtCompileApiFlags {
  OrtCompileApiFlags_NONE = 0,
  OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED = 1,
  OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS = 2,
} OrtCompileApiFlags;

// Function types

typedef void(ORT_API_CALL* OrtExperimentalFnPtr)(void);
typedef void(ORT_API_CALL* OrtLoggingFunction)(
    void* param, OrtLoggingLevel severity, const char* category, const char* logid, const char* code_location, const char* message);
typedef OrtStatus*(ORT_API_CALL* EpSelectionDelegate)(
    _In_ const OrtEpDevice** ep_devices, _In_ size_t num_devices, _In_ const OrtKeyValuePairs* model_metadata,
    _In_opt_ const OrtKeyValuePairs* runtime_metadata, _Inout_ const OrtEpDevice** selected, _In_ size_t max_selected,
    _Out_ size_t* num_selected, _In_ void* state);
typedef OrtStatus*(ORT_API_CALL* OrtWriteBufferFunc)(_In_ void* state, _In_ const void* buffer, _In_ size_t buffer_num_bytes);
typedef OrtStatus*(ORT_API_CALL* OrtGetInitializerLocationFunc)(
    _In_ void* state, _In_ const char* initializer_name, _In_ const OrtValue* initializer_value,
    _In_opt_ const OrtExternalInitializerInfo* external_info, _Outptr_result_maybenull_ OrtExternalInitializerInfo** new_external_info);
typedef void(ORT_API_CALL* OrtThreadWorkerFn)(void* ort_worker_fn_param);
typedef OrtCustomThreadHandle(ORT_API_CALL* OrtCustomCreateThreadFn)(
    void* ort_custom_thread_creation_options, OrtThreadWorkerFn ort_thread_worker_fn, void* ort_worker_fn_param);
typedef void(ORT_API_CALL* OrtCustomJoinThreadFn)(OrtCustomThreadHandle ort_custom_thread_handle);
typedef void*(ORT_API_CALL* OrtThreadPoolWorkEnqueueFn)(_In_opt_ void* user_context);
typedef void(ORT_API_CALL* OrtThreadPoolWorkStartFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);
typedef void(ORT_API_CALL* OrtThreadPoolWorkStopFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);
typedef void(ORT_API_CALL* OrtThreadPoolWorkAbandonFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);
typedef OrtStatus*(ORT_API_CALL* RegisterCustomOpsFn)(OrtSessionOptions* options, const OrtApiBase* api);
typedef void(ORT_API_CALL* RunAsyncCallbackFn)(void* user_data, OrtValue** outputs, size_t num_outputs, OrtStatusPtr status);
typedef OrtStatus*(ORT_API_CALL* OrtWriteNamedBufferFunc)(
    _In_ void* state, _In_ const char* name, _In_ const void* buffer, _In_ size_t buffer_num_bytes);
typedef OrtStatus*(ORT_API_CALL* OrtReadNamedBufferFunc)(
    _In_ void* state, _In_ const char* name, _In_ OrtAllocator* allocator, _Outptr_ void** buffer, _Out_ size_t* data_size);

// Plain structs

typedef struct OrtCUDAProviderOptions {
#ifdef __cplusplus
  OrtCUDAProviderOptions() {
    device_id = 0;
    cudnn_conv_algo_search = OrtCudnnConvAlgoSearchExhaustive;
    gpu_mem_limit = SIZE_MAX;
    arena_extend_strategy = 0;
    do_copy_in_default_stream = 1;
    has_user_compute_stream = 0;
    user_compute_stream = NULL;
    default_memory_arena_cfg = NULL;
    tunable_op_enable = 0;
    tunable_op_tuning_enable = 0;
    tunable_op_max_tuning_duration_ms = 0;
  }
#endif
  int device_id;
  OrtCudnnConvAlgoSearch cudnn_conv_algo_search;
  size_t gpu_mem_limit;
  int arena_extend_strategy;
  int do_copy_in_default_stream;
  int has_user_compute_stream;
  void* user_compute_stream;
  OrtArenaCfg* default_memory_arena_cfg;
  int tunable_op_enable;
  int tunable_op_tuning_enable;
  int tunable_op_max_tuning_duration_ms;
} OrtCUDAProviderOptions;

typedef struct OrtROCMProviderOptions {
#ifdef __cplusplus
  OrtROCMProviderOptions() {
    device_id = 0;
    miopen_conv_exhaustive_search = 0;
    gpu_mem_limit = SIZE_MAX;
    arena_extend_strategy = 0;
    do_copy_in_default_stream = 1;
    has_user_compute_stream = 0;
    user_compute_stream = NULL;
    default_memory_arena_cfg = NULL;
    enable_hip_graph = 0;
    tunable_op_enable = 0;
    tunable_op_tuning_enable = 0;
    tunable_op_max_tuning_duration_ms = 0;
  }
#endif
  int device_id;
  int miopen_conv_exhaustive_search;
  size_t gpu_mem_limit;
  int arena_extend_strategy;
  int do_copy_in_default_stream;
  int has_user_compute_stream;
  void* user_compute_stream;
  OrtArenaCfg* default_memory_arena_cfg;
  int enable_hip_graph;
  int tunable_op_enable;
  int tunable_op_tuning_enable;
  int tunable_op_max_tuning_duration_ms;
} OrtROCMProviderOptions;

typedef struct OrtTensorRTProviderOptions {
  int device_id;
  int has_user_compute_stream;
  void* user_compute_stream;
  int trt_max_partition_iterations;
  int trt_min_subgraph_size;
  size_t trt_max_workspace_size;
  int trt_fp16_enable;
  int trt_int8_enable;
  const char* trt_int8_calibration_table_name;
  int trt_int8_use_native_calibration_table;
  int trt_dla_enable;
  int trt_dla_core;
  int trt_dump_subgraphs;
  int trt_engine_cache_enable;
  const char* trt_engine_cache_path;
  int trt_engine_decryption_enable;
  const char* trt_engine_decryption_lib_path;
  int trt_force_sequential_engine_build;
} OrtTensorRTProviderOptions;

typedef struct OrtMIGraphXProviderOptions {
  int device_id;
  int migraphx_fp16_enable;
  int migraphx_fp8_enable;
  int migraphx_int8_enable;
  int migraphx_use_native_calibration_table;
  const char* migraphx_int8_calibration_table_name;
  int migraphx_save_compiled_model;
  const char* migraphx_save_model_path;
  int migraphx_load_compiled_model;
  const char* migraphx_load_model_path;
  bool migraphx_exhaustive_tune;
  size_t migraphx_mem_limit;
  int migraphx_arena_extend_strategy;
} OrtMIGraphXProviderOptions;

typedef struct OrtOpenVINOProviderOptions {
#ifdef __cplusplus
  OrtOpenVINOProviderOptions() {
    device_type = NULL;
    enable_npu_fast_compile = 0;
    device_id = NULL;
    num_of_threads = 0;
    cache_dir = NULL;
    context = NULL;
    enable_opencl_throttling = 0;
    enable_dynamic_shapes = 0;
  }
#endif
  const char* device_type;
  unsigned char enable_npu_fast_compile;
  const char* device_id;
  size_t num_of_threads;
  const char* cache_dir;
  void* context;
  unsigned char enable_opencl_throttling;
  unsigned char enable_dynamic_shapes;
} OrtOpenVINOProviderOptions;

typedef struct OrtThreadPoolCallbacksConfig {
  uint32_t version;
  OrtThreadPoolWorkEnqueueFn on_enqueue;
  OrtThreadPoolWorkStartFn on_start_work;
  OrtThreadPoolWorkStopFn on_stop_work;
  OrtThreadPoolWorkAbandonFn on_abandon;
  void* user_context;
} OrtThreadPoolCallbacksConfig;

typedef struct OrtExternalMemoryDescriptor {
  uint32_t version;
  OrtExternalMemoryHandleType handle_type;
  void* native_handle;
  size_t size_bytes;
  size_t offset_bytes;
} OrtExternalMemoryDescriptor;

typedef struct OrtExternalSemaphoreDescriptor {
  uint32_t version;
  OrtExternalSemaphoreType type;
  void* native_handle;
} OrtExternalSemaphoreDescriptor;

typedef struct OrtGraphicsInteropConfig {
  uint32_t version;
  OrtGraphicsApi graphics_api;
  void* command_queue;
  const OrtKeyValuePairs* additional_options;
} OrtGraphicsInteropConfig;

typedef struct OrtExternalTensorDescriptor {
  uint32_t version;
  ONNXTensorElementDataType element_type;
  const int64_t* shape;
  size_t rank;
  size_t offset_bytes;
} OrtExternalTensorDescriptor;

typedef struct OrtEnvCreationOptions {
  uint32_t version;
  int32_t logging_severity_level;
  const char* log_id;
  OrtLoggingFunction custom_logging_function;
  void* custom_logging_param;
  const OrtThreadingOptions* threading_options;
  const OrtKeyValuePairs* config_entries;
} OrtEnvCreationOptions;

/// Gives and takes back memory. Filled in by its maker; read no member newer than `version`.
struct OrtAllocator {
  uint32_t version;
  void*(ORT_API_CALL* Alloc)(OrtAllocator* this_, size_t size);
  void(ORT_API_CALL* Free)(OrtAllocator* this_, void* p);
  const OrtMemoryInfo*(ORT_API_CALL* Info)(const OrtAllocator* this_);
  /* since version 18 */
  void*(ORT_API_CALL* Reserve)(OrtAllocator* this_, size_t size);  ///< memory outside an arena; may be null before version 18
  /* since version 23 */
  OrtStatus*(ORT_API_CALL* GetStats)(_In_ const OrtAllocator* this_, _Outptr_ OrtKeyValuePairs** out);  ///< may be null
  void*(ORT_API_CALL* AllocOnStream)(OrtAllocator* this_, size_t size, OrtSyncStream* stream);  ///< may be null
  /* since version 25 */
  OrtStatus*(ORT_API_CALL* Shrink)(_In_ OrtAllocator* this_);
};

/// What OrtGetApiBase returns: the way to every other table.
struct OrtApiBase {
  const OrtApi*(ORT_API_CALL* GetApi)(uint32_t version);
  const char*(ORT_API_CALL* GetVersionString)(void);
};

/// The main table. Functions that return OrtStatus* give null on success and a status to release otherwise.
struct OrtApi {
  // Status
  /* since version 1 */
  OrtStatus*(ORT_API_CALL* CreateStatus)(OrtErrorCode code, _In_ const char* msg);
  OrtErrorCode(ORT_API_CALL* GetErrorCode)(_In_ const OrtStatus* status);
  const char*(ORT_API_CALL* GetErrorMessage)(_In_ const OrtStatus* status);

  // Environment: keep it as long as anything made from it
  /// one environment a process; a second call gives the same
  OrtStatus*(ORT_API_CALL* CreateEnv)(OrtLoggingLevel log_severity_level, _In_ const char* logid, _Outptr_ OrtEnv** out);
  OrtStatus*(ORT_API_CALL* CreateEnvWithCustomLogger)(
      _In_ OrtLoggingFunction logging_function, _In_opt_ void* logger_param, _In_ OrtLoggingLevel log_severity_level,
      _In_ const char* logid, _Outptr_ OrtEnv** out);
  OrtStatus*(ORT_API_CALL* EnableTelemetryEvents)(_In_ const OrtEnv* env);  ///< no telemetry exists; accepted
  OrtStatus*(ORT_API_CALL* DisableTelemetryEvents)(_In_ const OrtEnv* env);  ///< no telemetry exists; accepted

  // Sessions from a file or from memory, and runs
  OrtStatus*(ORT_API_CALL* CreateSession)(
      _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /// the bytes may be freed after the call
  OrtStatus*(ORT_API_CALL* CreateSessionFromArray)(
      _In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options,
      _Outptr_ OrtSession** out);
  /// outputs[i] null: allocated by the session and owned by the caller
  OrtStatus*(ORT_API_CALL* Run)(
      _Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options, _In_reads_(input_len) const char* const* input_names,
      _In_reads_(input_len) const OrtValue* const* inputs, size_t input_len, _In_reads_(output_names_len) const char* const* output_names,
      size_t output_names_len, _Inout_updates_all_(output_names_len) OrtValue** outputs);

  // Session options
  OrtStatus*(ORT_API_CALL* CreateSessionOptions)(_Outptr_ OrtSessionOptions** options);
  OrtStatus*(ORT_API_CALL* SetOptimizedModelFilePath)(_Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* optimized_model_filepath);
  OrtStatus*(ORT_API_CALL* CloneSessionOptions)(_In_ const OrtSessionOptions* in_options, _Outptr_ OrtSessionOptions** out_options);
  OrtStatus*(ORT_API_CALL* SetSessionExecutionMode)(_Inout_ OrtSessionOptions* options, ExecutionMode execution_mode);
  OrtStatus*(ORT_API_CALL* EnableProfiling)(_Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* profile_file_prefix);
  OrtStatus*(ORT_API_CALL* DisableProfiling)(_Inout_ OrtSessionOptions* options);
  OrtStatus*(ORT_API_CALL* EnableMemPattern)(_Inout_ OrtSessionOptions* options);
  OrtStatus*(ORT_API_CALL* DisableMemPattern)(_Inout_ OrtSessionOptions* options);
  OrtStatus*(ORT_API_CALL* EnableCpuMemArena)(_Inout_ OrtSessionOptions* options);
  OrtStatus*(ORT_API_CALL* DisableCpuMemArena)(_Inout_ OrtSessionOptions* options);
  OrtStatus*(ORT_API_CALL* SetSessionLogId)(_Inout_ OrtSessionOptions* options, const char* logid);
  OrtStatus*(ORT_API_CALL* SetSessionLogVerbosityLevel)(_Inout_ OrtSessionOptions* options, int session_log_verbosity_level);
  OrtStatus*(ORT_API_CALL* SetSessionLogSeverityLevel)(_Inout_ OrtSessionOptions* options, int session_log_severity_level);
  OrtStatus*(ORT_API_CALL* SetSessionGraphOptimizationLevel)(
      _Inout_ OrtSessionOptions* options, GraphOptimizationLevel graph_optimization_level);
  OrtStatus*(ORT_API_CALL* SetIntraOpNumThreads)(_Inout_ OrtSessionOptions* options, int intra_op_num_threads);
  OrtStatus*(ORT_API_CALL* SetInterOpNumThreads)(_Inout_ OrtSessionOptions* options, int inter_op_num_threads);

  // Custom operators
  OrtStatus*(ORT_API_CALL* CreateCustomOpDomain)(_In_ const char* domain, _Outptr_ OrtCustomOpDomain** out);
  OrtStatus*(ORT_API_CALL* CustomOpDomain_Add)(_Inout_ OrtCustomOpDomain* custom_op_domain, _In_ const OrtCustomOp* op);
  OrtStatus*(ORT_API_CALL* AddCustomOpDomain)(_Inout_ OrtSessionOptions* options, _In_ OrtCustomOpDomain* custom_op_domain);
  OrtStatus*(ORT_API_CALL* RegisterCustomOpsLibrary)(
      _Inout_ OrtSessionOptions* options, _In_ const char* library_path, _Outptr_ void** library_handle);

  // Inputs and outputs of a session. Names come from `allocator`; type infos are released by the caller
  OrtStatus*(ORT_API_CALL* SessionGetInputCount)(_In_ const OrtSession* session, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* SessionGetOutputCount)(_In_ const OrtSession* session, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* SessionGetOverridableInitializerCount)(_In_ const OrtSession* session, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* SessionGetInputTypeInfo)(_In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* SessionGetOutputTypeInfo)(_In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* SessionGetOverridableInitializerTypeInfo)(
      _In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* SessionGetInputName)(
      _In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  OrtStatus*(ORT_API_CALL* SessionGetOutputName)(
      _In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  OrtStatus*(ORT_API_CALL* SessionGetOverridableInitializerName)(
      _In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);

  // Run options
  OrtStatus*(ORT_API_CALL* CreateRunOptions)(_Outptr_ OrtRunOptions** out);
  OrtStatus*(ORT_API_CALL* RunOptionsSetRunLogVerbosityLevel)(_Inout_ OrtRunOptions* options, int log_verbosity_level);
  OrtStatus*(ORT_API_CALL* RunOptionsSetRunLogSeverityLevel)(_Inout_ OrtRunOptions* options, int log_severity_level);
  OrtStatus*(ORT_API_CALL* RunOptionsSetRunTag)(_Inout_ OrtRunOptions* options, _In_ const char* run_tag);
  OrtStatus*(ORT_API_CALL* RunOptionsGetRunLogVerbosityLevel)(_In_ const OrtRunOptions* options, _Out_ int* log_verbosity_level);
  OrtStatus*(ORT_API_CALL* RunOptionsGetRunLogSeverityLevel)(_In_ const OrtRunOptions* options, _Out_ int* log_severity_level);
  OrtStatus*(ORT_API_CALL* RunOptionsGetRunTag)(_In_ const OrtRunOptions* options, _Out_ const char** run_tag);
  OrtStatus*(ORT_API_CALL* RunOptionsSetTerminate)(_Inout_ OrtRunOptions* options);  ///< makes runs that use these options stop
  OrtStatus*(ORT_API_CALL* RunOptionsUnsetTerminate)(_Inout_ OrtRunOptions* options);

  // Tensors. Packed 4- and 2-bit types hold their first element in the low bits
  OrtStatus*(ORT_API_CALL* CreateTensorAsOrtValue)(
      _Inout_ OrtAllocator* allocator, _In_ const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type,
      _Outptr_ OrtValue** out);
  /// no copy: `p_data` must outlive the value
  OrtStatus*(ORT_API_CALL* CreateTensorWithDataAsOrtValue)(
      _In_ const OrtMemoryInfo* info, _Inout_ void* p_data, size_t p_data_len, _In_ const int64_t* shape, size_t shape_len,
      ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  OrtStatus*(ORT_API_CALL* IsTensor)(_In_ const OrtValue* value, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* GetTensorMutableData)(_In_ OrtValue* value, _Outptr_ void** out);
  OrtStatus*(ORT_API_CALL* FillStringTensor)(_Inout_ OrtValue* value, _In_ const char* const* s, size_t s_len);
  OrtStatus*(ORT_API_CALL* GetStringTensorDataLength)(_In_ const OrtValue* value, _Out_ size_t* len);  ///< of all elements together
  /// elements back to back; offsets[i] is where element i begins
  OrtStatus*(ORT_API_CALL* GetStringTensorContent)(
      _In_ const OrtValue* value, _Out_writes_bytes_all_(s_len) void* s, size_t s_len, _Out_writes_all_(offsets_len) size_t* offsets,
      size_t offsets_len);

  // Type and shape information. A cast result lives as long as the info that it came from
  OrtStatus*(ORT_API_CALL* CastTypeInfoToTensorInfo)(
      _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtTensorTypeAndShapeInfo** out);
  OrtStatus*(ORT_API_CALL* GetOnnxTypeFromTypeInfo)(_In_ const OrtTypeInfo* type_info, _Out_ ONNXType* out);
  OrtStatus*(ORT_API_CALL* CreateTensorTypeAndShapeInfo)(_Outptr_ OrtTensorTypeAndShapeInfo** out);
  OrtStatus*(ORT_API_CALL* SetTensorElementType)(_Inout_ OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType type);
  OrtStatus*(ORT_API_CALL* SetDimensions)(OrtTensorTypeAndShapeInfo* info, _In_ const int64_t* dim_values, size_t dim_count);
  OrtStatus*(ORT_API_CALL* GetTensorElementType)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ ONNXTensorElementDataType* out);
  OrtStatus*(ORT_API_CALL* GetDimensionsCount)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ size_t* out);
  /// -1 for a dimension that is not known
  OrtStatus*(ORT_API_CALL* GetDimensions)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ int64_t* dim_values, size_t dim_values_length);
  /// empty for a dimension without a name; live as long as the info
  OrtStatus*(ORT_API_CALL* GetSymbolicDimensions)(
      _In_ const OrtTensorTypeAndShapeInfo* info, _Out_writes_all_(dim_params_length) const char** dim_params, size_t dim_params_length);
  OrtStatus*(ORT_API_CALL* GetTensorShapeElementCount)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ size_t* out);  ///< 1 for a scalar
  OrtStatus*(ORT_API_CALL* GetTensorTypeAndShape)(_In_ const OrtValue* value, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /// null for a value without content
  OrtStatus*(ORT_API_CALL* GetTypeInfo)(_In_ const OrtValue* value, _Outptr_result_maybenull_ OrtTypeInfo** out);
  OrtStatus*(ORT_API_CALL* GetValueType)(_In_ const OrtValue* value, _Out_ ONNXType* out);

  // Memory information and allocators
  OrtStatus*(ORT_API_CALL* CreateMemoryInfo)(
      _In_ const char* name, OrtAllocatorType type, int id, OrtMemType mem_type, _Outptr_ OrtMemoryInfo** out);
  OrtStatus*(ORT_API_CALL* CreateCpuMemoryInfo)(OrtAllocatorType type, OrtMemType mem_type, _Outptr_ OrtMemoryInfo** out);
  /// 0 when equal, -1 otherwise
  OrtStatus*(ORT_API_CALL* CompareMemoryInfo)(_In_ const OrtMemoryInfo* info1, _In_ const OrtMemoryInfo* info2, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* MemoryInfoGetName)(_In_ const OrtMemoryInfo* ptr, _Out_ const char** out);
  OrtStatus*(ORT_API_CALL* MemoryInfoGetId)(_In_ const OrtMemoryInfo* ptr, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* MemoryInfoGetMemType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtMemType* out);
  OrtStatus*(ORT_API_CALL* MemoryInfoGetType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtAllocatorType* out);
  OrtStatus*(ORT_API_CALL* AllocatorAlloc)(_Inout_ OrtAllocator* ort_allocator, size_t size, _Outptr_ void** out);
  OrtStatus*(ORT_API_CALL* AllocatorFree)(_Inout_ OrtAllocator* ort_allocator, void* p);
  /// lives as long as the allocator
  OrtStatus*(ORT_API_CALL* AllocatorGetInfo)(_In_ const OrtAllocator* ort_allocator, _Outptr_ const OrtMemoryInfo** out);
  OrtStatus*(ORT_API_CALL* GetAllocatorWithDefaultOptions)(_Outptr_ OrtAllocator** out);  ///< host memory; never released

  // Values for symbolic dimensions, by denotation
  OrtStatus*(ORT_API_CALL* AddFreeDimensionOverride)(
      _Inout_ OrtSessionOptions* options, _In_ const char* dim_denotation, _In_ int64_t dim_value);

  // Sequences and maps. A map's value 0 is the tensor of keys, value 1 that of values
  OrtStatus*(ORT_API_CALL* GetValue)(_In_ const OrtValue* value, int index, _Inout_ OrtAllocator* allocator, _Outptr_ OrtValue** out);
  OrtStatus*(ORT_API_CALL* GetValueCount)(_In_ const OrtValue* value, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* CreateValue)(
      _In_reads_(num_values) const OrtValue* const* in, size_t num_values, ONNXType value_type, _Outptr_ OrtValue** out);
  OrtStatus*(ORT_API_CALL* CreateOpaqueValue)(
      _In_z_ const char* domain_name, _In_z_ const char* type_name, _In_ const void* data_container, size_t data_container_size,
      _Outptr_ OrtValue** out);
  OrtStatus*(ORT_API_CALL* GetOpaqueValue)(
      _In_ const char* domain_name, _In_ const char* type_name, _In_ const OrtValue* in, _Out_ void* data_container,
      size_t data_container_size);

  // Kernels of custom operators: attributes, inputs and outputs
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttribute_float)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ float* out);
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttribute_int64)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ int64_t* out);
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttribute_string)(
      _In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ char* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelContext_GetInputCount)(_In_ const OrtKernelContext* context, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* KernelContext_GetOutputCount)(_In_ const OrtKernelContext* context, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* KernelContext_GetInput)(_In_ const OrtKernelContext* context, _In_ size_t index, _Out_ const OrtValue** out);
  OrtStatus*(ORT_API_CALL* KernelContext_GetOutput)(
      _Inout_ OrtKernelContext* context, _In_ size_t index, _In_ const int64_t* dim_values, size_t dim_count, _Outptr_ OrtValue** out);

  // Releases; null is allowed
  void(ORT_API_CALL* ReleaseEnv)(_Frees_ptr_opt_ OrtEnv* input);
  void(ORT_API_CALL* ReleaseStatus)(_Frees_ptr_opt_ OrtStatus* input);
  void(ORT_API_CALL* ReleaseMemoryInfo)(_Frees_ptr_opt_ OrtMemoryInfo* input);
  void(ORT_API_CALL* ReleaseSession)(_Frees_ptr_opt_ OrtSession* input);
  void(ORT_API_CALL* ReleaseValue)(_Frees_ptr_opt_ OrtValue* input);
  void(ORT_API_CALL* ReleaseRunOptions)(_Frees_ptr_opt_ OrtRunOptions* input);
  void(ORT_API_CALL* ReleaseTypeInfo)(_Frees_ptr_opt_ OrtTypeInfo* input);
  void(ORT_API_CALL* ReleaseTensorTypeAndShapeInfo)(_Frees_ptr_opt_ OrtTensorTypeAndShapeInfo* input);
  void(ORT_API_CALL* ReleaseSessionOptions)(_Frees_ptr_opt_ OrtSessionOptions* input);
  void(ORT_API_CALL* ReleaseCustomOpDomain)(_Frees_ptr_opt_ OrtCustomOpDomain* input);

  // Map and sequence types
  /* since version 2 */
  OrtStatus*(ORT_API_CALL* GetDenotationFromTypeInfo)(
      _In_ const OrtTypeInfo* type_info, _Out_ const char** const denotation, _Out_ size_t* len);
  OrtStatus*(ORT_API_CALL* CastTypeInfoToMapTypeInfo)(
      _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtMapTypeInfo** out);
  OrtStatus*(ORT_API_CALL* CastTypeInfoToSequenceTypeInfo)(
      _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtSequenceTypeInfo** out);
  OrtStatus*(ORT_API_CALL* GetMapKeyType)(_In_ const OrtMapTypeInfo* map_type_info, _Out_ ONNXTensorElementDataType* out);
  OrtStatus*(ORT_API_CALL* GetMapValueType)(_In_ const OrtMapTypeInfo* map_type_info, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* GetSequenceElementType)(_In_ const OrtSequenceTypeInfo* sequence_type_info, _Outptr_ OrtTypeInfo** type_info);
  void(ORT_API_CALL* ReleaseMapTypeInfo)(_Frees_ptr_opt_ OrtMapTypeInfo* input);
  void(ORT_API_CALL* ReleaseSequenceTypeInfo)(_Frees_ptr_opt_ OrtSequenceTypeInfo* input);

  // Profile and metadata of a model. Strings are copies made with `allocator`
  OrtStatus*(ORT_API_CALL* SessionEndProfiling)(_In_ OrtSession* session, _Inout_ OrtAllocator* allocator, _Outptr_ char** out);
  OrtStatus*(ORT_API_CALL* SessionGetModelMetadata)(_In_ const OrtSession* session, _Outptr_ OrtModelMetadata** out);
  OrtStatus*(ORT_API_CALL* ModelMetadataGetProducerName)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  OrtStatus*(ORT_API_CALL* ModelMetadataGetGraphName)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  OrtStatus*(ORT_API_CALL* ModelMetadataGetDomain)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  OrtStatus*(ORT_API_CALL* ModelMetadataGetDescription)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /// null when there is no such key
  OrtStatus*(ORT_API_CALL* ModelMetadataLookupCustomMetadataMap)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _In_ const char* key,
      _Outptr_result_maybenull_ char** value);
  OrtStatus*(ORT_API_CALL* ModelMetadataGetVersion)(_In_ const OrtModelMetadata* model_metadata, _Out_ int64_t* value);
  void(ORT_API_CALL* ReleaseModelMetadata)(_Frees_ptr_opt_ OrtModelMetadata* input);

  // Thread pools that sessions share
  /* since version 3 */
  OrtStatus*(ORT_API_CALL* CreateEnvWithGlobalThreadPools)(
      OrtLoggingLevel log_severity_level, _In_ const char* logid, _In_ const OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out);
  OrtStatus*(ORT_API_CALL* DisablePerSessionThreads)(_Inout_ OrtSessionOptions* options);  ///< use the environment's pools
  OrtStatus*(ORT_API_CALL* CreateThreadingOptions)(_Outptr_ OrtThreadingOptions** out);
  void(ORT_API_CALL* ReleaseThreadingOptions)(_Frees_ptr_opt_ OrtThreadingOptions* input);
  OrtStatus*(ORT_API_CALL* ModelMetadataGetCustomMetadataMapKeys)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator,
      _Outptr_result_buffer_maybenull_(*num_keys) char*** keys, _Out_ int64_t* num_keys);
  OrtStatus*(ORT_API_CALL* AddFreeDimensionOverrideByName)(
      _Inout_ OrtSessionOptions* options, _In_ const char* dim_name, _In_ int64_t dim_value);

  // Providers built in
  /* since version 4 */
  OrtStatus*(ORT_API_CALL* GetAvailableProviders)(_Outptr_ char*** out_ptr, _Out_ int* provider_length);
  /// frees what GetAvailableProviders gave
  OrtStatus*(ORT_API_CALL* ReleaseAvailableProviders)(_In_ char** ptr, _In_ int providers_length);

  // Single elements of string tensors; lengths in bytes, without a terminator
  /* since version 5 */
  OrtStatus*(ORT_API_CALL* GetStringTensorElementLength)(_In_ const OrtValue* value, size_t index, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* GetStringTensorElement)(
      _In_ const OrtValue* value, size_t s_len, size_t index, _Out_writes_bytes_all_(s_len) void* s);
  OrtStatus*(ORT_API_CALL* FillStringTensorElement)(_Inout_ OrtValue* value, _In_ const char* s, size_t index);

  // Configuration entries of a session, by key
  OrtStatus*(ORT_API_CALL* AddSessionConfigEntry)(
      _Inout_ OrtSessionOptions* options, _In_z_ const char* config_key, _In_z_ const char* config_value);

  // Allocators of a session
  OrtStatus*(ORT_API_CALL* CreateAllocator)(
      _In_ const OrtSession* session, _In_ const OrtMemoryInfo* mem_info, _Outptr_ OrtAllocator** out);
  void(ORT_API_CALL* ReleaseAllocator)(_Frees_ptr_opt_ OrtAllocator* input);

  // IO binding: inputs and outputs set once, run many times
  OrtStatus*(ORT_API_CALL* RunWithBinding)(
      _Inout_ OrtSession* session, _In_ const OrtRunOptions* run_options, _In_ const OrtIoBinding* binding_ptr);
  OrtStatus*(ORT_API_CALL* CreateIoBinding)(_Inout_ OrtSession* session, _Outptr_ OrtIoBinding** out);
  void(ORT_API_CALL* ReleaseIoBinding)(_Frees_ptr_opt_ OrtIoBinding* input);
  OrtStatus*(ORT_API_CALL* BindInput)(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtValue* val_ptr);
  OrtStatus*(ORT_API_CALL* BindOutput)(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtValue* val_ptr);
  OrtStatus*(ORT_API_CALL* BindOutputToDevice)(
      _Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtMemoryInfo* mem_info_ptr);
  /// one buffer, without terminators; `lengths` has `count` entries; both from `allocator`
  OrtStatus*(ORT_API_CALL* GetBoundOutputNames)(
      _In_ const OrtIoBinding* binding_ptr, _In_ OrtAllocator* allocator, _Out_ char** buffer, _Out_writes_all_(count) size_t** lengths,
      _Out_ size_t* count);
  /// the array comes from `allocator`; each value is released by the caller
  OrtStatus*(ORT_API_CALL* GetBoundOutputValues)(
      _In_ const OrtIoBinding* binding_ptr, _In_ OrtAllocator* allocator, _Out_writes_all_(output_count) OrtValue*** output,
      _Out_ size_t* output_count);
  void(ORT_API_CALL* ClearBoundInputs)(_Inout_ OrtIoBinding* binding_ptr);
  void(ORT_API_CALL* ClearBoundOutputs)(_Inout_ OrtIoBinding* binding_ptr);

  // Address of one element, by its position in each dimension
  OrtStatus*(ORT_API_CALL* TensorAt)(
      _Inout_ OrtValue* value, const int64_t* location_values, size_t location_values_count, _Outptr_ void** out);

  // Allocators shared by the sessions of an environment
  OrtStatus*(ORT_API_CALL* CreateAndRegisterAllocator)(
      _Inout_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info, _In_ const OrtArenaCfg* arena_cfg);

  // The language binding in use; of no effect
  OrtStatus*(ORT_API_CALL* SetLanguageProjection)(_In_ const OrtEnv* ort_env, _In_ OrtLanguageProjection projection);

  // Profiling clock
  OrtStatus*(ORT_API_CALL* SessionGetProfilingStartTimeNs)(_In_ const OrtSession* session, _Outptr_ uint64_t* out);

  // Settings of the shared thread pools
  OrtStatus*(ORT_API_CALL* SetGlobalIntraOpNumThreads)(_Inout_ OrtThreadingOptions* tp_options, int intra_op_num_threads);
  OrtStatus*(ORT_API_CALL* SetGlobalInterOpNumThreads)(_Inout_ OrtThreadingOptions* tp_options, int inter_op_num_threads);
  OrtStatus*(ORT_API_CALL* SetGlobalSpinControl)(_Inout_ OrtThreadingOptions* tp_options, int allow_spinning);

  // An initializer that replaces the model's of that name; the value must outlive the session
  /* since version 6 */
  OrtStatus*(ORT_API_CALL* AddInitializer)(_Inout_ OrtSessionOptions* options, _In_z_ const char* name, _In_ const OrtValue* val);
  OrtStatus*(ORT_API_CALL* CreateEnvWithCustomLoggerAndGlobalThreadPools)(
      OrtLoggingFunction logging_function, _In_opt_ void* logger_param, OrtLoggingLevel log_severity_level, _In_ const char* logid,
      _In_ const OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out);

  // Providers by option struct
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_CUDA)(
      _In_ OrtSessionOptions* options, _In_ const OrtCUDAProviderOptions* cuda_options);
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_ROCM)(
      _In_ OrtSessionOptions* options, _In_ const OrtROCMProviderOptions* rocm_options);
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_OpenVINO)(
      _In_ OrtSessionOptions* options, _In_ const OrtOpenVINOProviderOptions* provider_options);

  // Flush denormals in the shared pools
  OrtStatus*(ORT_API_CALL* SetGlobalDenormalAsZero)(_Inout_ OrtThreadingOptions* tp_options);

  // Arena settings (see CreateArenaCfgV2 for keys)
  OrtStatus*(ORT_API_CALL* CreateArenaCfg)(
      _In_ size_t max_mem, int arena_extend_strategy, int initial_chunk_size_bytes, int max_dead_bytes_per_chunk,
      _Outptr_ OrtArenaCfg** out);
  void(ORT_API_CALL* ReleaseArenaCfg)(_Frees_ptr_opt_ OrtArenaCfg* input);

  // Metadata, continued
  /* since version 7 */
  OrtStatus*(ORT_API_CALL* ModelMetadataGetGraphDescription)(
      _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_TensorRT)(
      _In_ OrtSessionOptions* options, _In_ const OrtTensorRTProviderOptions* tensorrt_options);

  // The GPU of the calling thread
  OrtStatus*(ORT_API_CALL* SetCurrentGpuDeviceId)(_In_ int device_id);
  OrtStatus*(ORT_API_CALL* GetCurrentGpuDeviceId)(_In_ int* device_id);

  // Array attributes: call with a null `out` for the size
  /* since version 8 */
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttributeArray_float)(
      _In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ float* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttributeArray_int64)(
      _In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ int64_t* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* CreateArenaCfgV2)(
      _In_reads_(num_keys) const char* const* arena_config_keys, _In_reads_(num_keys) const size_t* arena_config_values,
      _In_ size_t num_keys, _Outptr_ OrtArenaCfg** out);
  OrtStatus*(ORT_API_CALL* AddRunConfigEntry)(
      _Inout_ OrtRunOptions* options, _In_z_ const char* config_key, _In_z_ const char* config_value);

  // Packed weights that sessions share
  OrtStatus*(ORT_API_CALL* CreatePrepackedWeightsContainer)(_Outptr_ OrtPrepackedWeightsContainer** out);
  void(ORT_API_CALL* ReleasePrepackedWeightsContainer)(_Frees_ptr_opt_ OrtPrepackedWeightsContainer* input);
  OrtStatus*(ORT_API_CALL* CreateSessionWithPrepackedWeightsContainer)(
      _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options,
      _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out);
  OrtStatus*(ORT_API_CALL* CreateSessionFromArrayWithPrepackedWeightsContainer)(
      _In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options,
      _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out);

  // TensorRT, with options by key
  /* since version 9 */
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_TensorRT_V2)(
      _In_ OrtSessionOptions* options, _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options);
  OrtStatus*(ORT_API_CALL* CreateTensorRTProviderOptions)(_Outptr_ OrtTensorRTProviderOptionsV2** out);
  OrtStatus*(ORT_API_CALL* UpdateTensorRTProviderOptions)(
      _Inout_ OrtTensorRTProviderOptionsV2* tensorrt_options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* GetTensorRTProviderOptionsAsString)(
      _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseTensorRTProviderOptions)(_Frees_ptr_opt_ OrtTensorRTProviderOptionsV2* input);

  // The extensions' custom operators
  OrtStatus*(ORT_API_CALL* EnableOrtCustomOps)(_Inout_ OrtSessionOptions* options);

  // Custom allocators of an environment
  OrtStatus*(ORT_API_CALL* RegisterAllocator)(_Inout_ OrtEnv* env, _In_ OrtAllocator* allocator);
  OrtStatus*(ORT_API_CALL* UnregisterAllocator)(_Inout_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info);

  // Sparse tensors. Fill* copies, Use* refers to the caller's memory
  OrtStatus*(ORT_API_CALL* IsSparseTensor)(_In_ const OrtValue* value, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* CreateSparseTensorAsOrtValue)(
      _Inout_ OrtAllocator* allocator, _In_ const int64_t* dense_shape, size_t dense_shape_len, ONNXTensorElementDataType type,
      _Outptr_ OrtValue** out);
  OrtStatus*(ORT_API_CALL* FillSparseTensorCoo)(
      _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape, size_t values_shape_len,
      _In_ const void* values, _In_ const int64_t* indices_data, size_t indices_num);
  OrtStatus*(ORT_API_CALL* FillSparseTensorCsr)(
      _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape, size_t values_shape_len,
      _In_ const void* values, _In_ const int64_t* inner_indices_data, size_t inner_indices_num, _In_ const int64_t* outer_indices_data,
      size_t outer_indices_num);
  OrtStatus*(ORT_API_CALL* FillSparseTensorBlockSparse)(
      _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape, size_t values_shape_len,
      _In_ const void* values, _In_ const int64_t* indices_shape_data, size_t indices_shape_len, _In_ const int32_t* indices_data);
  OrtStatus*(ORT_API_CALL* CreateSparseTensorWithValuesAsOrtValue)(
      _In_ const OrtMemoryInfo* info, _Inout_ void* p_data, _In_ const int64_t* dense_shape, size_t dense_shape_len,
      _In_ const int64_t* values_shape, size_t values_shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  OrtStatus*(ORT_API_CALL* UseCooIndices)(_Inout_ OrtValue* ort_value, _Inout_ int64_t* indices_data, size_t indices_num);
  OrtStatus*(ORT_API_CALL* UseCsrIndices)(
      _Inout_ OrtValue* ort_value, _Inout_ int64_t* inner_data, size_t inner_num, _Inout_ int64_t* outer_data, size_t outer_num);
  OrtStatus*(ORT_API_CALL* UseBlockSparseIndices)(
      _Inout_ OrtValue* ort_value, const int64_t* indices_shape, size_t indices_shape_len, _Inout_ int32_t* indices_data);
  OrtStatus*(ORT_API_CALL* GetSparseTensorFormat)(_In_ const OrtValue* ort_value, _Out_ OrtSparseFormat* out);
  OrtStatus*(ORT_API_CALL* GetSparseTensorValuesTypeAndShape)(_In_ const OrtValue* ort_value, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  OrtStatus*(ORT_API_CALL* GetSparseTensorValues)(_In_ const OrtValue* ort_value, _Outptr_ const void** out);
  OrtStatus*(ORT_API_CALL* GetSparseTensorIndicesTypeShape)(
      _In_ const OrtValue* ort_value, OrtSparseIndicesFormat indices_format, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  OrtStatus*(ORT_API_CALL* GetSparseTensorIndices)(
      _In_ const OrtValue* ort_value, OrtSparseIndicesFormat indices_format, _Out_ size_t* num_indices, _Outptr_ const void** indices);

  // Whether an optional has content
  /* since version 10 */
  OrtStatus*(ORT_API_CALL* HasValue)(_In_ const OrtValue* value, _Out_ int* out);  ///< 1 for every value that is not an empty optional
  OrtStatus*(ORT_API_CALL* KernelContext_GetGPUComputeStream)(_In_ const OrtKernelContext* context, _Outptr_ void** out);

  // Where a tensor lives; the info lives as long as the value
  OrtStatus*(ORT_API_CALL* GetTensorMemoryInfo)(_In_ const OrtValue* value, _Out_ const OrtMemoryInfo** mem_info);

  // A provider's own table
  OrtStatus*(ORT_API_CALL* GetExecutionProviderApi)(
      _In_ const char* provider_name, _In_ uint32_t version, _Outptr_ const void** provider_api);

  // Threads made by the caller's functions
  OrtStatus*(ORT_API_CALL* SessionOptionsSetCustomCreateThreadFn)(
      _Inout_ OrtSessionOptions* options, _In_ OrtCustomCreateThreadFn ort_custom_create_thread_fn);
  OrtStatus*(ORT_API_CALL* SessionOptionsSetCustomThreadCreationOptions)(
      _Inout_ OrtSessionOptions* options, _In_ void* ort_custom_thread_creation_options);
  OrtStatus*(ORT_API_CALL* SessionOptionsSetCustomJoinThreadFn)(
      _Inout_ OrtSessionOptions* options, _In_ OrtCustomJoinThreadFn ort_custom_join_thread_fn);
  OrtStatus*(ORT_API_CALL* SetGlobalCustomCreateThreadFn)(
      _Inout_ OrtThreadingOptions* tp_options, _In_ OrtCustomCreateThreadFn ort_custom_create_thread_fn);
  OrtStatus*(ORT_API_CALL* SetGlobalCustomThreadCreationOptions)(
      _Inout_ OrtThreadingOptions* tp_options, _In_ void* ort_custom_thread_creation_options);
  OrtStatus*(ORT_API_CALL* SetGlobalCustomJoinThreadFn)(
      _Inout_ OrtThreadingOptions* tp_options, _In_ OrtCustomJoinThreadFn ort_custom_join_thread_fn);

  // Wait for copies of bound values
  OrtStatus*(ORT_API_CALL* SynchronizeBoundInputs)(_Inout_ OrtIoBinding* binding_ptr);
  OrtStatus*(ORT_API_CALL* SynchronizeBoundOutputs)(_Inout_ OrtIoBinding* binding_ptr);

  // CUDA, with options by key
  /* since version 11 */
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_CUDA_V2)(
      _In_ OrtSessionOptions* options, _In_ const OrtCUDAProviderOptionsV2* cuda_options);
  OrtStatus*(ORT_API_CALL* CreateCUDAProviderOptions)(_Outptr_ OrtCUDAProviderOptionsV2** out);
  OrtStatus*(ORT_API_CALL* UpdateCUDAProviderOptions)(
      _Inout_ OrtCUDAProviderOptionsV2* cuda_options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* GetCUDAProviderOptionsAsString)(
      _In_ const OrtCUDAProviderOptionsV2* cuda_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseCUDAProviderOptions)(_Frees_ptr_opt_ OrtCUDAProviderOptionsV2* input);
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_MIGraphX)(
      _In_ OrtSessionOptions* options, _In_ const OrtMIGraphXProviderOptions* migraphx_options);

  // Values for initializers that the model keeps outside
  /* since version 12 */
  OrtStatus*(ORT_API_CALL* AddExternalInitializers)(
      _In_ OrtSessionOptions* options, _In_reads_(num_initializers) const char* const* initializer_names,
      _In_reads_(num_initializers) const OrtValue* const* initializers, size_t num_initializers);

  // Operators called from kernels of custom operators
  OrtStatus*(ORT_API_CALL* CreateOpAttr)(
      _In_ const char* name, _In_ const void* data, _In_ int len, _In_ OrtOpAttrType type, _Outptr_ OrtOpAttr** op_attr);
  void(ORT_API_CALL* ReleaseOpAttr)(_Frees_ptr_opt_ OrtOpAttr* input);
  OrtStatus*(ORT_API_CALL* CreateOp)(
      _In_ const OrtKernelInfo* info, _In_z_ const char* op_name, _In_z_ const char* domain, int version,
      _In_reads_(type_constraint_count) const char** type_constraint_names,
      _In_reads_(type_constraint_count) const ONNXTensorElementDataType* type_constraint_values, int type_constraint_count,
      _In_reads_(attr_count) const OrtOpAttr* const* attr_values, int attr_count, int input_count, int output_count,
      _Outptr_ OrtOp** ort_op);
  OrtStatus*(ORT_API_CALL* InvokeOp)(
      _In_ const OrtKernelContext* context, _In_ const OrtOp* ort_op, _In_ const OrtValue* const* input_values, _In_ int input_count,
      _Inout_ OrtValue* const* output_values, _In_ int output_count);
  void(ORT_API_CALL* ReleaseOp)(_Frees_ptr_opt_ OrtOp* input);

  // A provider by name, with options by key
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider)(
      _In_ OrtSessionOptions* options, _In_ const char* provider_name, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* CopyKernelInfo)(_In_ const OrtKernelInfo* info, _Outptr_ OrtKernelInfo** info_copy);
  void(ORT_API_CALL* ReleaseKernelInfo)(_Frees_ptr_opt_ OrtKernelInfo* input);

  // Training; always null here
  /* since version 13 */
  const OrtTrainingApi*(ORT_API_CALL* GetTrainingApi)(uint32_t version);

  // CANN
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_CANN)(
      _In_ OrtSessionOptions* options, _In_ const OrtCANNProviderOptions* cann_options);
  OrtStatus*(ORT_API_CALL* CreateCANNProviderOptions)(_Outptr_ OrtCANNProviderOptions** out);
  OrtStatus*(ORT_API_CALL* UpdateCANNProviderOptions)(
      _Inout_ OrtCANNProviderOptions* cann_options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* GetCANNProviderOptionsAsString)(
      _In_ const OrtCANNProviderOptions* cann_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseCANNProviderOptions)(_Frees_ptr_opt_ OrtCANNProviderOptions* input);

  // Kind of device
  /* since version 14 */
  void(ORT_API_CALL* MemoryInfoGetDeviceType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtMemoryInfoDeviceType* out);

  // Changes of an environment
  OrtStatus*(ORT_API_CALL* UpdateEnvWithCustomLogLevel)(_In_ OrtEnv* ort_env, OrtLoggingLevel log_severity_level);
  OrtStatus*(ORT_API_CALL* SetGlobalIntraOpThreadAffinity)(_Inout_ OrtThreadingOptions* tp_options, const char* affinity_string);

  // Custom operators from a library
  OrtStatus*(ORT_API_CALL* RegisterCustomOpsLibrary_V2)(_Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* library_name);
  OrtStatus*(ORT_API_CALL* RegisterCustomOpsUsingFunction)(_Inout_ OrtSessionOptions* options, _In_ const char* registration_func_name);

  // Kernel information
  OrtStatus*(ORT_API_CALL* KernelInfo_GetInputCount)(_In_ const OrtKernelInfo* info, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetOutputCount)(_In_ const OrtKernelInfo* info, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetInputName)(
      _In_ const OrtKernelInfo* info, size_t index, _Out_opt_ char* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetOutputName)(
      _In_ const OrtKernelInfo* info, size_t index, _Out_opt_ char* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetInputTypeInfo)(_In_ const OrtKernelInfo* info, size_t index, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetOutputTypeInfo)(_In_ const OrtKernelInfo* info, size_t index, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttribute_tensor)(
      _In_ const OrtKernelInfo* info, _In_z_ const char* name, _Inout_ OrtAllocator* allocator, _Outptr_ OrtValue** out);

  // Reading configuration entries: call with a null `config_value` for the size, terminator included
  OrtStatus*(ORT_API_CALL* HasSessionConfigEntry)(_In_ const OrtSessionOptions* options, _In_z_ const char* config_key, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* GetSessionConfigEntry)(
      _In_ const OrtSessionOptions* options, _In_z_ const char* config_key, _Out_ char* config_value, _Inout_ size_t* size);

  // oneDNN
  /* since version 15 */
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_Dnnl)(
      _In_ OrtSessionOptions* options, _In_ const OrtDnnlProviderOptions* dnnl_options);
  OrtStatus*(ORT_API_CALL* CreateDnnlProviderOptions)(_Outptr_ OrtDnnlProviderOptions** out);
  OrtStatus*(ORT_API_CALL* UpdateDnnlProviderOptions)(
      _Inout_ OrtDnnlProviderOptions* dnnl_options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* GetDnnlProviderOptionsAsString)(
      _In_ const OrtDnnlProviderOptions* dnnl_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseDnnlProviderOptions)(_Frees_ptr_opt_ OrtDnnlProviderOptions* input);

  // Names and loggers for kernels
  OrtStatus*(ORT_API_CALL* KernelInfo_GetNodeName)(_In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetLogger)(_In_ const OrtKernelInfo* info, _Outptr_ const OrtLogger** logger);
  OrtStatus*(ORT_API_CALL* KernelContext_GetLogger)(_In_ const OrtKernelContext* context, _Outptr_ const OrtLogger** logger);
  OrtStatus*(ORT_API_CALL* Logger_LogMessage)(
      _In_ const OrtLogger* logger, OrtLoggingLevel log_severity_level, _In_z_ const char* message, _In_z_ const ORTCHAR_T* file_path,
      int line_number, _In_z_ const char* func_name);
  OrtStatus*(ORT_API_CALL* Logger_GetLoggingSeverityLevel)(_In_ const OrtLogger* logger, _Out_ OrtLoggingLevel* out);
  OrtStatus*(ORT_API_CALL* KernelInfoGetConstantInput_tensor)(
      _In_ const OrtKernelInfo* info, size_t index, _Out_ int* is_constant, _Outptr_ const OrtValue** out);

  // Optional types
  OrtStatus*(ORT_API_CALL* CastTypeInfoToOptionalTypeInfo)(
      _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtOptionalTypeInfo** out);
  OrtStatus*(ORT_API_CALL* GetOptionalContainedTypeInfo)(_In_ const OrtOptionalTypeInfo* optional_type_info, _Outptr_ OrtTypeInfo** out);

  // Writable memory of one string element, resized
  OrtStatus*(ORT_API_CALL* GetResizedStringTensorElementBuffer)(
      _Inout_ OrtValue* value, _In_ size_t index, _In_ size_t length_in_bytes, _Inout_ char** buffer);

  // Allocators for kernels
  OrtStatus*(ORT_API_CALL* KernelContext_GetAllocator)(
      _In_ const OrtKernelContext* context, _In_ const OrtMemoryInfo* mem_info, _Outptr_ OrtAllocator** out);

  // Which build this is; the string lives for ever
  const char*(ORT_API_CALL* GetBuildInfoString)(void);

  // ROCm, with options by key
  /* since version 16 */
  OrtStatus*(ORT_API_CALL* CreateROCMProviderOptions)(_Outptr_ OrtROCMProviderOptions** out);
  OrtStatus*(ORT_API_CALL* UpdateROCMProviderOptions)(
      _Inout_ OrtROCMProviderOptions* rocm_options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* GetROCMProviderOptionsAsString)(
      _In_ const OrtROCMProviderOptions* rocm_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseROCMProviderOptions)(_Frees_ptr_opt_ OrtROCMProviderOptions* input);

  // A shared allocator for a given provider
  OrtStatus*(ORT_API_CALL* CreateAndRegisterAllocatorV2)(
      _Inout_ OrtEnv* env, _In_ const char* provider_type, _In_ const OrtMemoryInfo* mem_info, _In_ const OrtArenaCfg* arena_cfg,
      _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values,
      _In_ size_t num_keys);

  // A run that ends by calling back
  OrtStatus*(ORT_API_CALL* RunAsync)(
      _Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options, _In_reads_(input_len) const char* const* input_names,
      _In_reads_(input_len) const OrtValue* const* input, size_t input_len, _In_reads_(output_names_len) const char* const* output_names,
      size_t output_names_len, _Inout_updates_all_(output_names_len) OrtValue** output, _In_ RunAsyncCallbackFn run_async_callback,
      _In_opt_ void* user_data);

  // Options that are pointers
  OrtStatus*(ORT_API_CALL* UpdateTensorRTProviderOptionsWithValue)(
      _Inout_ OrtTensorRTProviderOptionsV2* tensorrt_options, _In_ const char* key, _In_ void* value);
  OrtStatus*(ORT_API_CALL* GetTensorRTProviderOptionsByName)(
      _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options, _In_ const char* key, _Outptr_ void** ptr);
  OrtStatus*(ORT_API_CALL* UpdateCUDAProviderOptionsWithValue)(
      _Inout_ OrtCUDAProviderOptionsV2* cuda_options, _In_ const char* key, _In_ void* value);
  OrtStatus*(ORT_API_CALL* GetCUDAProviderOptionsByName)(
      _In_ const OrtCUDAProviderOptionsV2* cuda_options, _In_ const char* key, _Outptr_ void** ptr);
  OrtStatus*(ORT_API_CALL* KernelContext_GetResource)(
      _In_ const OrtKernelContext* context, _In_ int resource_version, _In_ int resource_id, _Outptr_ void** resource);

  // The session's own log function
  /* since version 17 */
  OrtStatus*(ORT_API_CALL* SetUserLoggingFunction)(
      _Inout_ OrtSessionOptions* options, _In_ OrtLoggingFunction user_logging_function, _In_opt_ void* user_logging_param);

  // Shape inference of custom operators
  OrtStatus*(ORT_API_CALL* ShapeInferContext_GetInputCount)(_In_ const OrtShapeInferContext* context, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* ShapeInferContext_GetInputTypeShape)(
      _In_ const OrtShapeInferContext* context, _In_ size_t index, _Outptr_ OrtTensorTypeAndShapeInfo** info);
  OrtStatus*(ORT_API_CALL* ShapeInferContext_GetAttribute)(
      _In_ const OrtShapeInferContext* context, _In_ const char* attr_name, _Outptr_ const OrtOpAttr** attr);
  OrtStatus*(ORT_API_CALL* ShapeInferContext_SetOutputTypeShape)(
      _In_ const OrtShapeInferContext* context, _In_ size_t index, _In_ const OrtTensorTypeAndShapeInfo* info);
  OrtStatus*(ORT_API_CALL* SetSymbolicDimensions)(
      _In_ OrtTensorTypeAndShapeInfo* info, _In_ const char** dim_params, _In_ size_t dim_params_length);
  OrtStatus*(ORT_API_CALL* ReadOpAttr)(
      _In_ const OrtOpAttr* op_attr, _In_ OrtOpAttrType type, _Inout_ void* data, _In_ size_t len, _Out_ size_t* out);

  // Same bits for any thread count
  OrtStatus*(ORT_API_CALL* SetDeterministicCompute)(_Inout_ OrtSessionOptions* options, bool value);

  // Loops and scratch memory for kernels
  OrtStatus*(ORT_API_CALL* KernelContext_ParallelFor)(
      _In_ const OrtKernelContext* context, _In_ void (*fn)(void*, size_t), _In_ size_t total, _In_ size_t num_batch, _In_ void* usr_data);
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_OpenVINO_V2)(
      _In_ OrtSessionOptions* options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since version 18 */
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_VitisAI)(
      _In_ OrtSessionOptions* options, _In_reads_(num_keys) const char* const* provider_options_keys,
      _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  OrtStatus*(ORT_API_CALL* KernelContext_GetScratchBuffer)(
      _In_ const OrtKernelContext* context, _In_ const OrtMemoryInfo* mem_info, _In_ size_t count_or_bytes, _Outptr_ void** out);
  OrtStatus*(ORT_API_CALL* KernelInfoGetAllocator)(_In_ const OrtKernelInfo* info, _In_ OrtMemType mem_type, _Outptr_ OrtAllocator** out);

  // External data files that the caller holds in memory
  OrtStatus*(ORT_API_CALL* AddExternalInitializersFromFilesInMemory)(
      _In_ OrtSessionOptions* options, _In_reads_(num_external_initializer_files) const ORTCHAR_T* const* external_initializer_file_names,
      _In_reads_(num_external_initializer_files) char* const* external_initializer_file_buffer_array,
      _In_reads_(num_external_initializer_files) const size_t* external_initializer_file_lengths, size_t num_external_initializer_files);

  // LoRA adapters
  /* since version 20 */
  OrtStatus*(ORT_API_CALL* CreateLoraAdapter)(
      const ORTCHAR_T* adapter_file_path, _In_ OrtAllocator* allocator, _Outptr_ OrtLoraAdapter** out);
  OrtStatus*(ORT_API_CALL* CreateLoraAdapterFromArray)(
      _In_ const void* bytes, size_t num_bytes, _In_ OrtAllocator* allocator, _Outptr_ OrtLoraAdapter** out);
  void(ORT_API_CALL* ReleaseLoraAdapter)(_Frees_ptr_opt_ OrtLoraAdapter* input);
  OrtStatus*(ORT_API_CALL* RunOptionsAddActiveLoraAdapter)(_Inout_ OrtRunOptions* options, _In_ const OrtLoraAdapter* adapter);

  // Options of providers that may change between runs
  OrtStatus*(ORT_API_CALL* SetEpDynamicOptions)(
      _Inout_ OrtSession* sess, _In_reads_(kv_len) const char* const* keys, _In_reads_(kv_len) const char* const* values,
      _In_ size_t kv_len);

  // Graphs, nodes and values as models are built
  /* since version 22 */
  void(ORT_API_CALL* ReleaseValueInfo)(_Frees_ptr_opt_ OrtValueInfo* input);
  void(ORT_API_CALL* ReleaseNode)(_Frees_ptr_opt_ OrtNode* input);
  void(ORT_API_CALL* ReleaseGraph)(_Frees_ptr_opt_ OrtGraph* input);
  void(ORT_API_CALL* ReleaseModel)(_Frees_ptr_opt_ OrtModel* input);
  OrtStatus*(ORT_API_CALL* GetValueInfoName)(_In_ const OrtValueInfo* value_info, _Out_ const char** name);
  OrtStatus*(ORT_API_CALL* GetValueInfoTypeInfo)(_In_ const OrtValueInfo* value_info, _Outptr_ const OrtTypeInfo** type_info);
  const OrtModelEditorApi*(ORT_API_CALL* GetModelEditorApi)(void);

  // A tensor over memory that `deleter` frees with the value
  OrtStatus*(ORT_API_CALL* CreateTensorWithDataAndDeleterAsOrtValue)(
      _In_ OrtAllocator* deleter, _In_ void* p_data, size_t p_data_len, _In_ const int64_t* shape, size_t shape_len,
      ONNXTensorElementDataType type, _Outptr_ OrtValue** out);

  // Stop a load that is under way
  OrtStatus*(ORT_API_CALL* SessionOptionsSetLoadCancellationFlag)(_Inout_ OrtSessionOptions* options, _In_ bool cancel);
  const OrtCompileApi*(ORT_API_CALL* GetCompileApi)(void);

  // Key-value pairs. Pointers read from them live until the next change
  void(ORT_API_CALL* CreateKeyValuePairs)(_Outptr_ OrtKeyValuePairs** out);
  void(ORT_API_CALL* AddKeyValuePair)(_In_ OrtKeyValuePairs* kvps, _In_ const char* key, _In_ const char* value);
  const char*(ORT_API_CALL* GetKeyValue)(_In_ const OrtKeyValuePairs* kvps, _In_ const char* key);
  void(ORT_API_CALL* GetKeyValuePairs)(
      _In_ const OrtKeyValuePairs* kvps, _Outptr_ const char* const** keys, _Outptr_ const char* const** values, _Out_ size_t* num_entries);
  void(ORT_API_CALL* RemoveKeyValuePair)(_In_ OrtKeyValuePairs* kvps, _In_ const char* key);
  void(ORT_API_CALL* ReleaseKeyValuePairs)(_Frees_ptr_opt_ OrtKeyValuePairs* input);

  // Plugin providers and their devices
  OrtStatus*(ORT_API_CALL* RegisterExecutionProviderLibrary)(
      _In_ OrtEnv* env, _In_ const char* registration_name, _In_ const ORTCHAR_T* path);
  OrtStatus*(ORT_API_CALL* UnregisterExecutionProviderLibrary)(_In_ OrtEnv* env, _In_ const char* registration_name);
  OrtStatus*(ORT_API_CALL* GetEpDevices)(
      _In_ const OrtEnv* env, _Outptr_ const OrtEpDevice* const** ep_devices, _Out_ size_t* num_ep_devices);
  OrtStatus*(ORT_API_CALL* SessionOptionsAppendExecutionProvider_V2)(
      _In_ OrtSessionOptions* session_options, _In_ OrtEnv* env, _In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices,
      _In_ size_t num_ep_devices, _In_reads_(num_op_options) const char* const* ep_option_keys,
      _In_reads_(num_op_options) const char* const* ep_option_vals, size_t num_ep_options);
  OrtStatus*(ORT_API_CALL* SessionOptionsSetEpSelectionPolicy)(
      _In_ OrtSessionOptions* session_options, _In_ OrtExecutionProviderDevicePolicy policy);
  OrtStatus*(ORT_API_CALL* SessionOptionsSetEpSelectionPolicyDelegate)(
      _In_ OrtSessionOptions* session_options, _In_ EpSelectionDelegate delegate, _In_opt_ void* delegate_state);

  // Devices
  OrtHardwareDeviceType(ORT_API_CALL* HardwareDevice_Type)(_In_ const OrtHardwareDevice* device);
  uint32_t(ORT_API_CALL* HardwareDevice_VendorId)(_In_ const OrtHardwareDevice* device);
  const char*(ORT_API_CALL* HardwareDevice_Vendor)(_In_ const OrtHardwareDevice* device);
  uint32_t(ORT_API_CALL* HardwareDevice_DeviceId)(_In_ const OrtHardwareDevice* device);
  const OrtKeyValuePairs*(ORT_API_CALL* HardwareDevice_Metadata)(_In_ const OrtHardwareDevice* device);
  const char*(ORT_API_CALL* EpDevice_EpName)(_In_ const OrtEpDevice* ep_device);
  const char*(ORT_API_CALL* EpDevice_EpVendor)(_In_ const OrtEpDevice* ep_device);
  const OrtKeyValuePairs*(ORT_API_CALL* EpDevice_EpMetadata)(_In_ const OrtEpDevice* ep_device);
  const OrtKeyValuePairs*(ORT_API_CALL* EpDevice_EpOptions)(_In_ const OrtEpDevice* ep_device);
  const OrtHardwareDevice*(ORT_API_CALL* EpDevice_Device)(_In_ const OrtEpDevice* ep_device);

  // The table for plugin providers
  const OrtEpApi*(ORT_API_CALL* GetEpApi)(void);

  // Sizes and statistics
  /* since version 23 */
  OrtStatus*(ORT_API_CALL* GetTensorSizeInBytes)(_In_ const OrtValue* ort_value, _Out_ size_t* size);
  OrtStatus*(ORT_API_CALL* AllocatorGetStats)(_In_ const OrtAllocator* ort_allocator, _Outptr_ OrtKeyValuePairs** out);
  OrtStatus*(ORT_API_CALL* CreateMemoryInfo_V2)(
      _In_ const char* name, _In_ OrtMemoryInfoDeviceType device_type, _In_ uint32_t vendor_id, _In_ int32_t device_id,
      _In_ OrtDeviceMemoryType mem_type, _In_ size_t alignment, OrtAllocatorType allocator_type, _Outptr_ OrtMemoryInfo** out);
  OrtDeviceMemoryType(ORT_API_CALL* MemoryInfoGetDeviceMemType)(_In_ const OrtMemoryInfo* ptr);
  uint32_t(ORT_API_CALL* MemoryInfoGetVendorId)(_In_ const OrtMemoryInfo* ptr);

  // Reading a graph: values
  OrtStatus*(ORT_API_CALL* ValueInfo_GetValueProducer)(
      _In_ const OrtValueInfo* value_info, _Outptr_ const OrtNode** producer_node, _Out_opt_ size_t* producer_output_index);
  OrtStatus*(ORT_API_CALL* ValueInfo_GetValueNumConsumers)(_In_ const OrtValueInfo* value_info, _Out_ size_t* num_consumers);
  OrtStatus*(ORT_API_CALL* ValueInfo_GetValueConsumers)(
      _In_ const OrtValueInfo* value_info, _Out_writes_all_(num_consumers) const OrtNode** nodes,
      _Out_writes_all_(num_consumers) int64_t* input_indices, _In_ size_t num_consumers);
  OrtStatus*(ORT_API_CALL* ValueInfo_GetInitializerValue)(_In_ const OrtValueInfo* value_info, _Outptr_ const OrtValue** initializer_value);
  OrtStatus*(ORT_API_CALL* ValueInfo_GetExternalInitializerInfo)(
      _In_ const OrtValueInfo* value_info, _Outptr_result_maybenull_ OrtExternalInitializerInfo** info);
  OrtStatus*(ORT_API_CALL* ValueInfo_IsRequiredGraphInput)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_required_graph_input);
  OrtStatus*(ORT_API_CALL* ValueInfo_IsOptionalGraphInput)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_optional_graph_input);
  OrtStatus*(ORT_API_CALL* ValueInfo_IsGraphOutput)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_graph_output);
  OrtStatus*(ORT_API_CALL* ValueInfo_IsConstantInitializer)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_constant_initializer);
  OrtStatus*(ORT_API_CALL* ValueInfo_IsFromOuterScope)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_from_outer_scope);

  // Reading a graph: the graph
  OrtStatus*(ORT_API_CALL* Graph_GetName)(_In_ const OrtGraph* graph, _Outptr_ const char** graph_name);
  OrtStatus*(ORT_API_CALL* Graph_GetModelPath)(_In_ const OrtGraph* graph, _Outptr_ const ORTCHAR_T** model_path);
  OrtStatus*(ORT_API_CALL* Graph_GetOnnxIRVersion)(_In_ const OrtGraph* graph, _Out_ int64_t* onnx_ir_version);
  OrtStatus*(ORT_API_CALL* Graph_GetNumOperatorSets)(_In_ const OrtGraph* graph, _Out_ size_t* num_operator_sets);
  OrtStatus*(ORT_API_CALL* Graph_GetOperatorSets)(
      _In_ const OrtGraph* graph, _Out_writes_(num_operator_sets) const char** domains,
      _Out_writes_(num_operator_sets) int64_t* opset_versions, _In_ size_t num_operator_sets);
  OrtStatus*(ORT_API_CALL* Graph_GetNumInputs)(_In_ const OrtGraph* graph, _Out_ size_t* num_inputs);
  OrtStatus*(ORT_API_CALL* Graph_GetInputs)(
      _In_ const OrtGraph* graph, _Out_writes_(num_inputs) const OrtValueInfo** inputs, _In_ size_t num_inputs);
  OrtStatus*(ORT_API_CALL* Graph_GetNumOutputs)(_In_ const OrtGraph* graph, _Out_ size_t* num_outputs);
  OrtStatus*(ORT_API_CALL* Graph_GetOutputs)(
      _In_ const OrtGraph* graph, _Out_writes_(num_outputs) const OrtValueInfo** outputs, _In_ size_t num_outputs);
  OrtStatus*(ORT_API_CALL* Graph_GetNumInitializers)(_In_ const OrtGraph* graph, _Out_ size_t* num_initializers);
  OrtStatus*(ORT_API_CALL* Graph_GetInitializers)(
      _In_ const OrtGraph* graph, _Out_writes_(num_initializers) const OrtValueInfo** initializers, _In_ size_t num_initializers);
  OrtStatus*(ORT_API_CALL* Graph_GetNumNodes)(_In_ const OrtGraph* graph, _Out_ size_t* num_nodes);
  OrtStatus*(ORT_API_CALL* Graph_GetNodes)(
      _In_ const OrtGraph* graph, _Out_writes_(num_nodes) const OrtNode** nodes, _In_ size_t num_nodes);
  OrtStatus*(ORT_API_CALL* Graph_GetParentNode)(_In_ const OrtGraph* graph, _Outptr_result_maybenull_ const OrtNode** node);
  OrtStatus*(ORT_API_CALL* Graph_GetGraphView)(
      _In_ const OrtGraph* src_graph, _In_ const OrtNode** nodes, _In_ size_t num_nodes, _Outptr_ OrtGraph** dst_graph);

  // Reading a graph: nodes and attributes
  OrtStatus*(ORT_API_CALL* Node_GetId)(_In_ const OrtNode* node, _Out_ size_t* node_id);
  OrtStatus*(ORT_API_CALL* Node_GetName)(_In_ const OrtNode* node, _Outptr_ const char** node_name);
  OrtStatus*(ORT_API_CALL* Node_GetOperatorType)(_In_ const OrtNode* node, _Outptr_ const char** operator_type);
  OrtStatus*(ORT_API_CALL* Node_GetDomain)(_In_ const OrtNode* node, _Outptr_ const char** domain_name);
  OrtStatus*(ORT_API_CALL* Node_GetSinceVersion)(_In_ const OrtNode* node, _Out_ int* since_version);
  OrtStatus*(ORT_API_CALL* Node_GetNumInputs)(_In_ const OrtNode* node, _Out_ size_t* num_inputs);
  OrtStatus*(ORT_API_CALL* Node_GetInputs)(
      _In_ const OrtNode* node, _Out_writes_(num_inputs) const OrtValueInfo** inputs, _In_ size_t num_inputs);
  OrtStatus*(ORT_API_CALL* Node_GetNumOutputs)(_In_ const OrtNode* node, _Out_ size_t* num_outputs);
  OrtStatus*(ORT_API_CALL* Node_GetOutputs)(
      _In_ const OrtNode* node, _Out_writes_(num_outputs) const OrtValueInfo** outputs, _In_ size_t num_outputs);
  OrtStatus*(ORT_API_CALL* Node_GetNumImplicitInputs)(_In_ const OrtNode* node, _Out_ size_t* num_implicit_inputs);
  OrtStatus*(ORT_API_CALL* Node_GetImplicitInputs)(
      _In_ const OrtNode* node, _Out_writes_(num_implicit_inputs) const OrtValueInfo** implicit_inputs, _In_ size_t num_implicit_inputs);
  OrtStatus*(ORT_API_CALL* Node_GetNumAttributes)(_In_ const OrtNode* node, _Out_ size_t* num_attributes);
  OrtStatus*(ORT_API_CALL* Node_GetAttributes)(
      _In_ const OrtNode* node, _Out_writes_(num_attributes) const OrtOpAttr** attributes, _In_ size_t num_attributes);
  OrtStatus*(ORT_API_CALL* Node_GetAttributeByName)(
      _In_ const OrtNode* node, _In_ const char* attribute_name, _Outptr_result_maybenull_ const OrtOpAttr** attribute);
  OrtStatus*(ORT_API_CALL* OpAttr_GetTensorAttributeAsOrtValue)(
      _In_ const OrtOpAttr* attribute, _Outptr_result_maybenull_ OrtValue** attr_tensor);
  OrtStatus*(ORT_API_CALL* OpAttr_GetType)(_In_ const OrtOpAttr* attribute, _Out_ OrtOpAttrType* type);
  OrtStatus*(ORT_API_CALL* OpAttr_GetName)(_In_ const OrtOpAttr* attribute, _Outptr_ const char** name);
  OrtStatus*(ORT_API_CALL* Node_GetNumSubgraphs)(_In_ const OrtNode* node, _Out_ size_t* num_subgraphs);
  OrtStatus*(ORT_API_CALL* Node_GetSubgraphs)(
      _In_ const OrtNode* node, _Out_writes_(num_subgraphs) const OrtGraph** subgraphs, _In_ size_t num_subgraphs,
      _Out_writes_opt_(num_subgraphs) const char** attribute_names);
  OrtStatus*(ORT_API_CALL* Node_GetGraph)(_In_ const OrtNode* node, _Outptr_result_maybenull_ const OrtGraph** graph);
  OrtStatus*(ORT_API_CALL* Node_GetEpName)(_In_ const OrtNode* node, _Outptr_result_maybenull_ const char** out);

  // Where an initializer kept outside the model lies
  void(ORT_API_CALL* ReleaseExternalInitializerInfo)(_Frees_ptr_opt_ OrtExternalInitializerInfo* input);
  const ORTCHAR_T*(ORT_API_CALL* ExternalInitializerInfo_GetFilePath)(_In_ const OrtExternalInitializerInfo* info);
  int64_t(ORT_API_CALL* ExternalInitializerInfo_GetFileOffset)(_In_ const OrtExternalInitializerInfo* info);
  size_t(ORT_API_CALL* ExternalInitializerInfo_GetByteSize)(_In_ const OrtExternalInitializerInfo* info);

  // Null when there is no such entry
  const char*(ORT_API_CALL* GetRunConfigEntry)(_In_ const OrtRunOptions* options, _In_z_ const char* config_key);
  const OrtMemoryInfo*(ORT_API_CALL* EpDevice_MemoryInfo)(_In_ const OrtEpDevice* ep_device, _In_ OrtDeviceMemoryType memory_type);

  // Allocators that an environment shares
  OrtStatus*(ORT_API_CALL* CreateSharedAllocator)(
      _In_ OrtEnv* env, _In_ const OrtEpDevice* ep_device, _In_ OrtDeviceMemoryType mem_type, _In_ OrtAllocatorType allocator_type,
      _In_opt_ const OrtKeyValuePairs* allocator_options, _Outptr_opt_ OrtAllocator** allocator);
  OrtStatus*(ORT_API_CALL* GetSharedAllocator)(
      _In_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info, _Outptr_result_maybenull_ OrtAllocator** allocator);
  OrtStatus*(ORT_API_CALL* ReleaseSharedAllocator)(_In_ OrtEnv* env, _In_ const OrtEpDevice* ep_device, _In_ OrtDeviceMemoryType mem_type);

  // Read-only data
  OrtStatus*(ORT_API_CALL* GetTensorData)(_In_ const OrtValue* value, _Outptr_ const void** out);

  // All configuration entries
  OrtStatus*(ORT_API_CALL* GetSessionOptionsConfigEntries)(_In_ const OrtSessionOptions* options, _Outptr_ OrtKeyValuePairs** out);

  // Where a session takes inputs and gives outputs
  OrtStatus*(ORT_API_CALL* SessionGetMemoryInfoForInputs)(
      _In_ const OrtSession* session, _Out_writes_(num_inputs) const OrtMemoryInfo** inputs_memory_info, _In_ size_t num_inputs);
  OrtStatus*(ORT_API_CALL* SessionGetMemoryInfoForOutputs)(
      _In_ const OrtSession* session, _Out_writes_(num_outputs) const OrtMemoryInfo** outputs_memory_info, _In_ size_t num_outputs);
  OrtStatus*(ORT_API_CALL* SessionGetEpDeviceForInputs)(
      _In_ const OrtSession* session, _Out_writes_(num_inputs) const OrtEpDevice** inputs_ep_devices, _In_ size_t num_inputs);

  // Streams and copies between devices
  OrtStatus*(ORT_API_CALL* CreateSyncStreamForEpDevice)(
      _In_ const OrtEpDevice* ep_device, _In_opt_ const OrtKeyValuePairs* stream_options, _Outptr_ OrtSyncStream** stream);
  void*(ORT_API_CALL* SyncStream_GetHandle)(_In_ OrtSyncStream* stream);
  void(ORT_API_CALL* ReleaseSyncStream)(_Frees_ptr_opt_ OrtSyncStream* input);
  OrtStatus*(ORT_API_CALL* CopyTensors)(
      _In_ const OrtEnv* env, _In_reads_(num_tensors) const OrtValue* const* src_tensors,
      _In_reads_(num_tensors) OrtValue* const* dst_tensors, _In_opt_ OrtSyncStream* stream, _In_ size_t num_tensors);

  // Metadata by graph; compatibility of compiled models
  OrtStatus*(ORT_API_CALL* Graph_GetModelMetadata)(_In_ const OrtGraph* graph, _Outptr_ OrtModelMetadata** out);
  OrtStatus*(ORT_API_CALL* GetModelCompatibilityForEpDevices)(
      _In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices, _In_ size_t num_ep_devices, _In_ const char* compatibility_info,
      _Out_ OrtCompiledModelCompatibility* out_status);
  OrtStatus*(ORT_API_CALL* CreateExternalInitializerInfo)(
      _In_ const ORTCHAR_T* filepath, _In_ int64_t file_offset, _In_ size_t byte_size, _Outptr_ OrtExternalInitializerInfo** out);

  // False when the rank is unknown
  /* since version 24 */
  bool(ORT_API_CALL* TensorTypeAndShape_HasShape)(_In_ const OrtTensorTypeAndShapeInfo* info);

  // More kernel information
  OrtStatus*(ORT_API_CALL* KernelInfo_GetConfigEntries)(_In_ const OrtKernelInfo* info, _Outptr_ OrtKeyValuePairs** out);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetOperatorDomain)(_In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetOperatorType)(_In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);
  OrtStatus*(ORT_API_CALL* KernelInfo_GetOperatorSinceVersion)(_In_ const OrtKernelInfo* info, _Out_ int* since_version);

  // Graphics interoperation
  const OrtInteropApi*(ORT_API_CALL* GetInteropApi)(void);
  OrtStatus*(ORT_API_CALL* SessionGetEpDeviceForOutputs)(
      _In_ const OrtSession* session, _Out_writes_(num_outputs) const OrtEpDevice** outputs_ep_devices, _In_ size_t num_outputs);

  // Hardware found, and why a provider cannot use it
  OrtStatus*(ORT_API_CALL* GetNumHardwareDevices)(_In_ const OrtEnv* env, _Out_ size_t* num_devices);
  OrtStatus*(ORT_API_CALL* GetHardwareDevices)(
      _In_ const OrtEnv* env, _Out_writes_(num_devices) const OrtHardwareDevice** devices, _In_ size_t num_devices);
  OrtStatus*(ORT_API_CALL* GetHardwareDeviceEpIncompatibilityDetails)(
      _In_ const OrtEnv* env, _In_ const char* ep_name, _In_ const OrtHardwareDevice* hw,
      _Outptr_ OrtDeviceEpIncompatibilityDetails** details);
  OrtStatus*(ORT_API_CALL* DeviceEpIncompatibilityDetails_GetReasonsBitmask)(
      _In_ const OrtDeviceEpIncompatibilityDetails* details, _Out_ uint32_t* reasons_bitmask);
  OrtStatus*(ORT_API_CALL* DeviceEpIncompatibilityDetails_GetNotes)(
      _In_ const OrtDeviceEpIncompatibilityDetails* details, _Outptr_result_maybenull_ const char** notes);
  OrtStatus*(ORT_API_CALL* DeviceEpIncompatibilityDetails_GetErrorCode)(
      _In_ const OrtDeviceEpIncompatibilityDetails* details, _Out_ int32_t* error_code);
  void(ORT_API_CALL* ReleaseDeviceEpIncompatibilityDetails)(_Frees_ptr_opt_ OrtDeviceEpIncompatibilityDetails* input);
  OrtStatus*(ORT_API_CALL* GetCompatibilityInfoFromModel)(
      _In_ const ORTCHAR_T* model_path, _In_ const char* ep_type, _Inout_ OrtAllocator* allocator,
      _Outptr_result_maybenull_ char** compatibility_info);
  OrtStatus*(ORT_API_CALL* GetCompatibilityInfoFromModelBytes)(
      _In_reads_(model_data_length) const void* model_data, _In_ size_t model_data_length, _In_ const char* ep_type,
      _Inout_ OrtAllocator* allocator, _Outptr_result_maybenull_ char** compatibility_info);

  // An environment from one struct
  OrtStatus*(ORT_API_CALL* CreateEnvWithOptions)(_In_ const OrtEnvCreationOptions* options, _Outptr_ OrtEnv** out);

  // Which provider runs which nodes
  OrtStatus*(ORT_API_CALL* Session_GetEpGraphAssignmentInfo)(
      _In_ const OrtSession* session, _Outptr_ const OrtEpAssignedSubgraph* const** ep_subgraphs, _Out_ size_t* num_ep_subgraphs);
  OrtStatus*(ORT_API_CALL* EpAssignedSubgraph_GetEpName)(_In_ const OrtEpAssignedSubgraph* ep_subgraph, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* EpAssignedSubgraph_GetNodes)(
      _In_ const OrtEpAssignedSubgraph* ep_subgraph, _Outptr_ const OrtEpAssignedNode* const** ep_nodes, _Out_ size_t* num_ep_nodes);
  OrtStatus*(ORT_API_CALL* EpAssignedNode_GetName)(_In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* EpAssignedNode_GetDomain)(_In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* EpAssignedNode_GetOperatorType)(_In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);

  // The stream that a run uses
  void(ORT_API_CALL* RunOptionsSetSyncStream)(_Inout_ OrtRunOptions* options, _In_ OrtSyncStream* sync_stream);

  // Type and shape without a copy; valid as long as the value
  OrtStatus*(ORT_API_CALL* GetTensorElementTypeAndShapeDataReference)(
      _In_ const OrtValue* value, _Out_ ONNXTensorElementDataType* elem_type, _Outptr_result_maybenull_ const int64_t** shape_data,
      _Out_ size_t* shape_data_count);

  // Profile of single runs
  /* since version 25 */
  OrtStatus*(ORT_API_CALL* RunOptionsEnableProfiling)(_Inout_ OrtRunOptions* options, _In_ const ORTCHAR_T* profile_file_prefix);
  OrtStatus*(ORT_API_CALL* RunOptionsDisableProfiling)(_Inout_ OrtRunOptions* options);

  // String array attribute; memory from `allocator`
  OrtStatus*(ORT_API_CALL* KernelInfoGetAttributeArray_string)(
      _In_ const OrtKernelInfo* info, _In_ const char* name, _Inout_ OrtAllocator* allocator,
      _Outptr_result_buffer_maybenull_(*size) char*** out, _Out_ size_t* size);

  // Hooks of the thread pools
  OrtStatus*(ORT_API_CALL* SetPerSessionThreadPoolCallbacks)(_Inout_ OrtEnv* env, _In_ const OrtThreadPoolCallbacksConfig* config);

  // Reading session options back
  /* since version 27 */
  OrtStatus*(ORT_API_CALL* GetMemPatternEnabled)(_In_ const OrtSessionOptions* options, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* GetSessionExecutionMode)(_In_ const OrtSessionOptions* options, _Out_ ExecutionMode* out);

  // Captured device graphs
  OrtStatus*(ORT_API_CALL* SessionReleaseCapturedGraph)(_In_ OrtSession* session, _In_ int graph_annotation_id);

  // A function by name, `<Name>_SinceV<n>`; null when there is none
  /* since version 28 */
  OrtExperimentalFnPtr(ORT_API_CALL* GetExperimentalFunction)(_In_ const char* name);

  // The stream of a kernel
  OrtStatus*(ORT_API_CALL* KernelContext_GetSyncStream)(
      _In_ const OrtKernelContext* context, _Outptr_result_maybenull_ OrtSyncStream** out);

  // The source model of one compiled without weights
  /* since version 29 */
  OrtStatus*(ORT_API_CALL* SessionOptionsSetWeightlessSourceModelBuffer)(
      _Inout_ OrtSessionOptions* options, _In_ const void* source_model_data, _In_ size_t source_model_data_length);

  // An output that the caller supplied; null when there is none
  /* since version 30 */
  OrtStatus*(ORT_API_CALL* KernelContext_GetPreallocatedOutput)(
      _In_ const OrtKernelContext* context, _In_ size_t output_index, _Outptr_result_maybenull_ OrtValue** output);

  // How the data of EPContext nodes are read
  /* since version 31 */
  OrtStatus*(ORT_API_CALL* SessionOptionsSetEpContextDataReadFunc)(
      _Inout_ OrtSessionOptions* options, _In_opt_ OrtReadNamedBufferFunc read_func, _In_opt_ void* state);

  // Model packages
  const OrtModelPackageApi*(ORT_API_CALL* GetModelPackageApi)(void);

  // A slot whose name and arguments are not known
  /* since version 32 */
  OrtStatus*(ORT_API_CALL* Slot428)(void);
};

/// A custom operator: filled in by its author; `version` is the API version that the author was built with.
struct OrtCustomOp {
  uint32_t version;
  void*(ORT_API_CALL* CreateKernel)(_In_ const OrtCustomOp* op, _In_ const OrtApi* api, _In_ const OrtKernelInfo* info);
  const char*(ORT_API_CALL* GetName)(_In_ const OrtCustomOp* op);
  const char*(ORT_API_CALL* GetExecutionProviderType)(_In_ const OrtCustomOp* op);
  ONNXTensorElementDataType(ORT_API_CALL* GetInputType)(_In_ const OrtCustomOp* op, _In_ size_t index);
  size_t(ORT_API_CALL* GetInputTypeCount)(_In_ const OrtCustomOp* op);
  ONNXTensorElementDataType(ORT_API_CALL* GetOutputType)(_In_ const OrtCustomOp* op, _In_ size_t index);
  size_t(ORT_API_CALL* GetOutputTypeCount)(_In_ const OrtCustomOp* op);
  void(ORT_API_CALL* KernelCompute)(_In_ void* op_kernel, _In_ OrtKernelContext* context);
  void(ORT_API_CALL* KernelDestroy)(_In_ void* op_kernel);
  OrtCustomOpInputOutputCharacteristic(ORT_API_CALL* GetInputCharacteristic)(_In_ const OrtCustomOp* op, _In_ size_t index);
  OrtCustomOpInputOutputCharacteristic(ORT_API_CALL* GetOutputCharacteristic)(_In_ const OrtCustomOp* op, _In_ size_t index);
  OrtMemType(ORT_API_CALL* GetInputMemoryType)(_In_ const OrtCustomOp* op, _In_ size_t index);
  int(ORT_API_CALL* GetVariadicInputMinArity)(_In_ const OrtCustomOp* op);
  int(ORT_API_CALL* GetVariadicInputHomogeneity)(_In_ const OrtCustomOp* op);
  int(ORT_API_CALL* GetVariadicOutputMinArity)(_In_ const OrtCustomOp* op);
  int(ORT_API_CALL* GetVariadicOutputHomogeneity)(_In_ const OrtCustomOp* op);
  OrtStatus*(ORT_API_CALL* CreateKernelV2)(
      _In_ const OrtCustomOp* op, _In_ const OrtApi* api, _In_ const OrtKernelInfo* info, _Out_ void** kernel);
  OrtStatus*(ORT_API_CALL* KernelComputeV2)(_In_ void* op_kernel, _In_ OrtKernelContext* context);
  OrtStatus*(ORT_API_CALL* InferOutputShapeFn)(_In_ const OrtCustomOp* op, _In_ OrtShapeInferContext*);
  int(ORT_API_CALL* GetStartVersion)(_In_ const OrtCustomOp* op);
  int(ORT_API_CALL* GetEndVersion)(_In_ const OrtCustomOp* op);
  size_t(ORT_API_CALL* GetMayInplace)(_Out_ int** input_index, _Out_ int** output_index);
  void(ORT_API_CALL* ReleaseMayInplace)(_Frees_ptr_opt_ int* input_index, _Frees_ptr_opt_ int* output_index);
  size_t(ORT_API_CALL* GetAliasMap)(_Out_ int** input_index, _Out_ int** output_index);
  void(ORT_API_CALL* ReleaseAliasMap)(_Frees_ptr_opt_ int* input_index, _Frees_ptr_opt_ int* output_index);
};

/// Builds models and graphs in memory.
struct OrtModelEditorApi {
  // Types
  /* since version 22 */
  OrtStatus*(ORT_API_CALL* CreateTensorTypeInfo)(_In_ const OrtTensorTypeAndShapeInfo* tensor_info, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* CreateSparseTensorTypeInfo)(_In_ const OrtTensorTypeAndShapeInfo* tensor_info, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* CreateMapTypeInfo)(
      ONNXTensorElementDataType map_key_type, _In_ const OrtTypeInfo* map_value_type, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* CreateSequenceTypeInfo)(_In_ const OrtTypeInfo* sequence_type, _Outptr_ OrtTypeInfo** type_info);
  OrtStatus*(ORT_API_CALL* CreateOptionalTypeInfo)(_In_ const OrtTypeInfo* contained_type, _Outptr_ OrtTypeInfo** type_info);

  // Values, nodes and graphs. What is added to a graph or model belongs to it
  OrtStatus*(ORT_API_CALL* CreateValueInfo)(_In_ const char* name, _In_ const OrtTypeInfo* type_info, _Outptr_ OrtValueInfo** value_info);
  OrtStatus*(ORT_API_CALL* CreateNode)(
      _In_ const char* operator_name, _In_ const char* domain_name, _In_ const char* node_name,
      _In_reads_(input_names_len) const char* const* input_names, size_t input_names_len,
      _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len,
      _In_reads_(attribs_len) _In_opt_ OrtOpAttr** attributes, _In_ size_t attribs_len, _Outptr_ OrtNode** node);
  OrtStatus*(ORT_API_CALL* CreateGraph)(_Outptr_ OrtGraph** graph);
  OrtStatus*(ORT_API_CALL* SetGraphInputs)(
      _Inout_ OrtGraph* graph, _In_reads_(inputs_len) _Inout_ OrtValueInfo** inputs, _In_ size_t inputs_len);
  OrtStatus*(ORT_API_CALL* SetGraphOutputs)(
      _Inout_ OrtGraph* graph, _In_reads_(outputs_len) _Inout_ OrtValueInfo** outputs, _In_ size_t outputs_len);
  OrtStatus*(ORT_API_CALL* AddInitializerToGraph)(
      _Inout_ OrtGraph* graph, _In_ const char* name, _Inout_ OrtValue* tensor, bool data_is_external);
  OrtStatus*(ORT_API_CALL* AddNodeToGraph)(_Inout_ OrtGraph* graph, _Inout_ OrtNode* node);

  // Models, and sessions made from them or edited before they start
  OrtStatus*(ORT_API_CALL* CreateModel)(
      _In_reads_(opset_entries_len) const char* const* domain_names, _In_reads_(opset_entries_len) const int* opset_versions,
      size_t opset_entries_len, _Outptr_ OrtModel** model);
  OrtStatus*(ORT_API_CALL* AddGraphToModel)(_Inout_ OrtModel* model, _Inout_ OrtGraph* graph);
  OrtStatus*(ORT_API_CALL* CreateSessionFromModel)(
      _In_ const OrtEnv* env, _In_ const OrtModel* model, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  OrtStatus*(ORT_API_CALL* CreateModelEditorSession)(
      _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  OrtStatus*(ORT_API_CALL* CreateModelEditorSessionFromArray)(
      _In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options,
      _Outptr_ OrtSession** out);
  OrtStatus*(ORT_API_CALL* SessionGetOpsetForDomain)(_In_ const OrtSession* session, _In_ const char* domain, _Out_ int* opset);
  OrtStatus*(ORT_API_CALL* ApplyModelToModelEditorSession)(_Inout_ OrtSession* session, _In_ OrtModel* model);
  OrtStatus*(ORT_API_CALL* FinalizeModelEditorSession)(
      _Inout_ OrtSession* session, _In_ const OrtSessionOptions* options,
      _In_opt_ OrtPrepackedWeightsContainer* prepacked_weights_container);
};

/// Compiles a model ahead of time for the providers of a session.
struct OrtCompileApi {
  // Options of a compilation
  void(ORT_API_CALL* ReleaseModelCompilationOptions)(_Frees_ptr_opt_ OrtModelCompilationOptions* input);
  /* since version 22 */
  OrtStatus*(ORT_API_CALL* CreateModelCompilationOptionsFromSessionOptions)(
      _In_ const OrtEnv* env, _In_ const OrtSessionOptions* session_options, _Outptr_ OrtModelCompilationOptions** out);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetInputModelPath)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* input_model_path);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetInputModelFromBuffer)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ const void* input_model_data, size_t input_model_data_size);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetOutputModelPath)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* output_model_path);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetOutputModelExternalInitializersFile)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* external_initializers_file_path,
      size_t external_initializers_size_threshold);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetOutputModelBuffer)(
      _In_ OrtModelCompilationOptions* model_compile_options, _Inout_ OrtAllocator* allocator, _Outptr_ void** output_model_buffer_ptr,
      _Out_ size_t* output_model_buffer_size_ptr);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetEpContextEmbedMode)(
      _In_ OrtModelCompilationOptions* model_compile_options, bool embed_ep_context_in_model);

  // The compilation
  OrtStatus*(ORT_API_CALL* CompileModel)(_In_ const OrtEnv* env, _In_ const OrtModelCompilationOptions* model_options);

  // More options
  /* since version 23 */
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetFlags)(_In_ OrtModelCompilationOptions* model_compile_options, uint32_t flags);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetEpContextBinaryInformation)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* output_directory, _In_ const ORTCHAR_T* model_name);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetGraphOptimizationLevel)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ GraphOptimizationLevel graph_optimization_level);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetOutputModelWriteFunc)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ OrtWriteBufferFunc write_func, _In_ void* state);
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ OrtGetInitializerLocationFunc get_initializer_location_func,
      _In_ void* state);
  /* since version 24 */
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetInputModel)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ const OrtModel* model);
  /* since version 29 */
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetWeightlessEnabled)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_ bool use_weightless);
  /* since version 31 */
  OrtStatus*(ORT_API_CALL* ModelCompilationOptions_SetEpContextDataWriteFunc)(
      _In_ OrtModelCompilationOptions* model_compile_options, _In_opt_ OrtWriteNamedBufferFunc write_func, _In_opt_ void* state);
};

/// Shares memory and semaphores with graphics APIs.
struct OrtInteropApi {
  // Importers
  /* since version 24 */
  OrtStatus*(ORT_API_CALL* CreateExternalResourceImporterForDevice)(
      _In_ const OrtEpDevice* ep_device, _Outptr_result_maybenull_ OrtExternalResourceImporter** out_importer);
  void(ORT_API_CALL* ReleaseExternalResourceImporter)(_Frees_ptr_opt_ OrtExternalResourceImporter* input);

  // Memory
  OrtStatus*(ORT_API_CALL* CanImportMemory)(
      _In_ const OrtExternalResourceImporter* importer, _In_ OrtExternalMemoryHandleType handle_type, _Out_ bool* out_supported);
  OrtStatus*(ORT_API_CALL* ImportMemory)(
      _In_ OrtExternalResourceImporter* importer, _In_ const OrtExternalMemoryDescriptor* desc,
      _Outptr_ OrtExternalMemoryHandle** out_handle);
  void(ORT_API_CALL* ReleaseExternalMemoryHandle)(_Frees_ptr_opt_ OrtExternalMemoryHandle* input);
  OrtStatus*(ORT_API_CALL* CreateTensorFromMemory)(
      _In_ OrtExternalResourceImporter* importer, _In_ const OrtExternalMemoryHandle* mem_handle,
      _In_ const OrtExternalTensorDescriptor* tensor_desc, _Outptr_ OrtValue** out_tensor);

  // Semaphores
  OrtStatus*(ORT_API_CALL* CanImportSemaphore)(
      _In_ const OrtExternalResourceImporter* importer, _In_ OrtExternalSemaphoreType type, _Out_ bool* out_supported);
  OrtStatus*(ORT_API_CALL* ImportSemaphore)(
      _In_ OrtExternalResourceImporter* importer, _In_ const OrtExternalSemaphoreDescriptor* desc,
      _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  void(ORT_API_CALL* ReleaseExternalSemaphoreHandle)(_Frees_ptr_opt_ OrtExternalSemaphoreHandle* input);
  OrtStatus*(ORT_API_CALL* WaitSemaphore)(
      _In_ OrtExternalResourceImporter* importer, _In_ OrtExternalSemaphoreHandle* semaphore_handle, _In_ OrtSyncStream* stream,
      _In_ uint64_t value);
  OrtStatus*(ORT_API_CALL* SignalSemaphore)(
      _In_ OrtExternalResourceImporter* importer, _In_ OrtExternalSemaphoreHandle* semaphore_handle, _In_ OrtSyncStream* stream,
      _In_ uint64_t value);

  // Command queues
  /* since version 25 */
  OrtStatus*(ORT_API_CALL* InitGraphicsInteropForEpDevice)(_In_ const OrtEpDevice* ep_device, _In_ const OrtGraphicsInteropConfig* config);
  OrtStatus*(ORT_API_CALL* DeinitGraphicsInteropForEpDevice)(_In_ const OrtEpDevice* ep_device);
};

/// Model packages: folders with several variants of a model's components.
struct OrtModelPackageApi {
  // Opening a package
  /* since version 31 */
  OrtStatus*(ORT_API_CALL* CreateModelPackageOptionsFromSessionOptions)(
      _In_ const OrtEnv* env, _In_ const OrtSessionOptions* session_options, _Outptr_ OrtModelPackageOptions** out);
  void(ORT_API_CALL* ReleaseModelPackageOptions)(_Frees_ptr_opt_ OrtModelPackageOptions* options);
  OrtStatus*(ORT_API_CALL* CreateModelPackageContext)(_In_ const ORTCHAR_T* package_root, _Outptr_ OrtModelPackageContext** out);
  void(ORT_API_CALL* ReleaseModelPackageContext)(_Frees_ptr_opt_ OrtModelPackageContext* ctx);

  // What is in it; names live as long as the context
  OrtStatus*(ORT_API_CALL* ModelPackage_GetSchemaVersion)(_In_ const OrtModelPackageContext* ctx, _Out_ int64_t* out_version);
  OrtStatus*(ORT_API_CALL* ModelPackage_GetComponentCount)(_In_ const OrtModelPackageContext* ctx, _Out_ size_t* out_count);
  OrtStatus*(ORT_API_CALL* ModelPackage_GetComponentNames)(
      _In_ const OrtModelPackageContext* ctx, _Outptr_result_buffer_maybenull_(*out_count) const char* const** out_names,
      _Out_ size_t* out_count);
  OrtStatus*(ORT_API_CALL* ModelPackage_GetVariantCount)(
      _In_ const OrtModelPackageContext* ctx, _In_ const char* component_name, _Out_ size_t* out_count);
  OrtStatus*(ORT_API_CALL* ModelPackage_GetVariantNames)(
      _In_ const OrtModelPackageContext* ctx, _In_ const char* component_name,
      _Outptr_result_buffer_maybenull_(*out_count) const char* const** out_variant_names, _Out_ size_t* out_count);
  OrtStatus*(ORT_API_CALL* ModelPackage_GetVariantEpName)(
      _In_ const OrtModelPackageContext* ctx, _In_ const char* component_name, _In_ const char* variant_name,
      _Outptr_result_maybenull_ const char** out_ep);
  OrtStatus*(ORT_API_CALL* ModelPackage_ResolveStringRef)(
      _In_ const OrtModelPackageContext* ctx, _In_opt_ const char* base_dir, _In_ const char* input, _In_ int must_exist,
      _Outptr_ const char** out_path);

  // A component: its best variant for the options given
  OrtStatus*(ORT_API_CALL* SelectComponent)(
      _In_ const OrtModelPackageContext* context, _In_ const char* component_name, _In_ const OrtModelPackageOptions* options,
      _Outptr_ OrtModelPackageComponentContext** out);
  void(ORT_API_CALL* ReleaseModelPackageComponentContext)(_Frees_ptr_opt_ OrtModelPackageComponentContext* ctx);
  OrtStatus*(ORT_API_CALL* ModelPackageComponent_GetSelectedVariantName)(
      _In_ const OrtModelPackageComponentContext* ctx, _Outptr_ const char** out_name);
  OrtStatus*(ORT_API_CALL* ModelPackageComponent_GetSelectedVariantFolderPath)(
      _In_ const OrtModelPackageComponentContext* ctx, _Outptr_ const ORTCHAR_T** folder_path);

  // A session of the variant selected
  OrtStatus*(ORT_API_CALL* CreateSession)(
      _In_ const OrtEnv* env, _In_ OrtModelPackageComponentContext* context, _In_opt_ const OrtSessionOptions* session_options,
      _Outptr_ OrtSession** session);
};

// Exported functions

ORT_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase(void);
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CUDA(_In_ OrtSessionOptions* options, int device_id);
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_ROCM(_In_ OrtSessionOptions* options, int device_id);
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_MIGraphX(_In_ OrtSessionOptions* options, int device_id);
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_Dnnl(_In_ OrtSessionOptions* options, int use_arena);
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_Tensorrt(_In_ OrtSessionOptions* options, int device_id);
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CPU(_In_ OrtSessionOptions* options, int use_arena);

#ifdef __cplusplus
}
#endif

#include "onnxruntime_ep_c_api.h"
