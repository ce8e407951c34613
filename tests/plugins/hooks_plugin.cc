// A provider with the optional members of OrtEp: it compiles Add, Mul and Relu on float tensors into units, writes them into compiled
// models and makes them from such models again, and measures itself. Options: compatibility (what compiled models say of it).
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>

#include "kit.h"

namespace {

using namespace rh::test::kit;

constexpr char kName[] = "HooksExecutionProvider";

/// Lines "op a b out" over places: first the inputs, then the outputs, then what is between. Broadcasts over leading dimensions.
struct Program {
  size_t inputs = 0, outputs = 0;
  std::vector<std::tuple<std::string, size_t, size_t, size_t>> lines;

  std::string text() const {
    std::ostringstream out;
    out << inputs << ' ' << outputs;
    for (const auto& [op, a, b, to] : lines) out << ' ' << op << ' ' << a << ' ' << b << ' ' << to;
    return out.str();
  }
  static Program parse(const std::string& text) {
    std::istringstream in(text);
    Program program;
    if (!(in >> program.inputs >> program.outputs)) throw std::runtime_error("the context is no program: '" + text + "'");
    std::string op;
    for (size_t a, b, to; in >> op >> a >> b >> to;) program.lines.emplace_back(op, a, b, to);
    return program;
  }

  void run(OpKernelContext& context) const {
    std::map<size_t, std::vector<float>> at;
    std::vector<int64_t> shape;
    size_t most = 0;
    for (size_t i = 0; i < inputs; ++i) {
      const TensorView view = context.input(i);
      const auto* data = static_cast<const float*>(view.data);
      at[i].assign(data, data + view.elements());
      if (at[i].size() < most || (at[i].size() == most && view.shape.size() <= shape.size())) continue;
      most = at[i].size();
      shape = view.shape;
    }
    for (const auto& [op, a, b, to] : lines) {
      std::vector<float> result(most);
      for (size_t i = 0; i < most; ++i) {
        const float x = at[a][i % at[a].size()], y = at[b][i % at[b].size()];
        result[i] = op == "Add" ? x + y : op == "Mul" ? x * y : std::max(x, 0.0f);
      }
      at[to] = std::move(result);
    }
    for (size_t o = 0; o < outputs; ++o) {
      const TensorView view = context.output(o, shape);
      std::copy(at[inputs + o].begin(), at[inputs + o].end(), static_cast<float*>(view.data));
    }
  }
};

Program program_of(const GraphViewer& graph, const Node& node) {
  Program program;
  std::map<std::string, size_t> places;
  const auto place = [&](const NodeArg& value) { return places.emplace(value.name(), places.size()).first->second; };
  for (const NodeArg& input : node.inputs()) place(input);
  program.inputs = places.size();
  for (const NodeArg& output : node.outputs()) place(output);
  program.outputs = places.size() - program.inputs;
  for (const Node& inner : graph.nodes()) {
    const auto inputs = inner.inputs();
    const size_t a = place(inputs.front()), b = place(inputs.back());
    program.lines.emplace_back(inner.op_type(), a, b, place(inner.outputs()[0]));
  }
  return program;
}

class Hooks final : public IExecutionProvider {
 public:
  explicit Hooks(const OrtSessionOptions* given)
      : options(given),
        makes_contexts(config(given, "ep.context_enable") == "1"),
        embeds(config(given, "ep.context_embed_mode") == "1"),
        context_file(config(given, "ep.context_file_path")),
        compatibility(config(given, "ep.hooksexecutionprovider.compatibility")) {}

  std::vector<std::unique_ptr<ComputeCapability>> GetCapability(const GraphViewer& graph, const IKernelLookup&) const override {
    std::vector<std::unique_ptr<ComputeCapability>> taken;
    auto unit = std::make_unique<ComputeCapability>(std::vector<Node>(), true);
    for (const Node& node : graph.nodes()) {
      const std::string op = node.op_type();
      if (op == "EPContext" && string_attribute(node.raw(), "source") == kName)
        taken.push_back(std::make_unique<ComputeCapability>(node, true));
      if (op == "Add" || op == "Mul" || op == "Relu") unit->nodes.push_back(node);
    }
    if (!unit->nodes.empty()) taken.push_back(std::move(unit));
    return taken;
  }

