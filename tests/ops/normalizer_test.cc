#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr char kMl[] = "ai.onnx.ml";

const std::vector<OpCase> kNormalizer = {
    {1, {attr("norm", "MAX")}, {uniform({4, 5}, -9, 9)}, "by the largest", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L1")}, {uniform({4, 5}, -9, 9)}, "by the sum", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L2")}, {uniform({4, 5}, -9, 9)}, "by the length", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L2")}, {uniform({3, 70}, -9, 9)}, "long rows", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L1")}, {uniform({3, 16}, -9, 9)}, "the longest of short rows", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L1")}, {uniform({3, 17}, -9, 9)}, "the shortest of long rows", {}, 1, 1e-5, kMl},
    {1,
     {attr("norm", "L2")},
     {values({1, 2}, {3e20, 4e20}).as(DType::float32)},
     "squares that are no floats",
     {},
     1,
     1e-5,
     kMl,
     nullptr,
     {values({1, 2}, {0.6, 0.8}).as(DType::float32)},
     true},
    {1, {attr("norm", "L2")}, {uniform({3, 70}, -1e-12, 1e-12).as(DType::float32)}, "small numbers", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L2")}, {uniform({5}, -9, 9)}, "one row", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L1")}, {values({2, 2}, {0, 0, 1, 3})}, "a row of zeros", {}, 1, 1e-5, kMl},
    {1, {attr("norm", "L3")}, {uniform({4, 5}, -9, 9)}, "no such norm", {"L3", "L2"}, 1, 0, kMl},
};
RH_OP_TEST(Normalizer, kNormalizer, (Types<float, double, int64_t, int32_t>::set))

}  // namespace
}  // namespace rh::test
