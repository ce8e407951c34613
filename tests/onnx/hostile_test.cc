#include <random>

#include "onnx/reader.h"
#include "onnx/type_reader.h"
#include "onnx/writer.h"
#include "protos.h"
#include "support/memory_limit.h"

namespace rh::onnx::test {
namespace {

/// A model with a bit of everything.
std::string rich_model() {
  const Message sparse = Message()
                             .add(field::sparse_tensor::values, float_tensor("s", {3}))
                             .add(field::sparse_tensor::indices, tensor(DType::int64, {1}).packed_numbers(field::tensor::int64_data, {1}))
                             .number(field::sparse_tensor::dims, 4);
  const Message branch = GraphText{{}, {"r"}, {NodeText{"Add", {"x", "w"}, {"r"}}}};
  const Message function = FunctionText{"F",     {"a"},
                                        {"b"},   {NodeText{"Softmax", {"a"}, {"b"}, {reference("axis", "dim", AttributeType::integer)}}},
                                        {"dim"}, {int_attribute("other", 1)}};
  Message graph = GraphText{{"c", "x"},
                            {"y"},
                            {NodeText{"If", {"c"}, {"h"}, {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)}},
                             NodeText{"local::F", {"h"}, {"y"}, {int_attribute("dim", 0)}, "call"}},
                            {float_tensor("w", {1, 2}), tensor(DType::int4, {3}, "p").text(field::tensor::raw_data, "ab"),
                             tensor(DType::string, {1}, "t").text(field::tensor::string_data, "text")}};
  graph.add(field::graph::sparse_initializer, sparse).add(field::graph::value_info, value_info("h"));
  return model(graph, 10, {function}).text(field::model::producer_name, "maker").bytes();
}

/// Reads; an Error is an answer too. Returns whether it was read.
bool reads(const std::string& bytes) {
  try {
    const Model model = read_model(as_span(bytes));
    write_model(model);
    return true;
  } catch (const Error& error) {
    EXPECT_FALSE(error.message().empty());
    return false;
  }
}

TEST(Hostile, EveryPrefix) {
  const std::string whole = rich_model();
  ASSERT_TRUE(reads(whole));
  int readable = 0;
  for (size_t length = 0; length < whole.size(); ++length) readable += reads(whole.substr(0, length));
  // Only cuts between two fields of the model itself can go unseen.
  EXPECT_LT(readable, 5);
}

TEST(Hostile, EveryByteChanged) {
  const std::string whole = rich_model();
  std::minstd_rand random(1);
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff, static_cast<int>(random() % 255) + 1}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ change);
      reads(changed);
    }
  }
}

TEST(Hostile, SmallFilesTakeLittleMemory) {
  const int64_t huge = int64_t{1} << 28;
  const Message indices = tensor(DType::int64, {1}).packed_numbers(field::tensor::int64_data, {1});
  Message sparse_graph = GraphText{{}, {"w"}};
  sparse_graph.add(field::graph::sparse_initializer, Message()
                                                         .add(field::sparse_tensor::values, float_tensor("w", {3}))
                                                         .add(field::sparse_tensor::indices, indices)
                                                         .number(field::sparse_tensor::dims, huge));
  const Message graphs[] = {
      GraphText{{}, {"w"}, {}, {tensor(DType::float32, {huge}, "w")}},
      GraphText{{}, {"w"}, {}, {tensor(DType::float32, {huge}, "w").packed_reals(field::tensor::float_data, {1})}},
      GraphText{{}, {"w"}, {}, {tensor(DType::int64, {huge}, "w").packed_numbers(field::tensor::int64_data, {1})}},
      GraphText{{}, {"w"}, {}, {tensor(DType::string, {huge}, "w").text(field::tensor::string_data, "a")}},
      GraphText{{}, {"w"}, {}, {tensor(DType::float32, {huge}, "w").text(field::tensor::raw_data, "1234")}},
      sparse_graph,
  };
  const rh::test::MemoryLimit limit(64 << 20);
  for (const Message& graph : graphs) EXPECT_EQ(reads(model(graph).bytes()), &graph == &graphs[std::size(graphs) - 1]);
}

TEST(Hostile, DeepTypes) {
  std::string type;
  for (int i = 0; i < 10'000; ++i) {
    type = Message().add(field::type::sequence, Message().text(field::element_type::elem_type, type)).bytes();
    if (type.size() > 100'000) break;
  }
  expect_error("deep type", {"nested more than 32 deep"}, [&] { read_type(type); });
}

TEST(Hostile, DeepValues) {
  std::string value;
  for (int i = 0; i < 1000; ++i) value = Message().text(field::sequence::sequence_values, value).bytes();
  expect_error("deep value", {"nested more than 32 deep"}, [&] { read_value(as_span(value), ValueType::sequence_of({})); });
}

}  // namespace
}  // namespace rh::onnx::test
