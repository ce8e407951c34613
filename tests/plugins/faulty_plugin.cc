// A provider that goes wrong where the environment variable RH_FAULT says. Otherwise it compiles Relu nodes, each by itself, and its Neg
// kernel is for single nodes. With the option `units` it claims nodes by their names: "a,b;c" are two units.
#include <chrono>
#include <map>
#include <new>
#include <sstream>
#include <thread>

#include "kit.h"

namespace {

using namespace rh::test::kit;

constexpr char kName[] = "FaultyExecutionProvider";

bool fault(const char* name) {
  const char* wanted = std::getenv("RH_FAULT");
  return wanted && std::string(wanted) == name;
}

/// The environment variable RH_PLUGIN_NAME may give it another.
const char* provider_name() {
  static std::string name;
  const char* given = std::getenv("RH_PLUGIN_NAME");
  name = given ? given : kName;
  return name.c_str();
}

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

/// While the library is loaded.
[[maybe_unused]] const bool g_loaded = [] {
  if (fault("load_hangs")) hang();
  return true;
}();

OrtStatus* out_of_memory() { return detail::host.api->CreateStatus(ORT_FAIL, "out of memory on the device"); }

void compute(OpKernelContext& context) {
  const TensorView x = context.input(0);
  if (fault("compute_throws")) throw 42;  // no std::exception
  if (fault("compute_without_memory")) throw std::bad_alloc();
  if (fault("compute_without_output")) return;
  std::vector<int64_t> shape = x.shape;
  if (fault("compute_gives_a_longer_output")) shape.at(0) += 1;
  if (fault("compute_gives_another_rank")) shape.push_back(1);
  if (fault("compute_gives_a_negative_size")) shape.at(0) = -4;
  const TensorView y = context.output(0, shape);
  for (int64_t i = 0; i < x.elements(); ++i) {
    static_cast<float*>(y.data)[i] = std::max(static_cast<const float*>(x.data)[i], 0.0f);
  }
}

/// A node of a unit whose values are vectors of one length.
struct Step {
  std::string op;
  std::vector<size_t> from;  ///< places of what it takes
  size_t to = 0;
};

std::vector<float> compute_step(const Step& step, const std::vector<std::vector<float>>& values) {
  std::vector<float> result = values.at(step.from.at(0));
  for (size_t i = 0; i < result.size(); ++i) {
    if (step.op == "Add") result[i] += values.at(step.from.at(1)).at(i);
    if (step.op == "Relu") result[i] = std::max(result[i], 0.0f);
    if (step.op == "Neg") result[i] = -result[i];
  }
  return result;
}

/// A unit of Add, Relu and Neg nodes.
KernelFunction function_of(const GraphViewer& graph, const Node& unit) {
  std::map<std::string, size_t> places;
  const auto place = [&](const NodeArg& value) { return places.emplace(value.name(), places.size()).first->second; };
  for (const NodeArg& input : unit.inputs()) place(input);
  std::vector<Step> steps;
  for (const Node& node : graph.nodes()) {
    Step& step = steps.emplace_back(Step{node.op_type(), {}, 0});
    for (const NodeArg& input : node.inputs()) step.from.push_back(place(input));
    step.to = place(node.outputs().at(0));
  }
  std::vector<size_t> results;
  for (const NodeArg& output : unit.outputs()) results.push_back(place(output));
  return [count = places.size(), steps, results](OpKernelContext& context) {
    std::vector<std::vector<float>> values(count);
    std::vector<int64_t> shape;
    for (size_t i = 0; i < context.input_count(); ++i) {
      const TensorView input = context.input(i);
      const auto* data = static_cast<const float*>(input.data);
      values.at(i).assign(data, data + input.elements());
      shape = input.shape;
    }
    for (const Step& step : steps) values.at(step.to) = compute_step(step, values);
    for (size_t i = 0; i < results.size(); ++i) {
      const std::vector<float>& from = values.at(results[i]);
      std::copy(from.begin(), from.end(), static_cast<float*>(context.output(i, shape).data));
    }
  };
}

struct Faulty final : IExecutionProvider {
  explicit Faulty(const OrtSessionOptions* options) : units(config(options, "ep.faultyexecutionprovider.units")) {}
  NodeComputeInfo Compile(const GraphViewer& graph, const Node& node) override {
    return {units.empty() ? KernelFunction(compute) : function_of(graph, node)};
  }

