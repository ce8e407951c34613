// The part of the ABI that providers in shared libraries (plugins) speak.
// Written by scripts/generate_abi_headers.py from tests/data/abi.json.
// clang-format off
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Enumerations

typedef enum OrtProfilingEventCategory {
  OrtProfilingEventCategory_SESSION = 0,
  OrtProfilingEventCategory_NODE = 1,
  OrtProfilingEventCategory_KERNEL = 2,
  OrtProfilingEventCategory_API = 3,
} OrtProfilingEventCategory;

typedef enum OrtResourceCountKind {
  OrtResourceCountKind_None = 0,
  OrtResourceCountKind_TotalBytes = 1,
} OrtResourceCountKind;

typedef enum OrtEpDataLayout {
  OrtEpDataLayout_NCHW = 0,
  OrtEpDataLayout_NHWC = 1,
  OrtEpDataLayout_Default = 0,
} OrtEpDataLayout;

typedef enum OrtGraphCaptureNodeAssignmentPolicy {
  OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP = 0,
  OrtGraphCaptureNodeAssignmentPolicy_ALLOW_CPU_FOR_SHAPES = 1,
} OrtGraphCaptureNodeAssignmentPolicy;

typedef enum OrtWeightlessSupport {
  OrtWeightlessSupport_NONE = 0,
  OrtWeightlessSupport_EXTERNAL_ONLY = 1,
  OrtWeightlessSupport_ALL = 2,
} OrtWeightlessSupport;

// Plain structs

typedef struct OrtNodeFusionOptions {
  uint32_t ort_version_supported;
  bool drop_constant_initializers;
} OrtNodeFusionOptions;

typedef struct OrtResourceCount {
  uint32_t kind;
  uint32_t reserved;
  union { uint64_t total_bytes; uint64_t reserved_words[6]; } value;
} OrtResourceCount;

// Function types. A plugin library exports CreateEpFactories and ReleaseEpFactory of the last two types

typedef OrtStatus*(ORT_API_CALL* OrtKernelCreateFunc)(
    _In_ void* kernel_create_func_state, _In_ const OrtKernelInfo* info, _Outptr_result_maybenull_ OrtKernelImpl** kernel_out);
typedef OrtStatus*(ORT_API_CALL* CreateEpApiFactoriesFn)(
    _In_ const char* registered_name, _In_ const OrtApiBase* ort_api_base, _In_ const OrtLogger* default_logger,
    _Inout_ OrtEpFactory** factories, _In_ size_t max_factories, _Out_ size_t* num_factories);
typedef OrtStatus*(ORT_API_CALL* ReleaseEpApiFactoryFn)(_In_ OrtEpFactory* factory);

/// Memory imported by a provider; made by its importer.
struct OrtExternalMemoryHandle {
  uint32_t version;
  const OrtEpDevice* ep_device;
  OrtExternalMemoryDescriptor descriptor;
  void(ORT_API_CALL* Release)(_In_ OrtExternalMemoryHandle* handle);
};

/// A semaphore imported by a provider; made by its importer.
struct OrtExternalSemaphoreHandle {
  uint32_t version;
  const OrtEpDevice* ep_device;
  OrtExternalSemaphoreDescriptor descriptor;
  void(ORT_API_CALL* Release)(_In_ OrtExternalSemaphoreHandle* handle);
};

/// Copies tensors between a provider's devices and others.
struct OrtDataTransferImpl {
  uint32_t ort_version_supported;
  /* since version 23 */
  void(ORT_API_CALL* Release)(_In_ OrtDataTransferImpl* this_ptr);
  bool(ORT_API_CALL* CanCopy)(
      _In_ const OrtDataTransferImpl* this_ptr, _In_ const OrtMemoryDevice* src_memory_device,
      _In_ const OrtMemoryDevice* dst_memory_device);
  OrtStatus*(ORT_API_CALL* CopyTensors)(
      _In_ OrtDataTransferImpl* this_ptr, _In_reads_(num_tensors) const OrtValue** src_tensors,
      _In_reads_(num_tensors) OrtValue** dst_tensors, _In_reads_(num_tensors) OrtSyncStream** streams, _In_ size_t num_tensors);
};

