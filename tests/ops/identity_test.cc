#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const std::vector<OpCase> kIdentity = {
    {13, {}, {normal({2, 3})}, "matrix"},
    {21, {}, {normal({})}, "scalar"},
    {16, {}, {normal({0, 3})}, "empty"},
    {16, {}, {normal({5}).constant()}, "constant"},
};
RH_OP_TEST(Identity, kIdentity, DTypeSet::all())

}  // namespace
}  // namespace rh::test
