#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kTranspose = {
    {13, {}, {normal({2, 3, 4})}, "reversed"},
    {13, {attr("perm", Ints{0, 2, 1, 3})}, {normal({2, 3, 4, 5})}, "middle dimensions"},
    {13, {attr("perm", Ints{0, 2, 3, 1})}, {normal({2, 3, 17, 19})}, "channels last"},
    {13, {attr("perm", Ints{0, 3, 1, 2})}, {normal({2, 17, 19, 3})}, "channels first"},
    {1, {attr("perm", Ints{1, 0})}, {normal({67, 131})}, "matrix beyond a tile"},
    {13, {attr("perm", Ints{1, 0, 2})}, {normal({4, 5, 1})}, "dimension of 1"},
    {13, {attr("perm", Ints{4, 2, 3, 0, 1})}, {normal({3, 2, 5, 4, 3})}, "rank 5"},
    {13, {}, {normal({})}, "scalar"},
    {13, {attr("perm", Ints{1, 0})}, {normal({0, 3})}, "empty"},
    {13, {attr("perm", Ints{0, 0})}, {normal({2, 3})}, "no permutation", {"perm [0, 0]", "no permutation"}},
    {13, {attr("perm", Ints{0, 1})}, {normal({2, 3, 4})}, "wrong rank", {"perm [0, 1]", "rank 3"}},
};
RH_OP_TEST(Transpose, kTranspose, DTypeSet::all())

}  // namespace
}  // namespace rh::test
