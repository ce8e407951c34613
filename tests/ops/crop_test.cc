#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kCrop = {
    {7, {attr("border", {1, 2, 1, 1})}, {normal({2, 3, 6, 7})}, "border"},
    {9, {attr("border", {1, 2, 0, 0}), attr("scale", {2, 3})}, {normal({1, 2, 6, 7})}, "size from a corner on"},
    {7, {attr("border", {3, 3, 3, 3})}, {normal({1, 1, 6, 6})}, "nothing is left"},
    {7, {attr("border", {4, 4, 4, 4})}, {normal({1, 1, 6, 6})}, "more than there is", {"[1, 1, 6, 6]"}},
    {7, {}, {normal({1, 1, 6, 6})}, "no border", {"border", "expected 4"}},
};
RH_OP_TEST(Crop, kCrop, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
