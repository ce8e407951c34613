#include "support/op_case.h"

namespace rh::test {
namespace {

Input number(double value, DType dtype) { return values({1}, {value}).as(dtype); }

const std::vector<OpCase> kNonMaxSuppression = {
    {11,
     {},
     {values({1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.9, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}),
      values({1, 1, 6}, {0.9, 0.75, 0.6, 0.95, 0.5, 0.3}), number(3, DType::int64), number(0.5, DType::float32), number(0, DType::float32)},
     "overlaps are suppressed"},
    {11,
     {attr("center_point_box", 1)},
     {values({1, 3, 4}, {0.5, 0.5, 1, 1, 0.5, 0.6, 1, 1, 0.5, 10.5, 1, 1}), values({1, 1, 3}, {0.9, 0.75, 0.6}), number(3, DType::int64),
      number(0.5, DType::float32)},
     "centres and sizes"},
    {11,
     {},
     {uniform({2, 40, 4}, 0, 10), uniform({2, 3, 40}, 0, 1), number(7, DType::int64), number(0.3, DType::float32),
      number(0.2, DType::float32)},
     "batches and classes"},
    {11,
     {},
     {uniform({2, 300, 4}, 0, 10), uniform({2, 5, 300}, 0, 1), number(1000, DType::int64), number(0.6, DType::float32)},
     "more kept than a block holds"},
    {11,
     {},
     {uniform({1, 6000, 4}, 0, 10), uniform({1, 1, 6000}, 0, 1), number(20, DType::int64), number(0.05, DType::float32)},
     "few of many are kept, and most are looked at"},
    {11,
     {},
     {uniform({1, 3000, 4}, 0, 10), uniform({1, 2, 3000}, -1, 1), number(3000, DType::int64), number(0.7, DType::float32)},
     "many are kept"},
    {11, {}, {uniform({1, 5, 4}, 0, 10), uniform({1, 1, 5}, 0, 1)}, "no limit means none"},
    {11, {}, {uniform({1, 5, 3}, 0, 10), uniform({1, 1, 5}, 0, 1)}, "boxes of three numbers", {"[1, 5, 3]", "4"}},
};
RH_OP_TEST(NonMaxSuppression, kNonMaxSuppression, (Types<float>::set))

}  // namespace
}  // namespace rh::test