  const std::string units;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

using Fuse = std::function<OrtStatus*(std::vector<const OrtNode*>)>;

OrtStatus* claim_units(const std::string& units, const GraphViewer& graph, const Fuse& fuse) {
  std::map<std::string, const OrtNode*> by_name;
  for (const Node& node : graph.nodes()) by_name.emplace(node.name(), node.raw());
  for (const std::string& unit : split(units, ';')) {
    std::vector<const OrtNode*> nodes;
    for (const std::string& name : split(unit, ',')) nodes.push_back(by_name.at(name));
    if (OrtStatus* status = fuse(nodes)) return status;
  }
  return nullptr;
}

OrtStatus* answer(const Faulty& provider, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
  const Fuse fuse = [&](std::vector<const OrtNode*> nodes) {
    return detail::host.ep->EpGraphSupportInfo_AddNodesToFuse(info, nodes.data(), nodes.size(), nullptr);
  };
  if (!provider.units.empty()) return claim_units(provider.units, GraphViewer(graph), fuse);
  std::vector<const OrtNode*> all;
  for (const Node& node : GraphViewer(graph).nodes()) all.push_back(node.raw());
  if (fault("capability_throws")) throw std::runtime_error("thrown in GetCapability");
  if (fault("capability_claims_nothing")) return fuse({});
  if (fault("capability_claims_null")) return detail::host.ep->EpGraphSupportInfo_AddSingleNode(info, nullptr);
  if (fault("capability_makes_a_cycle") && all.size() > 2) return fuse({all.front(), all.back()});
  if (fault("capability_claims_without_kernel")) return detail::host.ep->EpGraphSupportInfo_AddSingleNode(info, all.front());
  for (const OrtNode* node : all) {
    if (Node(node).op_type() != "Relu") continue;
    if (OrtStatus* status = fuse({node})) return status;
    if (fault("capability_claims_twice")) return fuse({node});
  }
  return nullptr;
}

struct FaultyEp : detail::EpTable<Faulty> {
  FaultyEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    GetCapability = [](OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* info) {
      return answer(static_cast<FaultyEp*>(self)->provider, graph, info);
    };
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos,
                 OrtNode**) -> OrtStatus* {
      if (fault("compile_throws")) throw std::runtime_error("thrown in Compile");
      if (fault("compile_without_memory")) return out_of_memory();
      if (fault("compile_gives_nothing")) return nullptr;
      for (size_t i = 0; i < count; ++i) {
        auto* unit = new detail::UnitTable(static_cast<FaultyEp*>(self)->provider.Compile(GraphViewer(graphs[i]), Node(nodes[i])));
        if (fault("unit_without_compute")) unit->Compute = nullptr;
        if (fault("unit_state_throws"))
          unit->CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void**) -> OrtStatus* { throw 1; };
        if (fault("unit_release_throws")) unit->ReleaseState = [](OrtNodeComputeInfo*, void*) { throw std::runtime_error("release"); };
        infos[i] = unit;
      }
      return nullptr;
    };
    if (fault("infos_release_throws")) {
      ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
        for (size_t i = 0; i < count; ++i) delete static_cast<detail::UnitTable*>(infos[i]);
        throw std::bad_alloc();
      };
    }
    if (fault("ep_without_members")) {
      GetCapability = nullptr;
      Compile = nullptr;
      ReleaseNodeComputeInfos = nullptr;
    }
    if (fault("ep_without_compile")) Compile = nullptr;
    if (fault("ep_name_throws")) GetName = [](const OrtEp*) -> const char* { throw 1; };
    if (fault("run_start_throws")) OnRunStart = [](OrtEp*, const OrtRunOptions*) -> OrtStatus* { throw std::runtime_error("run start"); };
    if (fault("run_end_fails")) OnRunEnd = [](OrtEp*, const OrtRunOptions*, bool) { return out_of_memory(); };
    if (fault("layout_is_unknown")) {
      GetPreferredDataLayout = [](OrtEp*, OrtEpDataLayout* layout) -> OrtStatus* {
        *layout = static_cast<OrtEpDataLayout>(17);
        return nullptr;
      };
    }
  }
};