  NodeComputeInfo Compile(const GraphViewer& graph, const Node& node) override {
    const Node first = graph.nodes().at(0);
    const bool loads = first.op_type() == "EPContext";
    auto program = std::make_shared<const Program>(loads ? Program::parse(read_context(first)) : program_of(graph, node));
    last_text = loads ? std::string() : program->text();
    return {[program](OpKernelContext& context) { program->run(context); }};
  }

  /// The node for the unit that was compiled last.
  OrtNode* make_context_node(const Node& fused) const {
    const OrtModelEditorApi& editor = *detail::host.api->GetModelEditorApi();
    const std::string name = fused.name(), file = name + ".bin";
    std::string content = last_text;
    if (!embeds) {
      write_context(file);
      content = file;
    }
    const int64_t embed = embeds, main = 1;
    OrtOpAttr* attributes[4] = {};
    const auto make = [&](size_t i, const char* key, const void* data, size_t size, OrtOpAttrType type) {
      detail::check(detail::host.api->CreateOpAttr(key, data, static_cast<int>(size), type, &attributes[i]));
    };
    make(0, "ep_cache_context", content.data(), content.size(), ORT_OP_ATTR_STRING);
    make(1, "embed_mode", &embed, 1, ORT_OP_ATTR_INT);
    make(2, "main_context", &main, 1, ORT_OP_ATTR_INT);
    make(3, "source", kName, sizeof(kName) - 1, ORT_OP_ATTR_STRING);
    std::vector<std::string> names;
    for (const NodeArg& input : fused.inputs()) names.push_back(input.name());
    const size_t inputs = names.size();
    for (const NodeArg& output : fused.outputs()) names.push_back(output.name());
    std::vector<const char*> raw;
    for (const std::string& text : names) raw.push_back(text.c_str());
    OrtNode* made = nullptr;
    detail::check(editor.CreateNode("EPContext", "com.microsoft", name.c_str(), raw.data(), inputs, raw.data() + inputs,
                                    names.size() - inputs, attributes, 4, &made));
    return made;
  }

  const OrtSessionOptions* options;
  bool makes_contexts, embeds;
  std::string context_file, compatibility;
  std::string last_text;

 private:
  struct Config {
    explicit Config(const OrtSessionOptions* options) { detail::check(detail::host.ep->SessionOptionsGetEpContextConfig(options, &raw)); }
    ~Config() { detail::host.ep->ReleaseEpContextConfig(raw); }
    OrtEpContextConfig* raw = nullptr;
  };

  void write_context(const std::string& file) const {
    const Config config(options);
    OrtWriteNamedBufferFunc write = nullptr;
    void* state = nullptr;
    detail::check(detail::host.ep->EpContextConfig_GetEpContextDataWriteFunc(config.raw, &write, &state));
    if (write) {
      detail::check(write(state, file.c_str(), last_text.data(), last_text.size()));
    } else {
      std::ofstream(context_file.substr(0, context_file.find_last_of('/') + 1) + file) << last_text;
    }
  }

