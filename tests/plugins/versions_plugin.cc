// A provider that says it was built for API version RH_PLUGIN_VERSION. Fields that are newer hold what must not be called. It compiles Relu
// nodes of float tensors, each by itself.
#include <cstdlib>
#include <cstring>

#include "roundhouse/onnxruntime_ep_c_api.h"

namespace {

const OrtApi* g_api = nullptr;
uint32_t g_version = ORT_API_VERSION;

/// Calls through it fault.
template <typename Table>
void poison(Table& table) {
  std::memset(static_cast<void*>(&table), 0x5a, sizeof(table));
  table.ort_version_supported = g_version;
}

/// A field is filled in where the version has it.
template <typename Field, typename Function>
void fill(uint32_t since, Field& field, Function function) {
  if (g_version >= since) field = function;
}

OrtStatus* compute(OrtNodeComputeInfo*, void*, OrtKernelContext* context) {
  const OrtValue* input = nullptr;
  OrtValue* output = nullptr;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  int64_t dims[8];
  size_t rank = 0, count = 0;
  void *from = nullptr, *to = nullptr;
  OrtStatus* status = g_api->KernelContext_GetInput(context, 0, &input);
  if (!status) status = g_api->GetTensorTypeAndShape(input, &info);
  if (!status) status = g_api->GetDimensionsCount(info, &rank);
  if (!status && rank > 8) status = g_api->CreateStatus(ORT_NOT_IMPLEMENTED, "more than 8 dimensions");
  if (!status) status = g_api->GetDimensions(info, dims, rank);
  if (!status) status = g_api->GetTensorShapeElementCount(info, &count);
  if (!status) status = g_api->KernelContext_GetOutput(context, 0, dims, rank, &output);
  if (!status) status = g_api->GetTensorMutableData(const_cast<OrtValue*>(input), &from);
  if (!status) status = g_api->GetTensorMutableData(output, &to);
  if (info) g_api->ReleaseTensorTypeAndShapeInfo(info);
  if (status) return status;
  for (size_t i = 0; i < count; ++i) {
    const float x = static_cast<const float*>(from)[i];
    static_cast<float*>(to)[i] = x > 0 ? x : 0;
  }
  return nullptr;
}

OrtStatus* ORT_API_CALL capability(OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
  size_t count = 0;
  if (OrtStatus* status = g_api->Graph_GetNumNodes(graph, &count)) return status;
  const OrtNode* nodes[64];
  if (count > 64) return g_api->CreateStatus(ORT_FAIL, "more than 64 nodes");
  if (OrtStatus* status = g_api->Graph_GetNodes(graph, nodes, count)) return status;
  for (size_t i = 0; i < count; ++i) {
    const char* op_type = nullptr;
    if (OrtStatus* status = g_api->Node_GetOperatorType(nodes[i], &op_type)) return status;
    if (std::strcmp(op_type, "Relu") != 0) continue;
    if (OrtStatus* status = g_api->GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(info, &nodes[i], 1, nullptr)) return status;
  }
  return nullptr;
}

OrtStatus* ORT_API_CALL compile(OrtEp*, const OrtGraph**, const OrtNode**, size_t count, OrtNodeComputeInfo** infos, OrtNode**) {
  for (size_t i = 0; i < count; ++i) {
    infos[i] = new OrtNodeComputeInfo;
    poison(*infos[i]);
    infos[i]->CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    infos[i]->Compute = compute;
    infos[i]->ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }
  return nullptr;
}

OrtStatus* ORT_API_CALL create_ep(OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                                  const OrtSessionOptions*, const OrtLogger*, OrtEp** out) {
  auto* ep = new OrtEp;
  poison(*ep);
  ep->GetName = [](const OrtEp*) { return "VersionsExecutionProvider"; };
  fill(23, ep->GetCapability, capability);
  fill(23, ep->Compile, compile);
  fill(23, ep->ReleaseNodeComputeInfos, [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
    for (size_t i = 0; i < count; ++i) delete infos[i];
  });
  fill(23, ep->GetPreferredDataLayout, nullptr);
  fill(23, ep->ShouldConvertDataLayoutForOp, nullptr);
  fill(23, ep->SetDynamicOptions, nullptr);
  fill(23, ep->OnRunStart, nullptr);
  fill(23, ep->OnRunEnd, nullptr);
  fill(23, ep->CreateAllocator, nullptr);
  fill(23, ep->CreateSyncStreamForDevice, nullptr);
  fill(23, ep->GetCompiledModelCompatibilityInfo, nullptr);
  fill(24, ep->GetKernelRegistry, nullptr);
  fill(24, ep->IsConcurrentRunSupported, nullptr);
  fill(25, ep->Sync, nullptr);
  fill(25, ep->CreateProfiler, nullptr);
  fill(26, ep->IsGraphCaptureEnabled, nullptr);
  fill(26, ep->IsGraphCaptured, nullptr);
  fill(26, ep->ReplayGraph, nullptr);
  fill(26, ep->GetGraphCaptureNodeAssignmentPolicy, nullptr);
  fill(26, ep->GetAvailableResource, nullptr);
  fill(27, ep->OnSessionInitializationEnd, nullptr);
  fill(27, ep->GetDefaultMemoryDevice, nullptr);
  fill(27, ep->ReleaseCapturedGraph, nullptr);
  fill(29, ep->GetWeightlessSupport, nullptr);
  fill(31, ep->GetEpContextDataCallbackSupport, nullptr);
  *out = ep;
  return nullptr;
}

OrtStatus* ORT_API_CALL devices(OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t,
                                size_t* used) {
  *used = 0;
  for (size_t i = 0; i < count && *used == 0; ++i) {
    if (g_api->HardwareDevice_Type(hardware[i]) != OrtHardwareDeviceType_CPU) continue;
    // What the environment lets plugins know becomes metadata of the device.
    OrtKeyValuePairs* entries = nullptr;
    OrtStatus* status = g_version >= 24 ? g_api->GetEpApi()->GetEnvConfigEntries(&entries) : nullptr;
    if (!status) status = g_api->GetEpApi()->CreateEpDevice(self, hardware[i], entries, nullptr, &out[0]);
    if (entries) g_api->ReleaseKeyValuePairs(entries);
    if (status) return status;
    *used = 1;
  }
  return nullptr;
}

}  // namespace

