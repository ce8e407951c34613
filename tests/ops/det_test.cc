#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kDet = {
    // opset, attributes, inputs, what it is for
    {11, {}, {normal({3, 3})}, "one matrix"},
    {11, {}, {normal({2, 5, 4, 4})}, "a batch"},
    {11, {}, {uniform({3, 19, 19}, -0.5, 0.5)}, "wider than vectors"},
    {22, {}, {normal({2, 1, 1})}, "one element each"},
    {11, {}, {values({2, 2}, {1, 2, 2, 4})}, "singular"},
    {11, {}, {normal({2, 3})}, "not square", {"[2, 3]", "square"}},
};
RH_OP_TEST(Det, kDet, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
