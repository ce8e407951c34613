#include "onnx/reader.h"
#include "onnx/writer.h"
#include "protos.h"

namespace rh::onnx::test {
namespace {

const ValueType kTensor = ValueType::tensor(DType::float32);

Value round_trip(const Value& value, const ValueType& type) { return read_value(as_span(write_value(value, type)), type); }

TEST(Values, Sequence) {
  Sequence sequence{DType::float32, {Tensor::scalar(1.0f), Tensor::from<float>({2}, std::vector<float>{2, 3})}};
  const Value back = round_trip(sequence, ValueType::sequence_of(kTensor));
  ASSERT_TRUE(back.is_sequence());
  EXPECT_EQ(back.sequence().element_dtype, DType::float32);
  ASSERT_EQ(back.sequence().elements.size(), 2u);
  EXPECT_EQ(back.sequence().elements[1].tensor().data<float>()[1], 3);
  EXPECT_TRUE(round_trip(Sequence{}, ValueType::sequence_of(kTensor)).sequence().elements.empty());
}

TEST(Values, Optional) {
  const ValueType type = ValueType::optional_of(kTensor);
  EXPECT_TRUE(round_trip(NoneValue{}, type).is_none());
  EXPECT_EQ(round_trip(Tensor::scalar(4.0f), type).tensor().data<float>()[0], 4);
  const Sequence sequence{DType::float32, {Tensor::scalar(1.0f)}};
  EXPECT_EQ(round_trip(sequence, ValueType::optional_of(ValueType::sequence_of(kTensor))).sequence().elements.size(), 1u);
}

TEST(Values, Maps) {
  const std::vector<std::string> names = {"a", "b"};
  const std::vector<float> scores = {0.25f, 0.75f};
  const Map by_name{Tensor::from<std::string>({2}, names), Tensor::from<float>({2}, scores)};
  const Map by_number{Tensor::ints(std::vector<int64_t>{-7, 9}), Tensor::from<std::string>({2}, names)};
  const Value first = round_trip(by_name, ValueType::map_of(DType::string, kTensor));
  EXPECT_TRUE(identical(first.map().keys.view(), by_name.keys.view()));
  EXPECT_TRUE(identical(first.map().values.view(), by_name.values.view()));
  const Value second = round_trip(by_number, ValueType::map_of(DType::int64, ValueType::tensor(DType::string)));
  EXPECT_TRUE(identical(second.map().keys.view(), by_number.keys.view()));
  EXPECT_TRUE(identical(second.map().values.view(), by_number.values.view()));
  const Value list =
      round_trip(Sequence{DType::undefined, {by_name, by_name}}, ValueType::sequence_of(ValueType::map_of(DType::string, kTensor)));
  EXPECT_TRUE(list.sequence().elements.at(1).is_map());
}

TEST(Values, Refused) {
  const Message mixed =
      Message().add(field::sequence::tensor_values, float_tensor("", {1})).add(field::sequence::tensor_values, tensor(DType::int8, {0}));
  expect_error("mixed", {"float", "int8"}, [&] { read_value(as_span(mixed), ValueType::sequence_of(kTensor)); });
  const Message uneven = Message().number(field::map::keys, 1);
  expect_error("uneven", {"1 keys and 0 values"}, [&] { read_value(as_span(uneven), ValueType::map_of(DType::int64, kTensor)); });
}

}  // namespace
}  // namespace rh::onnx::test