extern "C" {

ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t, size_t* count) {
  g_api = base->GetApi(22);
  if (const char* version = std::getenv("RH_PLUGIN_VERSION")) g_version = static_cast<uint32_t>(std::strtoul(version, nullptr, 10));
  auto* factory = new OrtEpFactory;
  poison(*factory);
  factory->GetName = [](const OrtEpFactory*) { return "VersionsExecutionProvider"; };
  factory->GetVendor = [](const OrtEpFactory*) { return "tests"; };
  factory->GetSupportedDevices = devices;
  factory->CreateEp = create_ep;
  factory->ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete ep; };
  fill(23, factory->GetVendorId, [](const OrtEpFactory*) { return uint32_t{0}; });
  fill(23, factory->GetVersion, [](const OrtEpFactory*) { return "0.1.0"; });
  fill(23, factory->ValidateCompiledModelCompatibilityInfo, nullptr);
  fill(23, factory->CreateAllocator, nullptr);
  fill(23, factory->ReleaseAllocator, nullptr);
  fill(23, factory->CreateDataTransfer, nullptr);
  fill(23, factory->IsStreamAware, nullptr);
  fill(23, factory->CreateSyncStreamForDevice, nullptr);
  fill(24, factory->GetHardwareDeviceIncompatibilityDetails, nullptr);
  fill(24, factory->CreateExternalResourceImporterForDevice, nullptr);
  fill(24, factory->GetNumCustomOpDomains, nullptr);
  fill(24, factory->GetCustomOpDomains, nullptr);
  fill(25, factory->InitGraphicsInterop, nullptr);
  fill(25, factory->DeinitGraphicsInterop, nullptr);
  fill(28, factory->SelectBestModelCandidate, nullptr);
  factories[0] = factory;
  *count = 1;
  return nullptr;
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete factory;
  return nullptr;
}
}