  std::string read_context(const Node& node) const {
    const std::string content = string_attribute(node.raw(), "ep_cache_context");
    if (int_attribute(node.raw(), "embed_mode") == 1) return content;
    const Config config(options);
    OrtReadNamedBufferFunc read = nullptr;
    void* state = nullptr;
    detail::check(detail::host.ep->EpContextConfig_GetEpContextDataReadFunc(config.raw, &read, &state));
    if (!read) throw std::runtime_error("there is no function to read '" + content + "'");
    OrtAllocator* allocator = nullptr;
    detail::check(detail::host.api->GetAllocatorWithDefaultOptions(&allocator));
    void* data = nullptr;
    size_t size = 0;
    detail::check(read(state, content.c_str(), allocator, &data, &size));
    const std::string text(static_cast<const char*>(data), size);
    allocator->Free(allocator, data);
    return text;
  }
};

/// Reports how many events it saw, and each run as an event of its own.
struct Profiler : OrtEpProfilerImpl {
  Profiler() : OrtEpProfilerImpl{} {
    ort_version_supported = detail::host.version;
    OrtEpProfilerImpl::Release = [](OrtEpProfilerImpl* self) { delete static_cast<Profiler*>(self); };
    StartProfiling = [](OrtEpProfilerImpl*, int64_t offset) -> OrtStatus* {
      return offset >= 0 ? nullptr : detail::host.api->CreateStatus(ORT_FAIL, "profiling begins in the future");
    };
    StartEvent = [](OrtEpProfilerImpl* self, uint64_t) -> OrtStatus* {
      ++static_cast<Profiler*>(self)->started;
      return nullptr;
    };
    StopEvent = [](OrtEpProfilerImpl* self, uint64_t, const OrtProfilingEvent* event) {
      return detail::guard([&] { static_cast<Profiler*>(self)->stop(event); });
    };
    EndProfiling = [](OrtEpProfilerImpl* self, OrtProfilingEventsContainer* container) {
      return detail::guard([&] { static_cast<Profiler*>(self)->finish(container); });
    };
  }
  void stop(const OrtProfilingEvent* event) {
    const char* name = nullptr;
    int64_t begin = 0, duration = 0;
    detail::check(detail::host.ep->ProfilingEvent_GetName(event, &name));
    detail::check(detail::host.ep->ProfilingEvent_GetTimestampUs(event, &begin));
    detail::check(detail::host.ep->ProfilingEvent_GetDurationUs(event, &duration));
    ++stopped;
    if (std::string(name) != "model_run") return;
    ++runs;
    last_begin = begin;
    last_duration = duration;
  }
  void finish(OrtProfilingEventsContainer* container) const {
    const std::string counts[] = {std::to_string(started), std::to_string(stopped), std::to_string(runs)};
    const char* keys[] = {"started", "stopped", "runs"};
    const char* values[] = {counts[0].c_str(), counts[1].c_str(), counts[2].c_str()};
    OrtProfilingEvent* event = nullptr;
    detail::check(detail::host.ep->CreateProfilingEvent(OrtProfilingEventCategory_KERNEL, 7, 8, "hooks \"work\"", last_begin, last_duration,
                                                        keys, values, 3, &event));
    const OrtProfilingEvent* events[] = {event};
    OrtStatus* status = detail::host.ep->ProfilingEventsContainer_AddEvents(container, events, 1);
    detail::host.ep->ReleaseProfilingEvent(event);
    detail::check(status);
  }
  std::atomic<int> started{0}, stopped{0}, runs{0};
  std::atomic<int64_t> last_begin{0}, last_duration{0};
};

struct HooksEp : detail::EpTable<Hooks> {
  HooksEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** nodes, size_t count, OrtNodeComputeInfo** infos,
                 OrtNode** contexts) {
      return detail::guard([&] {
        Hooks& hooks = static_cast<HooksEp*>(self)->provider;
        for (size_t i = 0; i < count; ++i) {
          infos[i] = new detail::UnitTable(hooks.Compile(GraphViewer(graphs[i]), Node(nodes[i])));
          if (hooks.makes_contexts && !hooks.last_text.empty()) contexts[i] = hooks.make_context_node(Node(nodes[i]));
        }
      });
    };
    GetCompiledModelCompatibilityInfo = [](OrtEp* self, const OrtGraph*) {
      return static_cast<HooksEp*>(self)->provider.compatibility.c_str();
    };
    GetEpContextDataCallbackSupport = [](const OrtEp*, uint32_t* support) -> OrtStatus* {
      *support = 3;
      return nullptr;
    };
    CreateProfiler = [](OrtEp*, OrtEpProfilerImpl** out) { return detail::guard([&] { *out = new Profiler; }); };
  }
};

struct HooksFactory : TestFactory<HooksEp, ProviderTraits> {
  explicit HooksFactory(const char* name) : TestFactory(name) {
    ValidateCompiledModelCompatibilityInfo = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t, const char* info,
                                                OrtCompiledModelCompatibility* out) -> OrtStatus* {
      const std::string text = info;
      *out = text == "optimal" ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
             : text == "worse" ? OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION
                               : OrtCompiledModelCompatibility_EP_UNSUPPORTED;
      return nullptr;
    };
  }
};

}  // namespace

RH_EXPORT_TEST_PLUGIN(HooksFactory, kName)