/// An event on a stream that another stream, or the host, can wait for.
struct OrtSyncNotificationImpl {
  uint32_t ort_version_supported;
  /* since version 23 */
  void(ORT_API_CALL* Release)(_In_ OrtSyncNotificationImpl* this_ptr);
  OrtStatus*(ORT_API_CALL* Activate)(_In_ OrtSyncNotificationImpl* this_ptr);
  OrtStatus*(ORT_API_CALL* WaitOnDevice)(_In_ OrtSyncNotificationImpl* this_ptr, _In_ OrtSyncStream* consumer_stream);
  OrtStatus*(ORT_API_CALL* WaitOnHost)(_In_ OrtSyncNotificationImpl* this_ptr);
};

/// A provider's stream.
struct OrtSyncStreamImpl {
  uint32_t ort_version_supported;
  /* since version 23 */
  void(ORT_API_CALL* Release)(_In_ OrtSyncStreamImpl* this_ptr);
  void*(ORT_API_CALL* GetHandle)(_In_ OrtSyncStreamImpl* this_ptr);
  OrtStatus*(ORT_API_CALL* CreateNotification)(_In_ OrtSyncStreamImpl* this_ptr, _Outptr_ OrtSyncNotificationImpl** notification);
  OrtStatus*(ORT_API_CALL* Flush)(_In_ OrtSyncStreamImpl* this_ptr);
  OrtStatus*(ORT_API_CALL* OnSessionRunEnd)(_In_ OrtSyncStreamImpl* this_ptr);
};

