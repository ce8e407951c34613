#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kGatedAdd = {
    contributed({}, {normal({2, 3, 70}), normal({2, 3, 70}), normal({2, 3, 1})}, "rows"),
    contributed({}, {normal({5}), normal({5}), normal({1})}, "one row"),
    contributed({}, {normal({2, 2500}), normal({2, 2500}), normal({2, 1})}, "rows of several blocks"),
    contributed({}, {normal({4, 1}), normal({4, 1}), normal({4, 1})}, "one column"),
    contributed({}, {normal({0, 5}), normal({0, 5}), normal({0, 1})}, "no rows"),
    contributed({}, {normal({3, 0}), normal({3, 0}), normal({3, 1})}, "no columns"),
    contributed({}, {normal({2, 3}), normal({1, 3}), normal({2, 1})}, "Y of another shape", {"GatedAdd", "[1, 3]", "[2, 3]"}),
    contributed({}, {normal({2, 3}), normal({2, 3}), normal({1, 1})}, "one gate for all", {"GatedAdd", "[1, 1]", "[2, 1]"}),
    contributed({}, {normal({2, 3}), normal({2, 3}), normal({2, 4}), normal({4, 1})}, "projected gates", {"gate_weight", "not supported"}),
    contributed({}, {normal({}), normal({}), normal({})}, "a number", {"GatedAdd", "scalar"}),
};
RH_OP_TEST(GatedAdd, kGatedAdd, (Types<float, Float16, BFloat16>::set))

}  // namespace
}  // namespace rh::test
