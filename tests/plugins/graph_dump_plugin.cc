// A provider that writes down each graph that it is asked about, and of one operator (RH_GRAPH_DUMP_CLAIM) each that it is told to compile.
// With RH_GRAPH_DUMP_KERNELS it claims the nodes of these operators one by one instead, for kernels that write down what they are told, and
// wants their channels last.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/graph_dump.h"
#include "plugins/kernel_dump.h"

namespace {

const OrtApi* g_api = nullptr;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void note(const std::string& text) { std::ofstream(environment("RH_GRAPH_DUMP"), std::ios::app) << text; }

template <typename Body>
OrtStatus* guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return g_api->CreateStatus(ORT_FAIL, error.what());
  }
}

constexpr char kChannelsLast[] = "com.ms.internal.nhwc";

bool is_listed(const std::string& name, const std::string& list) { return ("," + list + ",").find("," + name + ",") != std::string::npos; }

/// A kernel that computes nothing.
struct Kernel : OrtKernelImpl {
  Kernel() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Compute = [](OrtKernelImpl*, OrtKernelContext*) { return g_api->CreateStatus(ORT_NOT_IMPLEMENTED, "the dump computes nothing"); };
    Release = [](OrtKernelImpl* self) { delete static_cast<Kernel*>(self); };
  }
};

/// Kernels of the listed operators in both layouts. They ask for the attributes that `seen` has.
class Kernels {
 public:
  Kernels(const std::string& list, const std::string& provider) {
    const OrtEpApi& ep = *g_api->GetEpApi();
    check(ep.CreateKernelRegistry(&registry));
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(',', begin), list.size());
      for (const char* domain : {"", "com.microsoft", kChannelsLast}) add(ep, list.substr(begin, end - begin), domain, provider);
      begin = end + 1;
    }
  }
  ~Kernels() { g_api->GetEpApi()->ReleaseKernelRegistry(registry); }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  OrtKernelRegistry* registry = nullptr;
  rh::test::AttributeNames seen;

 private:
  static void check(OrtStatus* status) {
    if (!status) return;
    const std::string message = g_api->GetErrorMessage(status);
    g_api->ReleaseStatus(status);
    throw std::runtime_error(message);
  }

  void add(const OrtEpApi& ep, const std::string& op, const char* domain, const std::string& provider) {
    OrtKernelDefBuilder* builder = nullptr;
    OrtKernelDef* def = nullptr;
    check(ep.CreateKernelDefBuilder(&builder));
    check(ep.KernelDefBuilder_SetOperatorType(builder, op.c_str()));
    check(ep.KernelDefBuilder_SetDomain(builder, domain));
    check(ep.KernelDefBuilder_SetSinceVersion(builder, 1, 1000));
    check(ep.KernelDefBuilder_SetExecutionProvider(builder, provider.c_str()));
    check(ep.KernelDefBuilder_Build(builder, &def));
    ep.ReleaseKernelDefBuilder(builder);
    check(ep.KernelRegistry_AddKernel(registry, def, create, this));
    ep.ReleaseKernelDef(def);
  }

  static OrtStatus* ORT_API_CALL create(void* self, const OrtKernelInfo* info, OrtKernelImpl** out) {
    return guarded([&]() -> OrtStatus* {
      char op[64] = {};
      size_t size = sizeof(op);
      check(g_api->KernelInfo_GetOperatorType(info, op, &size));
      note(rh::test::KernelDumper(*g_api, *info, static_cast<Kernels*>(self)->seen[op]).text);
      *out = new Kernel();
      return nullptr;
    });
  }
};

struct Computer : OrtNodeComputeInfo {
  Computer() : OrtNodeComputeInfo{} {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo*, void*, OrtKernelContext*) {
      return g_api->CreateStatus(ORT_NOT_IMPLEMENTED, "the dump computes nothing");
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }
};

struct DumpProvider : OrtEp {
  std::string name;
  const std::string by_kernel = environment("RH_GRAPH_DUMP_KERNELS");
  std::unique_ptr<Kernels> kernels;