/// A provider's side of OrtInteropApi.
struct OrtExternalResourceImporterImpl {
  uint32_t ort_version_supported;
  /* since version 24 */
  bool(ORT_API_CALL* CanImportMemory)(_In_ const OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalMemoryHandleType handle_type);
  OrtStatus*(ORT_API_CALL* ImportMemory)(
      _In_ OrtExternalResourceImporterImpl* this_ptr, _In_ const OrtExternalMemoryDescriptor* desc,
      _Outptr_ OrtExternalMemoryHandle** out_handle);
  void(ORT_API_CALL* ReleaseMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalMemoryHandle* handle);
  OrtStatus*(ORT_API_CALL* CreateTensorFromMemory)(
      _In_ OrtExternalResourceImporterImpl* this_ptr, _In_ const OrtExternalMemoryHandle* mem_handle,
      _In_ const OrtExternalTensorDescriptor* tensor_desc, _Outptr_ OrtValue** out_tensor);
  bool(ORT_API_CALL* CanImportSemaphore)(_In_ const OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreType type);
  OrtStatus*(ORT_API_CALL* ImportSemaphore)(
      _In_ OrtExternalResourceImporterImpl* this_ptr, _In_ const OrtExternalSemaphoreDescriptor* desc,
      _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  void(ORT_API_CALL* ReleaseSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreHandle* handle);
  OrtStatus*(ORT_API_CALL* WaitSemaphore)(
      _In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream,
      _In_ uint64_t value);
  OrtStatus*(ORT_API_CALL* SignalSemaphore)(
      _In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream,
      _In_ uint64_t value);
  void(ORT_API_CALL* Release)(_In_ OrtExternalResourceImporterImpl* this_ptr);
};

/// Collects a provider's profiling events.
struct OrtEpProfilerImpl {
  uint32_t ort_version_supported;
  /* since version 25 */
  void(ORT_API_CALL* Release)(_In_ OrtEpProfilerImpl* this_ptr);
  OrtStatus*(ORT_API_CALL* StartProfiling)(_In_ OrtEpProfilerImpl* this_ptr, _In_ int64_t ep_profiling_start_offset_ns);
  OrtStatus*(ORT_API_CALL* StartEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id);
  OrtStatus*(ORT_API_CALL* StopEvent)(
      _In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id, _In_ const OrtProfilingEvent* ort_event);
  OrtStatus*(ORT_API_CALL* EndProfiling)(_In_ OrtEpProfilerImpl* this_ptr, _In_ OrtProfilingEventsContainer* events_container);
};

/// How a compiled (fused) node is created, computed and released.
struct OrtNodeComputeInfo {
  /* since version 23 */
  uint32_t ort_version_supported;
  OrtStatus*(ORT_API_CALL* CreateState)(
      _In_ OrtNodeComputeInfo* this_ptr, _In_ OrtNodeComputeContext* compute_context, _Outptr_ void** compute_state);
  OrtStatus*(ORT_API_CALL* Compute)(_In_ OrtNodeComputeInfo* this_ptr, _In_ void* compute_state, _In_ OrtKernelContext* kernel_context);
  void(ORT_API_CALL* ReleaseState)(_In_ OrtNodeComputeInfo* this_ptr, _Frees_ptr_opt_ void* compute_state);
};

/// A kernel of a plugin provider for a single node.
struct OrtKernelImpl {
  uint32_t ort_version_supported;
  uint32_t flags;
  /* since version 24 */
  OrtStatus*(ORT_API_CALL* Compute)(_In_ OrtKernelImpl* this_ptr, _In_ OrtKernelContext* context);
  void(ORT_API_CALL* Release)(_In_ OrtKernelImpl* this_ptr);
  OrtStatus*(ORT_API_CALL* PrePackWeight)(
      _In_ OrtKernelImpl* this_ptr, _In_ const OrtValue* tensor, _In_ int input_index, _Inout_ OrtAllocator* allocator,
      _In_opt_ OrtSharedPrePackedWeightCache* prepacked_weight_cache, _Out_ bool* is_packed);
  OrtStatus*(ORT_API_CALL* SetSharedPrePackedWeight)(
      _In_ OrtKernelImpl* this_ptr, _In_reads_(num_buffers) const void* const* buffer_data_ptrs,
      _In_reads_(num_buffers) const size_t* buffer_data_sizes, _In_ size_t num_buffers, _In_ int input_index);
};

/// Device-specific help for the Loop kernel.
struct OrtLoopKernelHelper {
  uint32_t ort_version_supported;
  /* since version 24 */
  void(ORT_API_CALL* Release)(_In_ OrtLoopKernelHelper* this_ptr);
  OrtStatus*(ORT_API_CALL* ConcatOutput)(
      _In_ OrtLoopKernelHelper* this_ptr, _In_opt_ void* stream_handle,
      _In_reads_(num_per_iteration_outputs) const OrtValue* const* per_iteration_outputs, _In_ size_t num_per_iteration_outputs,
      _Out_writes_bytes_all_(output_size_in_bytes) void* output, _In_ size_t output_size_in_bytes);
};

/// Device-specific help for the Scan kernel.
struct OrtScanKernelHelper {
  uint32_t ort_version_supported;
  /* since version 24 */
  void(ORT_API_CALL* Release)(_In_ OrtScanKernelHelper* this_ptr);
  OrtStatus*(ORT_API_CALL* Transpose)(
      _In_ OrtScanKernelHelper* this_ptr, _In_reads_(num_permutation_elems) const size_t* permutation, _In_ size_t num_permutation_elems,
      _In_ const OrtValue* input, _In_opt_ OrtSyncStream* stream, _Inout_ OrtValue* output);
};

/// What the runtime offers to plugin providers.
struct OrtEpApi {
  // Devices
  /* since version 22 */
  OrtStatus*(ORT_API_CALL* CreateEpDevice)(
      _In_ OrtEpFactory* ep_factory, _In_ const OrtHardwareDevice* hardware_device, _In_opt_ const OrtKeyValuePairs* ep_metadata,
      _In_opt_ const OrtKeyValuePairs* ep_options, _Out_ OrtEpDevice** ep_device);
  void(ORT_API_CALL* ReleaseEpDevice)(_Frees_ptr_opt_ OrtEpDevice* input);

  // Answers to GetCapability
  /* since version 23 */
  OrtStatus*(ORT_API_CALL* EpGraphSupportInfo_AddNodesToFuse)(
      _In_ OrtEpGraphSupportInfo* graph_support_info, _In_reads_(num_nodes) const OrtNode* const* nodes, _In_ size_t num_nodes,
      _In_opt_ const OrtNodeFusionOptions* node_fusion_options);
  OrtStatus*(ORT_API_CALL* EpGraphSupportInfo_AddSingleNode)(_In_ OrtEpGraphSupportInfo* graph_support_info, _In_ const OrtNode* node);

  // Compiled nodes
  const char*(ORT_API_CALL* NodeComputeContext_NodeName)(_In_ const OrtNodeComputeContext* context);

