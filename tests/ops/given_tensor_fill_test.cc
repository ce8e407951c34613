#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<float> kSix{1, 2, 3, 4, 5, 6};

OpCase filled(std::vector<Attribute> attributes, std::vector<Input> inputs, const char* purpose, Shape shape,
              std::vector<std::string> fails = {}) {
  OpCase made{7, std::move(attributes), std::move(inputs), purpose, std::move(fails)};
  if (made.fails.empty()) made.expected = {values(std::move(shape), {1, 2, 3, 4, 5, 6})};
  return made;
}

const std::vector<OpCase> kGivenTensorFill = {
    filled({attr("values", kSix), attr("shape", {2, 3})}, {}, "shape as attribute", {2, 3}),
    filled({attr("values", kSix), attr("input_as_shape", 1), attr("extra_shape", {3})}, {values({1}, {2})}, "shape that the input holds",
           {2, 3}),
    filled({attr("values", kSix), attr("extra_shape", {1})}, {normal({6})}, "shape that the input has", {6, 1}),
    filled({attr("values", kSix), attr("shape", {2, 2})}, {}, "wrong number", {}, {"6 numbers", "expected 4"}),
};
RH_OP_TEST(GivenTensorFill, kGivenTensorFill, (Types<float>::set))

}  // namespace
}  // namespace rh::test
