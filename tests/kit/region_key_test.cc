// What regions are known by in the cache: equal where they compute the same under the same names, else not.
#include "providers/kit/cache/region_key.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "graph/text_parse.h"

namespace rh {

namespace {

kit::Region region_of(std::string_view text) {
  std::shared_ptr<Graph> graph = parse_graph(text);
  return {graph, graph->inputs(), graph->outputs()};
}

std::string key_of(std::string_view text, std::string_view context = "") { return kit::content_key(region_of(text), context); }

std::string with_head(std::string_view text) { return R"(<ir_version: 8, opset_import: ["" : 17]> main )" + std::string(text); }

constexpr char kBase[] = R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} >
  { [add] m = Add (x, w)
    [soft] y = Softmax <axis = -1> (m) })";

constexpr char kBody[] = R"((float[4] x, bool[] c) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 1, 1, 1} >
  { [if] y = If <then_branch = t () => (float[4] a) { [t1] a = Add (x, w) },
                 else_branch = e () => (float[4] b) < float[4] own = {9, 8, 9, 9} > { [e1] b = Mul (x, own) }> (c) })";

TEST(KitRegionKey, DoesNotDependOnNamesWithin) {
  EXPECT_EQ(key_of(with_head(kBase)), key_of(with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] weight = {4, 3, 2, 1} >
    { [n1] sum = Add (x, weight)
      [n2] y = Softmax <axis = -1> (sum) })")));
}

TEST(KitRegionKey, DependsOnAllElse) {
  const std::string texts[] = {
      with_head(kBase),
      with_head(R"((float[N, 4] x) => (float[N, 4] z) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) z = Softmax <axis = -1> (m) })"),
      with_head(R"((float[M, 4] x) => (float[M, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 2} > { m = Add (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[1, 4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Mul (x, w) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (w, x) y = Softmax <axis = -1> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax <axis = 0> (m) })"),
      with_head(R"((float[N, 4] x) => (float[N, 4] y) < float[4] w = {4, 3, 2, 1} > { m = Add (x, w) y = Softmax (m) })"),
      R"(<ir_version: 8, opset_import: ["" : 16]> main )" + std::string(kBase),
      with_head(kBody),
      with_head(R"((float[4] x, bool[] c) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 1, 1, 1} >
        { y = If <then_branch = t () => (float[4] a) { a = Add (x, v) },
                  else_branch = e () => (float[4] b) < float[4] own = {9, 8, 9, 9} > { b = Mul (x, own) }> (c) })"),
      with_head(R"((float[4] x, bool[] c) => (float[4] y) < float[4] w = {4, 3, 2, 1}, float[4] v = {1, 1, 1, 1} >
        { y = If <then_branch = t () => (float[4] a) { a = Add (x, w) },
                  else_branch = e () => (float[4] b) < float[4] own = {9, 8, 9, 8} > { b = Mul (x, own) }> (c) })"),
  };
  std::map<std::string, size_t> keys;
  for (size_t i = 0; i < std::size(texts); ++i) {
    const auto [known, is_new] = keys.emplace(key_of(texts[i]), i);
    EXPECT_TRUE(is_new) << i << " has the key of " << known->second;
  }
  EXPECT_NE(key_of(texts[0]), key_of(texts[0], "least_nodes=2"));
}

/// A region of one addition with a constant of 72 MB, which may lie in a file.
kit::Region large_region(const std::string& file, float last) {
  auto graph = std::make_shared<Graph>();
  graph->opset_imports[""] = 17;
  constexpr int64_t kElements = 18'000'000;
  const ValueId x = graph->add_input("x", ValueType::tensor(DType::float32, SymbolicShape{kElements}));
  Tensor weights(DType::float32, Shape{kElements});
  std::fill_n(weights.data<float>(), kElements, 1.0f);
  weights.data<float>()[kElements - 1] = last;
  if (!file.empty()) write_file(file, {reinterpret_cast<const char*>(weights.data<float>()), weights.bytes()});
  const size_t bytes = weights.bytes();
  const ValueId w = graph->add_initializer("w", Value(std::move(weights)));
  if (!file.empty()) graph->set_external(w, {file_name(file), 0, bytes});
  const ValueId y = graph->add_value("y", graph->value(x).type);
  Node add;
  add.op_type = "Add";
  add.inputs = {x, w};
  add.outputs = {y};
  graph->add_node(std::move(add));
  graph->add_output(y);
  return {graph, {x}, {y}};
}

TEST(KitRegionKey, OfLargeConstantsGoesByTheirFile) {
  const std::string folder = std::filesystem::temp_directory_path() / fmt::format("rh_region_key_{}", ::getpid());
  std::filesystem::create_directory(folder);
  const std::string file = folder + "/weights", model = folder + "/model.onnx";
  const kit::RegionKey first = kit::quick_key(large_region(file, 1), "", model);
  EXPECT_EQ(first.content, "");
  EXPECT_NE(first.name, "");
  const std::string same = kit::quick_key(large_region("", 1), "", model).name;
  EXPECT_NE(same, first.name);  // memory: hashed whole
  const kit::Region region = large_region(file, 2);
  const kit::RegionKey changed = kit::quick_key(region, "", model);
  EXPECT_NE(changed.name, first.name);
  EXPECT_NE(kit::content_key(region, ""), kit::content_key(large_region("", 1), ""));
  EXPECT_EQ(kit::content_key(region, ""), kit::content_key(large_region("", 2), ""));
  EXPECT_EQ(kit::quick_key(region, "", model).name, changed.name);
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_NE(kit::quick_key(region, "", model).name, changed.name);
  std::filesystem::remove(file);
  EXPECT_EQ(kit::quick_key(region, "", model).name, kit::quick_key(large_region("", 2), "", model).name);
  std::filesystem::remove_all(folder);
}

TEST(KitRegionKey, OfLargeConstantsOfTheModelItselfGoesByItsFile) {
  const std::string model = std::filesystem::temp_directory_path() / fmt::format("rh_region_key_{}.onnx", ::getpid());
  write_file(model, "a model");
  const kit::Region region = large_region("", 1);
  const kit::RegionKey first = kit::quick_key(region, "", model);
  EXPECT_EQ(first.content, "");
  EXPECT_EQ(kit::quick_key(large_region("", 1), "", model).name, first.name);
  EXPECT_NE(kit::quick_key(region, "", "").name, first.name);
  EXPECT_NE(kit::quick_key(large_region("", 2), "", model).name, first.name);  // other samples
  write_file(model, "another");
  EXPECT_NE(kit::quick_key(region, "", model).name, first.name);
  std::filesystem::remove(model);
}

}  // namespace

}  // namespace rh