  // Memory and streams
  OrtStatus*(ORT_API_CALL* EpDevice_AddAllocatorInfo)(_In_ OrtEpDevice* ep_device, _In_ const OrtMemoryInfo* allocator_memory_info);
  const OrtMemoryDevice*(ORT_API_CALL* MemoryInfo_GetMemoryDevice)(_In_ const OrtMemoryInfo* memory_info);
  const OrtMemoryDevice*(ORT_API_CALL* Value_GetMemoryDevice)(_In_ const OrtValue* value);
  bool(ORT_API_CALL* MemoryDevice_AreEqual)(_In_ const OrtMemoryDevice* a, _In_ const OrtMemoryDevice* b);
  OrtMemoryInfoDeviceType(ORT_API_CALL* MemoryDevice_GetDeviceType)(_In_ const OrtMemoryDevice* memory_device);
  OrtDeviceMemoryType(ORT_API_CALL* MemoryDevice_GetMemoryType)(_In_ const OrtMemoryDevice* memory_device);
  uint32_t(ORT_API_CALL* MemoryDevice_GetVendorId)(_In_ const OrtMemoryDevice* memory_device);
  uint32_t(ORT_API_CALL* MemoryDevice_GetDeviceId)(_In_ const OrtMemoryDevice* memory_device);
  const OrtSyncStreamImpl*(ORT_API_CALL* SyncStream_GetImpl)(_In_ const OrtSyncStream* stream);
  uint64_t(ORT_API_CALL* SyncStream_GetSyncId)(_In_ const OrtSyncStream* stream);
  uint64_t(ORT_API_CALL* GetSyncIdForLastWaitOnSyncStream)(
      _In_ const OrtSyncStream* producer_stream, _In_ const OrtSyncStream* consumer_stream);

  // Virtual hardware
  /* since version 24 */
  OrtStatus*(ORT_API_CALL* CreateHardwareDevice)(
      _In_ OrtHardwareDeviceType type, _In_ uint32_t vendor_id, _In_ uint32_t device_id, _In_ const char* vendor_name,
      _In_opt_ const OrtKeyValuePairs* metadata, _Out_ OrtHardwareDevice** hardware_device);
  void(ORT_API_CALL* ReleaseHardwareDevice)(_Frees_ptr_opt_ OrtHardwareDevice* input);

