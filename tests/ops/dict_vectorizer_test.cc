#include "ops/inference.h"
#include "providers/cpu/kernel.h"
#include "support/op_case.h"

namespace rh::test {
namespace {

/// The node applied to a map by itself.
Value applied(const char* op_type, const std::vector<Attribute>& attributes, Map map, ValueType in) {
  Graph graph;
  graph.opset_imports["ai.onnx.ml"] = 1;
  Node node;
  node.op_type = op_type;
  node.domain = "ai.onnx.ml";
  node.opset = 1;
  node.attributes = attributes;
  node.inputs = {graph.add_input("x", std::move(in))};
  node.outputs = {graph.add_value("y")};
  const NodeId id = graph.add_node(std::move(node));
  infer_types(graph);
  const std::vector<Value> inputs = {std::move(map)};
  Value result = std::move(cpu::evaluate_node(graph, graph.node(id), inputs)[0]);
  const TensorType& inferred = graph.value(graph.node(id).outputs[0]).type.tensor();
  EXPECT_EQ(inferred.dtype, result.tensor().dtype());
  return result;
}

template <typename T>
Tensor list(const std::vector<T>& values) {
  return Tensor::from<T>({static_cast<int64_t>(values.size())}, values);
}
template <typename T>
std::vector<T> elements(const Value& value) {
  const auto span = value.tensor().span<T>();
  return {span.begin(), span.end()};
}
using Names = std::vector<std::string>;
using Longs = std::vector<int64_t>;
using Floats = std::vector<float>;

ValueType map_type(DType key, DType value) { return ValueType::map_of(key, ValueType::tensor(value, SymbolicShape{})); }

TEST(MapOps, DictVectorizer) {
  const std::vector<Attribute> names = {attr("string_vocabulary", Names{"a", "b", "c"})};
  EXPECT_EQ(elements<float>(applied("DictVectorizer", names, {list(Names{"c", "a", "x"}), list(Floats{3, 1, 9})},
                                    map_type(DType::string, DType::float32))),
            (Floats{1, 0, 3}));
  const std::vector<Attribute> numbers = {attr("int64_vocabulary", {5, 2})};
  EXPECT_EQ(elements<std::string>(
                applied("DictVectorizer", numbers, {list(Longs{2}), list(Names{"two"})}, map_type(DType::int64, DType::string))),
            (Names{"", "two"}));
  EXPECT_THROW(applied("DictVectorizer", numbers, {list(Names{"a"}), list(Floats{1})}, map_type(DType::string, DType::float32)), Error);
}

TEST(MapOps, CastMap) {
  const ValueType floats = map_type(DType::int64, DType::float32), texts = map_type(DType::int64, DType::string);
  const Map map{list(Longs{0, 3}), list(Floats{1.5f, -2})};
  EXPECT_EQ(elements<float>(applied("CastMap", {}, map, floats)), (Floats{1.5f, -2}));
  EXPECT_EQ(elements<int64_t>(applied("CastMap", {attr("cast_to", "TO_INT64")}, map, floats)), (Longs{1, -2}));
  EXPECT_EQ(elements<std::string>(applied("CastMap", {attr("cast_to", "TO_STRING")}, map, floats)), (Names{"1.500000", "-2.000000"}));
  EXPECT_EQ(elements<float>(applied("CastMap", {attr("map_form", "SPARSE"), attr("max_map", 5)}, map, floats)),
            (Floats{1.5f, 0, 0, -2, 0}));
  EXPECT_EQ(elements<int64_t>(applied("CastMap", {attr("cast_to", "TO_INT64")}, {list(Longs{1}), list(Names{"12"})}, texts)), Longs{12});
  EXPECT_THROW(applied("CastMap", {}, {list(Longs{1}), list(Names{"no number"})}, texts), Error);
  EXPECT_THROW(applied("CastMap", {attr("map_form", "SPARSE"), attr("max_map", 3)}, map, floats), Error);
}

}  // namespace
}  // namespace rh::test