  explicit DumpProvider(std::string provider_name) : OrtEp{}, name(std::move(provider_name)) {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp* self) { return static_cast<const DumpProvider*>(self)->name.c_str(); };
    GetCapability = get_capability;
    Compile = compile;
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<Computer*>(infos[i]);
    };
    if (by_kernel.empty()) return;
    kernels = std::make_unique<Kernels>(by_kernel, name);
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) -> OrtStatus* {
      *out = static_cast<DumpProvider*>(self)->kernels->registry;
      return nullptr;
    };
    GetPreferredDataLayout = [](OrtEp*, OrtEpDataLayout* layout) -> OrtStatus* {
      *layout = OrtEpDataLayout_NHWC;
      return nullptr;
    };
  }

  static std::string text_of(const OrtNode* node, OrtStatus*(ORT_API_CALL* get)(const OrtNode*, const char**)) {
    const char* text = nullptr;
    g_api->ReleaseStatus(get(node, &text));
    return text ? text : "";
  }

  /// Claims the nodes of the listed operators, and notes which attributes they have.
  OrtStatus* claim_by_kernel(const std::vector<const OrtNode*>& nodes, OrtEpGraphSupportInfo* info) {
    for (const OrtNode* node : nodes) {
      const std::string op = text_of(node, g_api->Node_GetOperatorType);
      if (!is_listed(op, by_kernel)) continue;
      size_t count = 0;
      g_api->ReleaseStatus(g_api->Node_GetNumAttributes(node, &count));
      std::vector<const OrtOpAttr*> attributes(count);
      g_api->ReleaseStatus(g_api->Node_GetAttributes(node, attributes.data(), count));
      for (const OrtOpAttr* one : attributes) {
        const char* attribute = nullptr;
        g_api->ReleaseStatus(g_api->OpAttr_GetName(one, &attribute));
        kernels->seen[op].insert(attribute);
      }
      if (OrtStatus* status = g_api->GetEpApi()->EpGraphSupportInfo_AddSingleNode(info, node)) return status;
    }
    return nullptr;
  }

  static std::vector<const OrtNode*> nodes_of(const OrtGraph* graph) {
    size_t count = 0;
    g_api->ReleaseStatus(g_api->Graph_GetNumNodes(graph, &count));
    std::vector<const OrtNode*> nodes(count);
    g_api->ReleaseStatus(g_api->Graph_GetNodes(graph, nodes.data(), count));
    return nodes;
  }

  static void dump_view(const OrtGraph* graph, const std::string& title, std::vector<const OrtNode*> nodes) {
    OrtGraph* view = nullptr;
    if (OrtStatus* status = g_api->Graph_GetGraphView(graph, nodes.data(), nodes.size(), &view)) {
      note("== " + title + ": " + g_api->GetErrorMessage(status) + "\n");
      g_api->ReleaseStatus(status);
      return;
    }
    note("== " + title + "\n" + rh::test::dump_graph(*g_api, *view, rh::test::Order::by_name));
    g_api->ReleaseGraph(view);
  }

  static OrtStatus* ORT_API_CALL get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    return guarded([&]() -> OrtStatus* {
      auto& provider = *static_cast<DumpProvider*>(self);
      if (provider.kernels) return provider.claim_by_kernel(nodes_of(graph), info);
      note("== capability\n" + rh::test::dump_graph(*g_api, *graph));
      const std::string wanted = environment("RH_GRAPH_DUMP_CLAIM");
      std::vector<const OrtNode*> claimed;
      const std::vector<const OrtNode*> nodes = nodes_of(graph);
      for (const OrtNode* node : nodes) {
        const char* op_type = nullptr;
        g_api->ReleaseStatus(g_api->Node_GetOperatorType(node, &op_type));
        if (!wanted.empty() && is_listed(op_type, wanted)) claimed.push_back(node);
      }
      dump_view(graph, "view of all", nodes);
      if (claimed.empty()) return nullptr;
      dump_view(graph, "view of claimed", claimed);
      OrtNodeFusionOptions options{};
      options.ort_version_supported = ORT_API_VERSION;
      options.drop_constant_initializers = !environment("RH_GRAPH_DUMP_DROP").empty();
      return g_api->GetEpApi()->EpGraphSupportInfo_AddNodesToFuse(info, claimed.data(), claimed.size(), &options);
    });
  }

  static OrtStatus* ORT_API_CALL compile(OrtEp*, const OrtGraph** graphs, const OrtNode** fused_nodes, size_t count,
                                         OrtNodeComputeInfo** infos, OrtNode** context_nodes) {
    return guarded([&]() -> OrtStatus* {
      for (size_t i = 0; i < count; ++i) {
        note("== compile\n" + rh::test::dump_graph(*g_api, *graphs[i], rh::test::Order::by_name) + "== fused\n" +
             rh::test::dump_node(*g_api, *fused_nodes[i]));
        infos[i] = new Computer();
        if (context_nodes) context_nodes[i] = nullptr;
      }
      return nullptr;
    });
  }
};

struct DumpFactory : OrtEpFactory {
  std::string name;

  explicit DumpFactory(const char* registered) : OrtEpFactory{}, name(registered) {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory* self) { return static_cast<const DumpFactory*>(self)->name.c_str(); };
    GetVendor = [](const OrtEpFactory*) { return "Roundhouse tests"; };
    GetVendorId = [](const OrtEpFactory*) { return uint32_t{0xFFFE}; };
    GetVersion = [](const OrtEpFactory*) { return "1.0.0"; };
    GetSupportedDevices = get_supported_devices;
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t, const OrtSessionOptions*,
                  const OrtLogger*, OrtEp** ep) -> OrtStatus* {
      *ep = new DumpProvider(static_cast<DumpFactory*>(self)->name);
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<DumpProvider*>(ep); };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*, OrtAllocator** allocator) -> OrtStatus* {
      *allocator = nullptr;
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) -> OrtStatus* {
      *transfer = nullptr;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
  }

  static OrtStatus* ORT_API_CALL get_supported_devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                                                       OrtEpDevice** ep_devices, size_t room, size_t* used) {
    *used = 0;
    for (size_t i = 0; i < count && *used < room; ++i) {
      if (g_api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
      if (OrtStatus* status = g_api->GetEpApi()->CreateEpDevice(self, devices[i], nullptr, nullptr, &ep_devices[*used])) return status;
      ++*used;
    }
    return nullptr;
  }
};

}  // namespace

extern "C" {

ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t room, size_t* count) {
  g_api = base->GetApi(ORT_API_VERSION);
  if (room < 1) return g_api->CreateStatus(ORT_INVALID_ARGUMENT, "no room for a factory");
  factories[0] = new DumpFactory(name);
  *count = 1;
  return nullptr;
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<DumpFactory*>(factory);
  return nullptr;
}
}