  // Kernels for single nodes
  OrtStatus*(ORT_API_CALL* CreateKernelRegistry)(_Outptr_ OrtKernelRegistry** kernel_registry);
  void(ORT_API_CALL* ReleaseKernelRegistry)(_Frees_ptr_opt_ OrtKernelRegistry* input);
  OrtStatus*(ORT_API_CALL* KernelRegistry_AddKernel)(
      _In_ OrtKernelRegistry* kernel_registry, _In_ const OrtKernelDef* kernel_def, _In_ OrtKernelCreateFunc kernel_create_func,
      _In_ void* kernel_create_func_state);
  OrtStatus*(ORT_API_CALL* CreateKernelDefBuilder)(_Outptr_ OrtKernelDefBuilder** kernel_def_builder_out);
  void(ORT_API_CALL* ReleaseKernelDefBuilder)(_Frees_ptr_opt_ OrtKernelDefBuilder* input);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_SetOperatorType)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* op_type);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_SetDomain)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* domain);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_SetSinceVersion)(
      _In_ OrtKernelDefBuilder* kernel_def_builder, _In_ int since_version_start, _In_ int since_version_end);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_SetExecutionProvider)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* ep_name);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_SetInputMemType)(
      _In_ OrtKernelDefBuilder* kernel_def_builder, _In_ size_t input_index, _In_ OrtMemType mem_type);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_SetOutputMemType)(
      _In_ OrtKernelDefBuilder* kernel_def_builder, _In_ size_t output_index, _In_ OrtMemType mem_type);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_AddTypeConstraint)(
      _In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* arg_name, _In_reads_(num_types) const OrtDataType* const* types,
      _In_ size_t num_types);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_AddInputOutputAliases)(
      _In_ OrtKernelDefBuilder* kernel_def_builder, _In_reads_(num_io_indices) int const* input_indices,
      _In_reads_(num_io_indices) int const* output_indices, _In_ size_t num_io_indices);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_AddInputOutputMutableAliases)(
      _In_ OrtKernelDefBuilder* kernel_def_builder, _In_reads_(num_io_indices) int const* input_indices,
      _In_reads_(num_io_indices) int const* output_indices, _In_ size_t num_io_indices);
  OrtStatus*(ORT_API_CALL* KernelDefBuilder_Build)(_In_ OrtKernelDefBuilder* kernel_def_builder, _Outptr_ OrtKernelDef** kernel_def_out);
  void(ORT_API_CALL* ReleaseKernelDef)(_Frees_ptr_opt_ OrtKernelDef* input);
  const char*(ORT_API_CALL* KernelDef_GetOperatorType)(_In_ const OrtKernelDef* kernel_def);
  const char*(ORT_API_CALL* KernelDef_GetDomain)(_In_ const OrtKernelDef* kernel_def);
  OrtStatus*(ORT_API_CALL* KernelDef_GetSinceVersion)(
      _In_ const OrtKernelDef* kernel_def, _Out_ int* start_version, _Out_ int* end_version);
  const char*(ORT_API_CALL* KernelDef_GetExecutionProvider)(_In_ const OrtKernelDef* kernel_def);
  OrtStatus*(ORT_API_CALL* KernelDef_GetInputMemType)(
      _In_ const OrtKernelDef* kernel_def, _In_ size_t input_index, _Out_ OrtMemType* mem_type);
  OrtStatus*(ORT_API_CALL* KernelDef_GetOutputMemType)(
      _In_ const OrtKernelDef* kernel_def, _In_ size_t output_index, _Out_ OrtMemType* mem_type);

  // Types and look-up of kernels
  OrtStatus*(ORT_API_CALL* GetTensorDataType)(_In_ ONNXTensorElementDataType elem_type, _Outptr_ const OrtDataType** out);
  OrtStatus*(ORT_API_CALL* EpGraphSupportInfo_LookUpKernel)(
      _In_ OrtEpGraphSupportInfo* graph_support_info, _In_ const OrtNode* node,
      _Outptr_result_maybenull_ const OrtKernelDef** out_kernel_def);

  // Packed weights
  OrtStatus*(ORT_API_CALL* SharedPrePackedWeightCache_StoreWeightData)(
      _In_ OrtSharedPrePackedWeightCache* prepacked_weight_cache, _In_reads_(num_buffers) void** buffer_data_ptrs,
      _In_reads_(num_buffers) size_t* buffer_data_sizes, _In_ size_t num_buffers);

  // For kernels
  OrtStatus*(ORT_API_CALL* KernelInfo_GetEp)(_In_ const OrtKernelInfo* info, _Outptr_ const OrtEp** ep);
  OrtStatus*(ORT_API_CALL* DeviceEpIncompatibilityDetails_SetDetails)(
      _Inout_ OrtDeviceEpIncompatibilityDetails* details, _In_ uint32_t reasons_bitmask, _In_ int32_t error_code,
      _In_opt_z_ const char* notes);

  // Control flow kernels
  OrtStatus*(ORT_API_CALL* CreateIfKernel)(_In_ const OrtKernelInfo* kernel_info, _Outptr_ OrtKernelImpl** kernel_out);
  OrtStatus*(ORT_API_CALL* CreateLoopKernel)(
      _In_ const OrtKernelInfo* kernel_info, _In_ OrtLoopKernelHelper* helper, _Outptr_ OrtKernelImpl** kernel_out);
  OrtStatus*(ORT_API_CALL* CreateScanKernel)(
      _In_ const OrtKernelInfo* kernel_info, _In_ OrtScanKernelHelper* helper, _Outptr_ OrtKernelImpl** kernel_out);
  void(ORT_API_CALL* ReleaseKernelImpl)(_Frees_ptr_opt_ OrtKernelImpl* input);

  // The environment's configuration
  OrtStatus*(ORT_API_CALL* GetEnvConfigEntries)(_Outptr_ OrtKeyValuePairs** config_entries);

  // Operator schemas
  /* since version 25 */
  OrtStatus*(ORT_API_CALL* GetOpSchema)(
      _In_ const char* name, _In_ int max_inclusive_version, _In_ const char* domain, _Outptr_result_maybenull_ OrtOpSchema** out_schema);
  void(ORT_API_CALL* ReleaseOpSchema)(_Frees_ptr_opt_ OrtOpSchema* input);
  OrtStatus*(ORT_API_CALL* OpSchema_GetSinceVersion)(_In_ const OrtOpSchema* schema, _Out_ int* out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetNumInputs)(_In_ const OrtOpSchema* schema, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetInputName)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetInputTypeConstraint)(
      _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetNumOutputs)(_In_ const OrtOpSchema* schema, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetOutputName)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetOutputTypeConstraint)(
      _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetTypeConstraintCount)(_In_ const OrtOpSchema* schema, _Out_ size_t* out);
  OrtStatus*(ORT_API_CALL* OpSchema_GetTypeConstraint)(
      _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const OrtOpSchemaTypeConstraint** out);
  OrtStatus*(ORT_API_CALL* OpSchemaTypeConstraint_GetTypeParamName)(
      _In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* OpSchemaTypeConstraint_GetAllowedTypes)(
      _In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const char* const** out_types, _Out_ size_t* num_types);
  OrtStatus*(ORT_API_CALL* OpSchemaTypeConstraint_GetInputIndices)(
      _In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const size_t** out_indices, _Out_ size_t* count);
  OrtStatus*(ORT_API_CALL* OpSchemaTypeConstraint_GetOutputIndices)(
      _In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const size_t** out_indices, _Out_ size_t* count);

  // Profiling events
  OrtStatus*(ORT_API_CALL* CreateProfilingEvent)(
      _In_ OrtProfilingEventCategory category, _In_ int32_t process_id, _In_ int32_t thread_id, _In_ const char* event_name,
      _In_ int64_t timestamp_us, _In_ int64_t duration_us, _In_reads_(num_args) const char* const* arg_keys,
      _In_reads_(num_args) const char* const* arg_values, _In_ size_t num_args, _Outptr_ OrtProfilingEvent** out);
  void(ORT_API_CALL* ReleaseProfilingEvent)(_Frees_ptr_opt_ OrtProfilingEvent* input);
  OrtStatus*(ORT_API_CALL* ProfilingEvent_GetCategory)(_In_ const OrtProfilingEvent* event, _Out_ OrtProfilingEventCategory* out);
  OrtStatus*(ORT_API_CALL* ProfilingEvent_GetName)(_In_ const OrtProfilingEvent* event, _Outptr_ const char** out);
  OrtStatus*(ORT_API_CALL* ProfilingEvent_GetTimestampUs)(_In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  OrtStatus*(ORT_API_CALL* ProfilingEvent_GetDurationUs)(_In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  OrtStatus*(ORT_API_CALL* ProfilingEvent_GetArgValue)(
      _In_ const OrtProfilingEvent* event, _In_ const char* key, _Outptr_result_maybenull_ const char** out);
  OrtStatus*(ORT_API_CALL* ProfilingEventsContainer_AddEvents)(
      _In_ OrtProfilingEventsContainer* events_container, _In_reads_(num_events) const OrtProfilingEvent* const* events,
      _In_ size_t num_events);

  // Compiled models
  /* since version 29 */
  OrtStatus*(ORT_API_CALL* SessionOptionsGetWeightlessSourceModelBuffer)(
      _In_ const OrtSessionOptions* session_options, _Outptr_result_maybenull_ const void** source_model_data,
      _Out_ size_t* source_model_data_length);
  /* since version 31 */
  OrtStatus*(ORT_API_CALL* SessionOptionsGetEpContextConfig)(
      _In_ const OrtSessionOptions* session_options, _Outptr_ OrtEpContextConfig** config);
  void(ORT_API_CALL* ReleaseEpContextConfig)(_Frees_ptr_opt_ OrtEpContextConfig* config);
  OrtStatus*(ORT_API_CALL* EpContextConfig_GetEpContextDataReadFunc)(
      _In_ const OrtEpContextConfig* config, _Out_ OrtReadNamedBufferFunc* read_func, _Out_ void** state);
  OrtStatus*(ORT_API_CALL* EpContextConfig_GetEpContextDataWriteFunc)(
      _In_ const OrtEpContextConfig* config, _Out_ OrtWriteNamedBufferFunc* write_func, _Out_ void** state);
};

/// A provider instance of one session, filled in by the plugin. Optional members may be null.
struct OrtEp {
  // The ORT_API_VERSION that the plugin was built with
  /* since version 22 */
  uint32_t ort_version_supported;
  const char*(ORT_API_CALL* GetName)(_In_ const OrtEp* this_ptr);
  /* since version 23 */
  OrtStatus*(ORT_API_CALL* GetCapability)(
      _In_ OrtEp* this_ptr, _In_ const OrtGraph* graph, _Inout_ OrtEpGraphSupportInfo* graph_support_info);
  OrtStatus*(ORT_API_CALL* Compile)(
      _In_ OrtEp* this_ptr, _In_ const OrtGraph** graphs, _In_ const OrtNode** fused_nodes, _In_ size_t count,
      _Out_writes_all_(count) OrtNodeComputeInfo** node_compute_infos, _Out_writes_(count) OrtNode** ep_context_nodes);
  void(ORT_API_CALL* ReleaseNodeComputeInfos)(
      _In_ OrtEp* this_ptr, OrtNodeComputeInfo** node_compute_infos, _In_ size_t num_node_compute_infos);
  OrtStatus*(ORT_API_CALL* GetPreferredDataLayout)(_In_ OrtEp* this_ptr, _Out_ OrtEpDataLayout* preferred_data_layout);
  OrtStatus*(ORT_API_CALL* ShouldConvertDataLayoutForOp)(
      _In_ OrtEp* this_ptr, _In_z_ const char* domain, _In_z_ const char* op_type, _In_ OrtEpDataLayout target_data_layout,
      _Outptr_ int* should_convert);
  OrtStatus*(ORT_API_CALL* SetDynamicOptions)(
      _In_ OrtEp* this_ptr, _In_reads_(num_options) const char* const* option_keys,
      _In_reads_(num_options) const char* const* option_values, _In_ size_t num_options);
  OrtStatus*(ORT_API_CALL* OnRunStart)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options);
  OrtStatus*(ORT_API_CALL* OnRunEnd)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options, _In_ bool sync_stream);
  OrtStatus*(ORT_API_CALL* CreateAllocator)(
      _In_ OrtEp* this_ptr, _In_ const OrtMemoryInfo* memory_info, _Outptr_result_maybenull_ OrtAllocator** allocator);
  OrtStatus*(ORT_API_CALL* CreateSyncStreamForDevice)(
      _In_ OrtEp* this_ptr, _In_ const OrtMemoryDevice* memory_device, _Outptr_ OrtSyncStreamImpl** stream);
  const char*(ORT_API_CALL* GetCompiledModelCompatibilityInfo)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph);
  /* since version 24 */
  OrtStatus*(ORT_API_CALL* GetKernelRegistry)(_In_ OrtEp* this_ptr, _Outptr_result_maybenull_ const OrtKernelRegistry** kernel_registry);
  OrtStatus*(ORT_API_CALL* IsConcurrentRunSupported)(_In_ OrtEp* this_ptr, _Outptr_ bool* is_supported);
  /* since version 25 */
  OrtStatus*(ORT_API_CALL* Sync)(_In_ OrtEp* this_ptr);
  OrtStatus*(ORT_API_CALL* CreateProfiler)(_In_ OrtEp* this_ptr, _Outptr_result_maybenull_ OrtEpProfilerImpl** profiler);
  /* since version 26 */
  bool(ORT_API_CALL* IsGraphCaptureEnabled)(_In_ const OrtEp* this_ptr);
  bool(ORT_API_CALL* IsGraphCaptured)(_In_ const OrtEp* this_ptr, _In_ int graph_annotation_id);
  OrtStatus*(ORT_API_CALL* ReplayGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  OrtGraphCaptureNodeAssignmentPolicy(ORT_API_CALL* GetGraphCaptureNodeAssignmentPolicy)(_In_ const OrtEp* this_ptr);
  OrtStatus*(ORT_API_CALL* GetAvailableResource)(_In_ const OrtEp* this_ptr, _Out_ OrtResourceCount* available);
  /* since version 27 */
  OrtStatus*(ORT_API_CALL* OnSessionInitializationEnd)(_In_ OrtEp* this_ptr);
  OrtStatus*(ORT_API_CALL* GetDefaultMemoryDevice)(_In_ const OrtEp* this_ptr, _Outptr_result_maybenull_ const OrtMemoryDevice** device);
  OrtStatus*(ORT_API_CALL* ReleaseCapturedGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  /* since version 29 */
  OrtStatus*(ORT_API_CALL* GetWeightlessSupport)(_In_ const OrtEp* this_ptr, _Out_ OrtWeightlessSupport* support);
  /* since version 31 */
  /// bit 0: reads contexts through the caller's function; bit 1: writes through it
  OrtStatus*(ORT_API_CALL* GetEpContextDataCallbackSupport)(_In_ const OrtEp* this_ptr, _Out_ uint32_t* support);
};

/// Makes provider instances, filled in by the plugin. Optional members may be null.
struct OrtEpFactory {
  // The ORT_API_VERSION that the plugin was built with
  /* since version 22 */
  uint32_t ort_version_supported;
  const char*(ORT_API_CALL* GetName)(const OrtEpFactory* this_ptr);
  const char*(ORT_API_CALL* GetVendor)(const OrtEpFactory* this_ptr);
  OrtStatus*(ORT_API_CALL* GetSupportedDevices)(
      _In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices, _In_ size_t num_devices,
      _Inout_ OrtEpDevice** ep_devices, _In_ size_t max_ep_devices, _Out_ size_t* num_ep_devices);
  OrtStatus*(ORT_API_CALL* CreateEp)(
      _In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
      _In_reads_(num_devices) const OrtKeyValuePairs* const* ep_metadata_pairs, _In_ size_t num_devices,
      _In_ const OrtSessionOptions* session_options, _In_ const OrtLogger* logger, _Outptr_ OrtEp** ep);
  void(ORT_API_CALL* ReleaseEp)(OrtEpFactory* this_ptr, OrtEp* ep);
  /* since version 23 */
  uint32_t(ORT_API_CALL* GetVendorId)(const OrtEpFactory* this_ptr);
  const char*(ORT_API_CALL* GetVersion)(_In_ const OrtEpFactory* this_ptr);
  OrtStatus*(ORT_API_CALL* ValidateCompiledModelCompatibilityInfo)(
      _In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices, _In_ size_t num_devices,
      _In_ const char* compatibility_info, _Out_ OrtCompiledModelCompatibility* model_compatibility);
  OrtStatus*(ORT_API_CALL* CreateAllocator)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtMemoryInfo* memory_info, _In_opt_ const OrtKeyValuePairs* allocator_options,
      _Outptr_result_maybenull_ OrtAllocator** allocator);
  void(ORT_API_CALL* ReleaseAllocator)(_In_ OrtEpFactory* this_ptr, _In_ OrtAllocator* allocator);
  OrtStatus*(ORT_API_CALL* CreateDataTransfer)(_In_ OrtEpFactory* this_ptr, _Outptr_result_maybenull_ OrtDataTransferImpl** data_transfer);
  bool(ORT_API_CALL* IsStreamAware)(_In_ const OrtEpFactory* this_ptr);
  OrtStatus*(ORT_API_CALL* CreateSyncStreamForDevice)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtMemoryDevice* memory_device, _In_opt_ const OrtKeyValuePairs* stream_options,
      _Outptr_ OrtSyncStreamImpl** stream);
  /* since version 24 */
  OrtStatus*(ORT_API_CALL* GetHardwareDeviceIncompatibilityDetails)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* hw, _Inout_ OrtDeviceEpIncompatibilityDetails* details);
  OrtStatus*(ORT_API_CALL* CreateExternalResourceImporterForDevice)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device,
      _Outptr_result_maybenull_ OrtExternalResourceImporterImpl** out_importer);
  OrtStatus*(ORT_API_CALL* GetNumCustomOpDomains)(_In_ OrtEpFactory* this_ptr, _Out_ size_t* num_domains);
  OrtStatus*(ORT_API_CALL* GetCustomOpDomains)(
      _In_ OrtEpFactory* this_ptr, _Out_writes_all_(num_domains) OrtCustomOpDomain** domains, _In_ size_t num_domains);
  /* since version 25 */
  OrtStatus*(ORT_API_CALL* InitGraphicsInterop)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device, _In_ const OrtGraphicsInteropConfig* config);
  OrtStatus*(ORT_API_CALL* DeinitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device);
  /* since version 28 */
  OrtStatus*(ORT_API_CALL* SelectBestModelCandidate)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* device,
      _In_reads_(num_candidates) const OrtKeyValuePairs* const* candidates, _In_ size_t num_candidates,
      _In_opt_ const OrtSessionOptions* session_options, _Out_ size_t* selected_index);
};

#ifdef __cplusplus
}
#endif
