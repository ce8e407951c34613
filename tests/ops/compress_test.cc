#include "support/op_case.h"

namespace rh::test {
namespace {

using Ints = std::vector<int64_t>;

const Input kCondition = values({3}, {0, 1, 1}).as(DType::boolean);

const std::vector<OpCase> kCompress = {
    {11, {attr("axis", 0)}, {normal({3, 2}), kCondition}, "rows"},
    {9, {attr("axis", 1)}, {normal({2, 3, 2}), kCondition}, "middle axis"},
    {11, {}, {normal({3, 2}), kCondition}, "flattened, condition shorter"},
    {11, {attr("axis", -1)}, {normal({3, 2}), values({2}, {0, 0}).as(DType::boolean)}, "nothing kept"},
    {11, {attr("axis", 1)}, {normal({300, 3, 70}), kCondition}, "more than a thread takes"},
    {11, {}, {normal({300, 200}), normal({60000}).as(DType::boolean)}, "the same of elements"},
    {11, {attr("axis", 2)}, {normal({3, 2}), kCondition}, "axis out of range", {"axis is 2", "[-2, 1]"}},
};
RH_OP_TEST(Compress, kCompress, DTypeSet::all())

}  // namespace
}  // namespace rh::test
