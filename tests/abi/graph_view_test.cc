// Graph views, against what the stock library tells a plugin of the same model.
#include "abi/graph_view.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "capi/table.h"
#include "graph/text_parse.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "ops/inference.h"
#include "plugins/graph_dump.h"

namespace rh {

namespace {

using test::dump_graph;
using test::dump_node;
using test::Order;

struct ViewCase {
  const char* purpose;
  const char* text;
  const char* claim = "";            ///< operators whose nodes are looked at, and compiled, as a graph of their own
  size_t external_bytes = SIZE_MAX;  ///< larger initializers stand in a file beside the model
};

const ViewCase kCases[] = {
    {"inputs, initializers that may and may not be overridden, outputs in the middle, left-out inputs and outputs",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 4] x, float[4] over = {1, 2, 3, 4}) => (float[N, 4] y, float[N, 4] middle)
        < float[4] w = {4, 3, 2, 1}, float[] limit = {5} >
        { [add] middle = Add (x, w)
          [clip] c = Clip (middle, _, limit)
          [drop] d, _ = Dropout (c)
          [mul] y = Mul (d, over) })",
     "Clip,Dropout"},
    {"attributes of each kind, defaults among them",
     R"(<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
        main (float[1, 3, 8, 8] x, string[K] s, int64[2] shape) => (float[...] y, int64[K] labels, float[...] filled, float[...] up)
        < float[2, 3, 3, 3] w = {1, ...}, float[] scales_off = {1} >
        { [conv] c = Conv <pads = [1, 1, 1, 1], auto_pad = "NOTSET"> (x, w)
          [leaky] y = LeakyRelu <alpha = 0.25> (c)
          [encode] labels = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "bc", ""], values_int64s = [1, 2, 3]> (s)
          [fill] filled = ConstantOfShape <value = float[1] {2.5}> (shape)
          [soft] up = Softmax (y) })",
     "Conv,LeakyRelu"},
    {"subgraphs that take values, initializers and inputs of the graphs around them",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 4] x, bool[] c, float[4] over = {1, 2, 3, 4}) => (float[N, 4] z)
        < float[4] w = {4, 3, 2, 1}, float[4] deep = {7, 7, 7, 7} >
        { [add] m = Add (x, w)
          [if] y = If <then_branch = t () => (float[N, 4] a) {
                [inner] b = If <then_branch = tt () => (float[N, 4] p) { [tmul] p = Mul (m, deep) },
                        else_branch = te () => (float[N, 4] q) { [tsub] q = Sub (x, over) }> (c)
                [tadd] a = Add (b, over) },
              else_branch = e () => (float[N, 4] d) < float[4] own = {9, 9, 9, 9} > { [esub] d = Sub (m, own) }> (c)
          [neg] z = Neg (y) })",
     "Neg"},
    {"a node with subgraphs among those compiled",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 4] x, bool[] c, float[4] over = {1, 2, 3, 4}) => (float[N, 4] z)
        < float[4] deep = {7, 7, 7, 7} >
        { [abs] m = Abs (x)
          [if] y = If <then_branch = t () => (float[N, 4] a) { [tadd] a = Add (m, over) },
              else_branch = e () => (float[N, 4] d) < float[4] own = {9, 9, 9, 9} > { [emul] k = Mul (x, own) [esub] d = Sub (k, deep) }> (c)
          [neg] z = Neg (y) })",
     "If,Neg"},
    {"initializers outside of the model file",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 64] x) => (float[N, 64] y)
        < float[64, 64] large = {1, ...}, float[64] small = {2, ...} >
        { [mm] a = MatMul (x, large)
          [add] y = Add (a, small) })",
     "MatMul", 1024},
    {"a loop, sequences and sizes that only a run tells",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (int64[] trips, bool[] go, float[A] x) => (float[A] last, int64[2, ?] found, seq(float[...]) list)
        < int64[1] axes = {0} >
        { [loop] last = Loop <body = b (int64[] i, bool[] keep, float[A] v) => (bool[] more, float[A] next) {
              [same] more = Identity (keep)
              [twice] next = Add (v, x) }> (trips, go, x)
          [nonzero] found = NonZero (pair)
          [pair] pair = Unsqueeze (last, axes)
          [seq] list = SequenceConstruct (x, pair) })",
     "NonZero"},
};

