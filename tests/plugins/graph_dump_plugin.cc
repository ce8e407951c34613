// A provider that writes down each graph that it is asked about, and of one operator (RH_GRAPH_DUMP_CLAIM) each that it is told to compile.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "plugins/graph_dump.h"

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

  explicit DumpProvider(std::string provider_name) : OrtEp{}, name(std::move(provider_name)) {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp* self) { return static_cast<const DumpProvider*>(self)->name.c_str(); };
    GetCapability = get_capability;
    Compile = compile;
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<Computer*>(infos[i]);
    };
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

  static OrtStatus* ORT_API_CALL get_capability(OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
    return guarded([&]() -> OrtStatus* {
      note("== capability\n" + rh::test::dump_graph(*g_api, *graph));
      const std::string wanted = environment("RH_GRAPH_DUMP_CLAIM");
      std::vector<const OrtNode*> claimed;
      const std::vector<const OrtNode*> nodes = nodes_of(graph);
      for (const OrtNode* node : nodes) {
        const char* op_type = nullptr;
        g_api->ReleaseStatus(g_api->Node_GetOperatorType(node, &op_type));
        if (!wanted.empty() && ("," + wanted + ",").find("," + std::string(op_type) + ",") != std::string::npos) claimed.push_back(node);
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
