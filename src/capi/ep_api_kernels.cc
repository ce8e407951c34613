// OrtEpApi: answers to GetCapability, and kernels for single nodes.
#include "abi/element_type.h"
#include "base/fork_mutex.h"
#include "capi/guard.h"
#include "capi/table.h"
#include "providers/plugin/call.h"
#include "providers/plugin/control_flow.h"
#include "providers/plugin/graph_support.h"
#include "providers/plugin/kernel_info.h"
#include "providers/plugin/packed_weights.h"
#include "providers/plugin/plugin_kernel.h"

namespace rh::capi::ep_api {

namespace {

template <typename F>
OrtStatus* build(OrtKernelDefBuilder* builder, F&& body) {
  return guard([&] { body(checked(builder, "kernel_def_builder").def); });
}

OrtStatus* add_aliases(OrtKernelDefBuilder* builder, const int* inputs, const int* outputs, size_t count,
                       std::vector<std::pair<int, int>> OrtKernelDef::* list) {
  return build(builder, [&](OrtKernelDef& def) {
    checked_array(inputs, count, "input_indices");
    checked_array(outputs, count, "output_indices");
    for (size_t i = 0; i < count; ++i) {
      if (inputs[i] < 0 || outputs[i] < 0) fail(ErrorCode::invalid_argument, "alias {}: an index is negative", i);
      (def.*list).emplace_back(inputs[i], outputs[i]);
    }
  });
}

}  // namespace

OrtStatus* ORT_API_CALL EpGraphSupportInfo_AddNodesToFuse(OrtEpGraphSupportInfo* info, const OrtNode* const* nodes, size_t count,
                                                          const OrtNodeFusionOptions* options) {
  return guard([&] {
    OrtEpGraphSupportInfo& target = checked(info, "graph_support_info");
    if (count == 0) fail(ErrorCode::invalid_argument, "a unit needs at least one node");
    const bool drop = options && options->ort_version_supported >= 23 && options->drop_constant_initializers;
    target.add(&checked(nodes, "nodes"), count, true, drop);
  });
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_AddSingleNode(OrtEpGraphSupportInfo* info, const OrtNode* node) {
  return guard([&] { checked(info, "graph_support_info").add(&node, 1, false, false); });
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_LookUpKernel(OrtEpGraphSupportInfo* info, const OrtNode* node, const OrtKernelDef** out) {
  return guard([&] { checked(out, "out_kernel_def") = checked(info, "graph_support_info").find_kernel(checked(node, "node")); });
}

const char* ORT_API_CALL NodeComputeContext_NodeName(const OrtNodeComputeContext* context) {
  return context ? context->node_name.c_str() : nullptr;
}

// Registries and definitions

OrtStatus* ORT_API_CALL CreateKernelRegistry(OrtKernelRegistry** out) {
  return guard([&] {
    checked(out, "kernel_registry");
    *out = new OrtKernelRegistry;
  });
}

void ORT_API_CALL ReleaseKernelRegistry(OrtKernelRegistry* registry) { delete registry; }

OrtStatus* ORT_API_CALL KernelRegistry_AddKernel(OrtKernelRegistry* registry, const OrtKernelDef* def, OrtKernelCreateFunc create,
                                                 void* state) {
  return guard([&] {
    checked(create, "kernel_create_func");
    auto entry = std::make_unique<OrtKernelRegistry::Entry>(OrtKernelRegistry::Entry{checked(def, "kernel_def"), create, state});
    checked(registry, "kernel_registry").entries.push_back(std::move(entry));
  });
}

OrtStatus* ORT_API_CALL CreateKernelDefBuilder(OrtKernelDefBuilder** out) {
  return guard([&] {
    checked(out, "kernel_def_builder_out");
    *out = new OrtKernelDefBuilder;
  });
}

void ORT_API_CALL ReleaseKernelDefBuilder(OrtKernelDefBuilder* builder) { delete builder; }

OrtStatus* ORT_API_CALL KernelDefBuilder_SetOperatorType(OrtKernelDefBuilder* builder, const char* op_type) {
  return build(builder, [&](OrtKernelDef& def) { def.op_type = &checked(op_type, "op_type"); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetDomain(OrtKernelDefBuilder* builder, const char* domain) {
  return build(builder, [&](OrtKernelDef& def) { def.domain = &checked(domain, "domain"); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetSinceVersion(OrtKernelDefBuilder* builder, int start, int end) {
  return build(builder, [&](OrtKernelDef& def) {
    if (start < 1 || end < start) fail(ErrorCode::invalid_argument, "since versions {} to {}: expected 1 <= start <= end", start, end);
    def.since_start = start;
    def.since_end = end;
  });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetExecutionProvider(OrtKernelDefBuilder* builder, const char* name) {
  return build(builder, [&](OrtKernelDef& def) { def.provider = &checked(name, "ep_name"); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetInputMemType(OrtKernelDefBuilder* builder, size_t index, OrtMemType type) {
  return build(builder, [&](OrtKernelDef& def) { def.input_memory[index] = type; });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetOutputMemType(OrtKernelDefBuilder* builder, size_t index, OrtMemType type) {
  return build(builder, [&](OrtKernelDef& def) { def.output_memory[index] = type; });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddTypeConstraint(OrtKernelDefBuilder* builder, const char* name, const OrtDataType* const* types,
                                                           size_t count) {
  return build(builder, [&](OrtKernelDef& def) {
    checked_array(types, count, "types");
    if (count == 0) fail(ErrorCode::invalid_argument, "type constraint '{}' has no types", &checked(name, "arg_name"));
    def.types[&checked(name, "arg_name")].assign(types, types + count);
  });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddInputOutputAliases(OrtKernelDefBuilder* builder, const int* inputs, const int* outputs,
                                                               size_t count) {
  return add_aliases(builder, inputs, outputs, count, &OrtKernelDef::aliases);
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddInputOutputMutableAliases(OrtKernelDefBuilder* builder, const int* inputs, const int* outputs,
                                                                      size_t count) {
  return add_aliases(builder, inputs, outputs, count, &OrtKernelDef::mutable_aliases);
}

OrtStatus* ORT_API_CALL KernelDefBuilder_Build(OrtKernelDefBuilder* builder, OrtKernelDef** out) {
  return guard([&] {
    const OrtKernelDef& def = checked(builder, "kernel_def_builder").def;
    checked(out, "kernel_def_out") = nullptr;
    if (def.op_type.empty()) fail(ErrorCode::invalid_argument, "the kernel definition has no operator type");
    *out = new OrtKernelDef(def);
  });
}

void ORT_API_CALL ReleaseKernelDef(OrtKernelDef* def) { delete def; }

const char* ORT_API_CALL KernelDef_GetOperatorType(const OrtKernelDef* def) { return def ? def->op_type.c_str() : nullptr; }
const char* ORT_API_CALL KernelDef_GetDomain(const OrtKernelDef* def) { return def ? def->domain.c_str() : nullptr; }
const char* ORT_API_CALL KernelDef_GetExecutionProvider(const OrtKernelDef* def) { return def ? def->provider.c_str() : nullptr; }

OrtStatus* ORT_API_CALL KernelDef_GetSinceVersion(const OrtKernelDef* def, int* start, int* end) {
  return guard([&] {
    checked(start, "start_version") = checked(def, "kernel_def").since_start;
    checked(end, "end_version") = def->since_end;
  });
}

OrtStatus* ORT_API_CALL KernelDef_GetInputMemType(const OrtKernelDef* def, size_t index, OrtMemType* out) {
  return guard([&] { checked(out, "mem_type") = checked(def, "kernel_def").input_memory_type(index); });
}

OrtStatus* ORT_API_CALL KernelDef_GetOutputMemType(const OrtKernelDef* def, size_t index, OrtMemType* out) {
  return guard([&] { checked(out, "mem_type") = checked(def, "kernel_def").output_memory_type(index); });
}

OrtStatus* ORT_API_CALL GetTensorDataType(ONNXTensorElementDataType type, const OrtDataType** out) {
  return guard([&] {
    static constinit ForkOnce<const std::vector<OrtDataType>> all;
    const std::vector<OrtDataType>& types = all.get([] {
      std::vector<OrtDataType> made;
      for (int i = 0; i < 64; ++i) made.push_back({static_cast<ONNXTensorElementDataType>(i)});
      return made;
    });
    checked(out, "out") = nullptr;
    if (abi::to_dtype(type) == DType::undefined) fail(ErrorCode::invalid_argument, "{} is no element type", static_cast<int>(type));
    *out = &types.at(static_cast<size_t>(type));
  });
}

// Kernels

OrtStatus* ORT_API_CALL KernelInfo_GetEp(const OrtKernelInfo* info, const OrtEp** out) {
  return guard([&] {
    const OrtEp* ep = checked(info, "info").ep;
    checked(out, "ep") = ep;
    if (!ep) fail(ErrorCode::invalid_argument, "the kernel is of no plugin provider");
  });
}

OrtStatus* ORT_API_CALL CreateIfKernel(const OrtKernelInfo* info, OrtKernelImpl** out) {
  return guard([&] {
    checked(out, "kernel_out") = nullptr;
    *out = plugin::make_if_kernel(checked(info, "kernel_info"));
  });
}

OrtStatus* ORT_API_CALL CreateLoopKernel(const OrtKernelInfo* info, OrtLoopKernelHelper* helper, OrtKernelImpl** out) {
  return guard([&] {
    checked(out, "kernel_out") = nullptr;
    *out = plugin::make_loop_kernel(checked(info, "kernel_info"), checked(helper, "helper"));
  });
}

OrtStatus* ORT_API_CALL CreateScanKernel(const OrtKernelInfo* info, OrtScanKernelHelper* helper, OrtKernelImpl** out) {
  return guard([&] {
    checked(out, "kernel_out") = nullptr;
    *out = plugin::make_scan_kernel(checked(info, "kernel_info"), checked(helper, "helper"));
  });
}

OrtStatus* ORT_API_CALL SharedPrePackedWeightCache_StoreWeightData(OrtSharedPrePackedWeightCache* cache, void** data, size_t* sizes,
                                                                   size_t count) {
  return guard([&] {
    OrtSharedPrePackedWeightCache& target = checked(cache, "prepacked_weight_cache");
    checked_array(data, count, "buffer_data_ptrs");
    checked_array(sizes, count, "buffer_data_sizes");
    if (count == 0) fail(ErrorCode::invalid_argument, "argument 'num_buffers' is 0, expected at least one buffer");
    for (size_t i = 0; i < count; ++i) checked(static_cast<const char*>(data[i]), "buffer_data_ptrs[i]");
    target.store({data, count}, {sizes, count});
  });
}

void ORT_API_CALL ReleaseKernelImpl(OrtKernelImpl* kernel) {
  if (kernel && kernel->Release) plugin::tell([&] { kernel->Release(kernel); });
}

}  // namespace rh::capi::ep_api