class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / ("rh_graph_view_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The views that the plugin of the tests writes down, made here.
class OurViews {
 public:
  OurViews(const std::string& path, const std::string& claim) : claim_(claim), model_(onnx::read_model(path)) {
    infer_types(*model_.graph);
    view_ = abi::make_graph_view(*model_.graph, {.model = std::make_shared<const ModelInfo>(model_)});
    visit(*view_);
  }

  std::string text;

 private:
  void visit(const OrtGraph& graph) {
    for (const auto& node : graph.nodes) {
      std::map<std::string, const OrtGraph*> sorted;
      for (const auto& subgraph : node->subgraphs) sorted.emplace(subgraph.attribute, subgraph.graph.get());
      for (const auto& [name, subgraph] : sorted) visit(*subgraph);
    }
    text += "== capability\n" + dump_graph(capi::kApi, graph);
    std::vector<const OrtNode*> all, claimed;
    for (const auto& node : graph.nodes) {
      all.push_back(node.get());
      if (("," + claim_ + ",").find("," + node->op_type + ",") != std::string::npos) claimed.push_back(node.get());
    }
    text += "== view of all\n" + dump_graph(capi::kApi, *abi::make_subset_view(graph, all), Order::by_name);
    if (claimed.empty()) return;
    text += "== view of claimed\n" + dump_graph(capi::kApi, *abi::make_subset_view(graph, claimed), Order::by_name);
    const auto compiled = abi::make_subset_view(graph, claimed, {.name = "fused", .constants_are_inputs = true});
    const auto fused = abi::make_fused_node(*compiled, 100, "fused", "Dump");
    text += "== compile\n" + dump_graph(capi::kApi, *compiled, Order::by_name) + "== fused\n" + dump_node(capi::kApi, *fused);
  }

  std::string claim_;
  Model model_;
  std::unique_ptr<OrtGraph> view_;
};

void check(const OrtApi& api, OrtStatus* status) {
  if (!status) return;
  const std::string message = api.GetErrorMessage(status);
  api.ReleaseStatus(status);
  throw std::runtime_error(message);
}

/// Makes a session in the library with the plugin and gives what the plugin wrote.
std::string views_in(const OrtApi& api, OrtEnv* env, const std::string& model, const std::string& claim, const std::string& to) {
  ::setenv("RH_GRAPH_DUMP", to.c_str(), 1);
  ::setenv("RH_GRAPH_DUMP_CLAIM", claim.c_str(), 1);
  write_file(to, "");
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  check(api, api.GetEpDevices(env, &devices, &count));
  OrtSessionOptions* options = nullptr;
  check(api, api.CreateSessionOptions(&options));
  check(api, api.SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL));
  for (size_t i = 0; i < count; ++i) {
    if (std::string(api.EpDevice_EpName(devices[i])) != "Dump") continue;
    check(api, api.SessionOptionsAppendExecutionProvider_V2(options, env, &devices[i], 1, nullptr, nullptr, 0));
  }
  OrtSession* session = nullptr;
  check(api, api.CreateSession(env, model.c_str(), options, &session));
  api.ReleaseSession(session);
  api.ReleaseSessionOptions(options);
  return read_file(to);
}

/// With one name for what is fused, whatever the library calls it.
std::string with_plain_names(const std::string& text) {
  static const std::regex fused("(Dump_)+[0-9]+_[0-9]+(_[0-9]+)?");
  return std::regex_replace(text, fused, "fused");
}

/// The parts in alphabetical order: subgraphs are asked about in any order.
std::string with_sorted_parts(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find("\n== ", begin), text.size() - 1) + 1;
    parts.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  std::ranges::sort(parts);
  std::string sorted;
  for (const std::string& part : parts) sorted += part;
  return sorted;
}

