// Constants at addresses of a file that their types do not allow: who takes them gets copies, and nobody else has any.
#include "session/compile/alignment.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "graph/constant_addresses.h"
#include "graph/text_print.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "session/compile/compile.h"
#include "session/run_helpers.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

constexpr int64_t kRows = 64, kWidth = 32;

constexpr const char* kText = R"(<ir_version: 8, opset_import: ["" : 17]>
main (int64[2] i, float[2, 1, 8, 8] p) => (float[2, 32] y, float[2, 40, 1, 1] q)
< float[64, 32] w = {0, ...}, float[32, 32] v = {0, ...}, float[40, 1, 8, 8] k = {0, ...},
  float[40, 1, 1] s = {3, ...} > {
  [rows] r = Gather (w, i)
  [product] m = MatMul (r, v)
  [end] y = Relu (m)
  [window] c = Conv (p, k)
  [scale] q = Mul (c, s)
})";

Tensor counted(Shape shape, float step) {
  Tensor tensor(DType::float32, std::move(shape));
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i % 97) * step;
  return tensor;
}

/// In a file whose graph's name moves all constants through the addresses.
std::string write_file_of(int padding) {
  Model model = parse_model(kText);
  Graph& graph = *model.graph;
  graph.set_initializer(graph.find_value("w"), counted({kRows, kWidth}, 1));
  graph.set_initializer(graph.find_value("v"), counted({kWidth, kWidth}, 0.25f));
  graph.set_initializer(graph.find_value("k"), counted({40, 1, 8, 8}, 0.5f));
  graph.name = std::string(static_cast<size_t>(padding) + 1, 'g');
  const std::string path = ::testing::TempDir() + "roundhouse_alignment.onnx";
  onnx::write_model_file(model, path);
  return path;
}

bool is_aligned(const Tensor& tensor) { return is_aligned_for(tensor.dtype(), reinterpret_cast<uintptr_t>(tensor.raw())); }

bool lies_in(const MappedFile& file, const Tensor& tensor) {
  const auto* at = static_cast<const std::byte*>(tensor.raw());
  return at >= file.bytes().data() && at < file.bytes().data() + file.bytes().size();
}

/// Bytes of constants that are no file's.
size_t copied_bytes(const Graph& graph, const MappedFile& file) {
  size_t bytes = 0;
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const Tensor* tensor = graph.value(id).constant_tensor();
    if (tensor && !lies_in(file, *tensor)) bytes += tensor->bytes();
  }
  return bytes;
}

/// A session's model before it has kernels; `nodes`: those of a device, null where the session has none.
PlacedModel placed(const std::string& path, const std::set<std::string>* nodes, DeviceSetup setup = {}) {
  SessionOptions options;
  if (nodes) {
    setup.takes = [nodes = *nodes](const Node& node) { return nodes.contains(node.name); };
    options.providers.push_back({setup.name, {}, [setup](auto) { return make_device_provider(setup); }});
  }
  return place(onnx::read_model(path, {.tables_in_place = true, .weights_in_place = nodes != nullptr}), options, Parallel());
}

/// Node by node, and constants bit for bit.
void expect_same(const Graph& a, const Graph& b) {
  EXPECT_EQ(print(a), print(b));
  ASSERT_EQ(a.value_count(), b.value_count());
  for (ValueId id = 0; id < a.value_count(); ++id) {
    const Tensor *ours = a.value(id).constant_tensor(), *theirs = b.value(id).constant_tensor();
    ASSERT_EQ(ours != nullptr, theirs != nullptr) << a.value(id).name;
    EXPECT_TRUE(!ours || identical(ours->view(), theirs->view())) << a.value(id).name;
  }
}

const std::set<std::string> kNothing = {};

TEST(Alignment, OfAProviderThatTakesNothingIsAsOfTheCpuAlone) {
  for (int padding = 0; padding < 4; ++padding) {
    const std::string path = write_file_of(padding);
    const auto file = MappedFile::shared(InputFile(path));
    const PlacedModel alone = placed(path, nullptr), idle = placed(path, &kNothing);
    expect_same(*idle.model.graph, *alone.model.graph);
    EXPECT_EQ(copied_bytes(*idle.model.graph, *file), copied_bytes(*alone.model.graph, *file)) << padding;
  }
}

