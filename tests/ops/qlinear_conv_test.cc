#include "support/op_case.h"

namespace rh::test {
namespace {

const DTypeSet kBytes{DType::int8, DType::uint8};

Input bytes(Shape shape) { return uniform(std::move(shape), 0, 128); }
Input any(Shape shape, DType type) {
  return (type == DType::int8 ? uniform(std::move(shape), -128, 128) : uniform(std::move(shape), 0, 256)).as(type);
}
Input scale(Shape shape) { return uniform(std::move(shape), 0.01, 0.05).as(DType::float32); }
Input zero(DType type, double value = 0) { return values({}, {value}).as(type); }

const std::vector<OpCase> kConvInteger = {
    {10, {}, {bytes({1, 3, 9, 9}), any({5, 3, 3, 3}, DType::uint8)}, "without zero points"},
    {10,
     {attr("pads", {1, 1, 1, 1}), attr("strides", {2, 2})},
     {bytes({2, 3, 9, 9}), any({5, 3, 3, 3}, DType::uint8).constant(), bytes({})},
     "padding is the zero point"},
    {10,
     {},
     {bytes({1, 3, 9, 9}), any({5, 3, 3, 3}, DType::int8).constant(), bytes({}), zero(DType::int8, 3).constant()},
     "zero point of the weights"},
    {10,
     {attr("group", 3)},
     {bytes({1, 3, 9, 9}), any({6, 1, 3, 3}, DType::uint8), bytes({}), any({6}, DType::uint8)},
     "groups, zero points a filter"},
    {10, {attr("auto_pad", "SAME_UPPER")}, {bytes({1, 2, 11}), any({4, 2, 4}, DType::uint8), bytes({})}, "one spatial axis"},
    {10, {}, {bytes({1, 2, 5, 6, 7}), any({4, 2, 2, 3, 3}, DType::uint8), bytes({})}, "three spatial axes"},
    {10,
     {attr("group", 4), attr("pads", {1, 0, 0, 1, 0, 0})},
     {bytes({2, 8, 6, 4, 5}), any({8, 2, 3, 1, 1}, DType::uint8).constant(), bytes({}), zero(DType::uint8, 7).constant()},
     "a few terms: planes as lines"},
    {10,
     {attr("group", 2), attr("pads", {1, 2, 0, 1}), attr("strides", {2, 3}), attr("dilations", {1, 2})},
     {bytes({2, 4, 9, 30}), any({6, 2, 2, 3}, DType::int8).constant(), bytes({}),
      values({6}, {0, 1, -5, 127, -128, 3}).as(DType::int8).constant()},
     "a few terms: strides, dilations, zero points a filter"},
    {10,
     {attr("group", 2), attr("dilations", {5})},
     {bytes({1, 4, 40}), any({4, 2, 3}, DType::uint8).constant()},
     "a few terms: one spatial axis"},
    {10, {}, {bytes({1, 3, 9, 9}), any({5, 2, 3, 3}, DType::uint8)}, "channels do not fit", {"3", "2"}},
};
RH_OP_TEST(ConvInteger, kConvInteger, kBytes)

OpCase quantized(std::vector<Attribute> attributes, Shape x, Shape w, DType w_type, bool per_filter, DType y, bool bias,
                 const char* purpose) {
  const Shape scales = per_filter ? Shape{w[0]} : Shape{};
  std::vector<Input> inputs{
      bytes(std::move(x)),
      scale({}),
      bytes({}),
      any(w, w_type).constant(),
      scale(scales),
      values(scales, std::vector<double>(static_cast<size_t>(scales.elements()), w_type == DType::uint8 ? 120 : 0)).as(w_type).constant(),
      values({}, {0.4}).as(DType::float32),
      any({}, y)};
  if (bias) inputs.push_back(uniform({w[0]}, -3000, 3000).as(DType::int32).constant());
  return {10, std::move(attributes), std::move(inputs), purpose};
}

std::vector<OpCase> same_type(std::vector<OpCase> cases) {  // the stock library asks for one type
  for (OpCase& c : cases) c.inputs[7].dtype = DType::undefined, c.inputs[7].low = 0, c.inputs[7].high = 100;
  return cases;
}

const std::vector<OpCase> kQLinearConv = same_type({
    quantized({}, {1, 3, 9, 9}, {5, 3, 3, 3}, DType::int8, false, DType::uint8, false, "one scale"),
    quantized({attr("pads", {1, 1, 1, 1})}, {2, 8, 20, 20}, {16, 8, 3, 3}, DType::int8, true, DType::uint8, true, "a filter, with bias"),
    quantized({attr("pads", {1, 1, 1, 1}), attr("group", 8)}, {1, 8, 20, 20}, {8, 1, 3, 3}, DType::int8, true, DType::uint8, true,
              "depthwise"),
    quantized({attr("strides", {2, 2})}, {1, 64, 14, 14}, {32, 64, 1, 1}, DType::int8, true, DType::uint8, true, "pointwise, every second"),
    quantized({attr("dilations", {2, 2}), attr("group", 2)}, {1, 8, 14, 14}, {6, 4, 3, 3}, DType::int8, false, DType::uint8, true,
              "groups"),
    quantized({}, {1, 3, 9, 9}, {5, 3, 3, 3}, DType::uint8, false, DType::uint8, false, "unsigned weights"),
    quantized({}, {0, 3, 9, 9}, {5, 3, 3, 3}, DType::int8, false, DType::uint8, false, "no image"),
});
RH_OP_TEST(QLinearConv, kQLinearConv, kBytes)

std::vector<OpCase> channels_last() {
  std::vector<OpCase> cases = same_type({
      quantized({attr("channels_last", 1), attr("pads", {1, 1, 1, 1})}, {2, 9, 7, 3}, {5, 3, 3, 3}, DType::int8, true, DType::uint8, true,
                "channels last"),
      quantized({}, {1, 3, 9, 9}, {5, 3, 3, 3}, DType::int8, false, DType::uint8, false, "channels first"),
  });
  for (OpCase& c : cases) {
    c.opset = 1;
    c.domain = "com.microsoft";
  }
  return cases;
}
TEST(OpCases, ContribQLinearConv) { run_op_cases("QLinearConv", channels_last(), kBytes); }

}  // namespace
}  // namespace rh::test