/// The first line in which two texts differ, with the one before; empty where they are equal.
std::string first_difference(const std::string& ours, const std::string& theirs) {
  std::istringstream a(ours), b(theirs);
  std::string line_a, line_b, before;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(a, line_a)), more_b = static_cast<bool>(std::getline(b, line_b));
    if (!more_a && !more_b) return {};
    if (more_a != more_b || line_a != line_b) {
      return "after:  " + before + "\nours:   " + (more_a ? line_a : "(end)") + "\ntheirs: " + (more_b ? line_b : "(end)");
    }
    before = line_a;
  }
}

class StockEnv {
 public:
  explicit StockEnv(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    api = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"))()->GetApi(ORT_API_VERSION);
    check(*api, api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "test", &env));
    check(*api, api->RegisterExecutionProviderLibrary(env, "Dump", RH_BUILD_DIR "/lib/graph_dump_plugin.so"));
  }
  ~StockEnv() {
    check(*api, api->UnregisterExecutionProviderLibrary(env, "Dump"));
    api->ReleaseEnv(env);
  }

  const OrtApi* api = nullptr;
  OrtEnv* env = nullptr;
};

}  // namespace

TEST(graph_view, tells_what_the_stock_library_tells) {
  const char* stock = std::getenv("RH_STOCK_ORT");
  if (!stock || !*stock) GTEST_SKIP() << "RH_STOCK_ORT names no library to compare with";
  const StockEnv library(stock);
  const TempFolder folder;
  for (const ViewCase& c : kCases) {
    SCOPED_TRACE(c.purpose);
    const std::string path = folder / "model.onnx";
    onnx::write_model_file(parse_model(c.text), path, c.external_bytes);
    const std::string theirs = views_in(*library.api, library.env, path, c.claim, folder / "views.txt");
    EXPECT_EQ(first_difference(with_sorted_parts(OurViews(path, c.claim).text), with_sorted_parts(with_plain_names(theirs))), "");
  }
}

TEST(graph_view, shows_initializers_at_addresses_that_their_types_allow) {
  Model model = parse_model(R"(<ir_version: 8, opset_import: ["" : 17]>
    main (float[4] x) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 2, 3, 4} > { s = Add (x, w) y = Mul (s, v) })");
  Graph& graph = *model.graph;
  const ValueId w = graph.find_value("w"), v = graph.find_value("v");
  alignas(16) std::byte bytes[32] = {};
  const float values[] = {4, 3, 2, 1};
  std::memcpy(bytes + 1, values, sizeof(values));
  graph.set_initializer(w, Tensor(DType::float32, {4}, bytes + 1, nullptr));
  const void* elsewhere = graph.value(v).constant_tensor()->raw();
  const auto info = std::make_shared<const ModelInfo>(model);

  const auto strict = abi::make_graph_view(graph, {info, {}});
  const OrtValue* shown = nullptr;
  ASSERT_EQ(capi::kApi.ValueInfo_GetInitializerValue(strict->find("w"), &shown), nullptr);
  const Tensor& copy = shown->value.tensor();
  EXPECT_NE(copy.raw(), bytes + 1);
  EXPECT_TRUE(is_aligned_for(DType::float32, reinterpret_cast<uintptr_t>(copy.raw())));
  EXPECT_TRUE(identical(copy.view(), Tensor::from<float>({4}, values).view()));
  const OrtValue* again = nullptr;
  ASSERT_EQ(capi::kApi.ValueInfo_GetInitializerValue(strict->find("w"), &again), nullptr);
  EXPECT_EQ(again, shown) << "addresses stay as long as the view lives";
  EXPECT_EQ(strict->find("v")->initializer->shown().value.tensor().raw(), elsewhere) << "no copy";

  const auto any = abi::make_graph_view(graph, {info, {}, true});
  EXPECT_EQ(any->find("w")->initializer->shown().value.tensor().raw(), bytes + 1);
}

}  // namespace rh