struct FaultyFactory : TestFactory<FaultyEp, ProviderTraits> {
  explicit FaultyFactory(const char* name) : TestFactory(name) {
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions* options, const OrtLogger*, OrtEp** out) -> OrtStatus* {
      if (fault("create_throws")) throw std::runtime_error("thrown in CreateEp");
      if (fault("create_without_memory")) return out_of_memory();
      if (fault("create_gives_nothing")) return nullptr;
      if (fault("create_hangs")) hang();
      std::string key = "ep." + std::string(static_cast<FaultyFactory*>(self)->name) + ".speed";
      std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (fault("create_refuses_options") && config(options, key) != "")
        return detail::host.api->CreateStatus(ORT_INVALID_ARGUMENT, "there is no option 'speed'");
      *out = new FaultyEp(static_cast<FaultyFactory*>(self)->name, options);
      return nullptr;
    };
    if (fault("release_without_memory")) {
      ReleaseEp = [](OrtEpFactory*, OrtEp* ep) {
        delete static_cast<FaultyEp*>(ep);
        throw std::bad_alloc();
      };
    }
    if (fault("release_throws")) {
      ReleaseEp = [](OrtEpFactory*, OrtEp* ep) {
        delete static_cast<FaultyEp*>(ep);
        throw std::runtime_error("release");
      };
    }
    if (fault("factory_without_members")) {
      GetName = nullptr;
      GetSupportedDevices = nullptr;
      CreateEp = nullptr;
    }
    if (fault("factory_without_name")) GetName = [](const OrtEpFactory*) { return ""; };
    if (fault("factory_name_throws")) GetName = [](const OrtEpFactory*) -> const char* { throw 1; };
    if (fault("devices_throw")) {
      GetSupportedDevices = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t, size_t*) -> OrtStatus* {
        throw std::runtime_error("thrown in GetSupportedDevices");
      };
    }
    if (fault("devices_hang")) {
      GetSupportedDevices = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t, size_t*) -> OrtStatus* {
        hang();
      };
    }
    if (fault("devices_without_memory")) {
      GetSupportedDevices = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t, size_t*) -> OrtStatus* {
        throw std::bad_alloc();
      };
    }
    if (fault("devices_too_many")) {
      GetSupportedDevices = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t, size_t* used) -> OrtStatus* {
        *used = 1000;
        return nullptr;
      };
    }
    if (fault("no_devices")) {
      GetSupportedDevices = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, OrtEpDevice**, size_t, size_t* used) -> OrtStatus* {
        *used = 0;
        return nullptr;
      };
    }
    if (fault("transfer_throws")) CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl**) -> OrtStatus* { throw 1; };
  }
};

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t, size_t* count) {
  if (fault("factories_without_memory")) throw std::bad_alloc();
  if (fault("factories_throw")) throw std::runtime_error("thrown in CreateEpFactories");
  if (fault("factories_hang")) hang();
  if (fault("no_factories")) return nullptr;
  OrtStatus* status = create_factory<FaultyFactory>(provider_name(), base, factories, count);
  if (fault("host_is_too_old")) {
    delete static_cast<FaultyFactory*>(factories[0]);
    *count = 0;
    return detail::host.api->CreateStatus(ORT_FAIL, "the provider needs API version 99");
  }
  if (fault("null_factory")) {
    delete static_cast<FaultyFactory*>(factories[0]);
    factories[0] = nullptr;
  }
  if (fault("too_many_factories")) {
    delete static_cast<FaultyFactory*>(factories[0]);
    *count = 1000;
  }
  return status;
}

ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<FaultyFactory*>(factory);
  if (fault("factory_release_throws")) throw std::bad_alloc();
  if (fault("leaks")) return detail::host.api->CreateStatus(ORT_FAIL, "3 allocations were not given back");
  return nullptr;
}
}