TEST(Alignment, TheReaderLeavesTablesAndWeightsInTheFile) {
  int unaligned = 0;
  for (int padding = 0; padding < 4; ++padding) {
    const std::string path = write_file_of(padding);
    const auto file = MappedFile::shared(InputFile(path));
    const Model model = onnx::read_model(path, {.weights_in_place = true});
    const Graph& graph = *model.graph;
    const Tensor& table = *graph.value(graph.find_value("w")).constant_tensor();
    EXPECT_TRUE(is_aligned(table)) << "only weights may stay";
    EXPECT_FALSE(is_weights(graph, graph.find_value("w")));
    EXPECT_FALSE(is_weights(graph, graph.find_value("s")));
    for (const char* name : {"v", "k"}) {
      const ValueId id = graph.find_value(name);
      EXPECT_TRUE(is_weights(graph, id)) << name;
      const Tensor& weights = *graph.value(id).constant_tensor();
      EXPECT_EQ(lies_in(*file, weights), weights.bytes() >= 4096) << name;
      unaligned += !is_aligned(weights);
    }
  }
  EXPECT_EQ(unaligned, 6);
}

TEST(Alignment, WhoTakesNodesGetsAlignedConstants) {
  for (const std::set<std::string>& nodes : {std::set<std::string>{"rows"}, {"product"}, {"rows", "product", "window"}}) {
    for (const bool compiles : {false, true}) {
      for (int padding = 0; padding < 4; ++padding) {
        PlacedModel model = placed(write_file_of(padding), &nodes, {.compiles = compiles});
        const Graph& graph = *model.model.graph;
        size_t units = 0;
        const auto check = [&](const Graph& of, const Node& node) {
          for (ValueId input : node.inputs) {
            const Tensor* tensor = input == kNoValue ? nullptr : of.value(input).constant_tensor();
            EXPECT_TRUE(!tensor || is_aligned(*tensor)) << node.name << ", " << of.value(input).name << ", " << padding;
          }
        };
        for (NodeId id : graph.nodes()) {
          const NodeAssignment& assigned = model.assignment.of(graph, id);
          if (assigned.provider != 0) continue;
          check(graph, graph.node(id));
          if (!assigned.unit) continue;
          ++units;
          const Graph& body = *assigned.unit->body;
          for (NodeId inner : body.nodes()) check(body, body.node(inner));
          for (const std::string& input : assigned.unit->inputs) {
            const ValueId outer = graph.find_value(input), own = body.find_value(input);
            if (!graph.value(outer).is_constant()) continue;
            EXPECT_EQ(graph.value(outer).constant_tensor()->raw(), body.value(own).constant_tensor()->raw()) << "a copy for both";
          }
        }
        EXPECT_EQ(units > 0, compiles);
      }
    }
  }
}

TEST(Alignment, ConstantsFoldAndScaleFromAnyAddress) {
  std::vector<float> first;
  for (int padding = 0; padding < 4; ++padding) {
    SessionOptions options;
    DeviceSetup setup;
    setup.takes = [](const Node&) { return false; };
    options.providers.push_back({setup.name, {}, [setup](auto) { return make_device_provider(setup); }});
    const auto session = Session::create(write_file_of(padding), options);
    const std::vector<int64_t> rows = {5, 63};
    const std::vector<Value> results = run(*session, {{"i", Tensor::ints(rows)}, {"p", filled({2, 1, 8, 8}, 1)}}, {"y", "q"});
    std::vector<float> values = elements(results[0]);
    const std::vector<float> more = elements(results[1]);
    values.insert(values.end(), more.begin(), more.end());
    if (padding == 0) first = values;
    EXPECT_EQ(values, first) << padding;
  }
  double sum = 0;  // of the first kernel, scaled
  for (int i = 0; i < 64; ++i) sum += i * 0.5 * 3;
  EXPECT_EQ(first[2 * kWidth], sum);
}

}  // namespace
}  // namespace rh::test
