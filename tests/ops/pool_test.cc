#include "support/op_case.h"

namespace rh::test {
namespace {

const std::vector<OpCase> kMaxPool = {
    {12, {attr("kernel_shape", {3, 3}), attr("strides", {2, 2}), attr("pads", {1, 1, 1, 1})}, {normal({2, 3, 9, 11})}, "padded, strides"},
    {12, {attr("kernel_shape", {2, 2})}, {normal({1, 3, 5, 5})}, "with indices", {}, 2},
    {12, {attr("kernel_shape", {2, 2}), attr("storage_order", 1)}, {normal({1, 2, 5, 4})}, "column-major indices", {}, 2},
    {12, {attr("kernel_shape", {3, 3}), attr("strides", {2, 2}), attr("ceil_mode", 1)}, {normal({1, 1, 6, 7})}, "rounding up"},
    {12, {attr("kernel_shape", {2, 2}), attr("dilations", {2, 3})}, {normal({1, 1, 8, 9})}, "dilations"},
    {8, {attr("kernel_shape", {3}), attr("auto_pad", "SAME_UPPER")}, {normal({1, 2, 10})}, "one dimension, same upper"},
    {8, {attr("kernel_shape", {3}), attr("auto_pad", "SAME_LOWER"), attr("strides", {2})}, {normal({1, 2, 10})}, "same lower"},
    {12, {attr("kernel_shape", {2, 2, 2})}, {normal({1, 2, 4, 5, 6})}, "three dimensions"},
    {12, {attr("kernel_shape", {2}), attr("strides", {2})}, {normal({1, 2, 1})}, "longer than the axis by less than a stride", {}, 2},
    {12, {attr("kernel_shape", {3, 2}), attr("strides", {3, 1})}, {normal({2, 2, 1, 4})}, "longer along one of two axes", {}, 2},
    {12, {attr("kernel_shape", {2}), attr("strides", {2}), attr("ceil_mode", 1)}, {normal({1, 2, 1})}, "longer, rounding up"},
    {12, {attr("kernel_shape", {2})}, {normal({1, 2, 1})}, "longer by a stride: no output"},
    {12, {attr("kernel_shape", {3})}, {normal({1, 2, 1})}, "longer by two strides", {"window of 3", "1 elements"}},
    {12,
     {attr("kernel_shape", {2}), attr("dilations", {2}), attr("pads", {1, 1}), attr("strides", {2})},
     {values({1, 1, 1}, {3}).as(DType::float32)},
     "a window in the padding alone",
     {},
     2,
     0,
     "",
     nullptr,
     {values({1, 1, 1}, {std::numeric_limits<float>::lowest()}).as(DType::float32), values({1, 1, 1}, {-1}).as(DType::int64)}},
    {12, {attr("kernel_shape", {2})}, {normal({0, 2, 5})}, "no images"},
    {12, {attr("kernel_shape", {2, 2})}, {normal({1, 2, 4})}, "rank does not fit", {"kernel_shape", "expected 1"}},
    {12, {}, {normal({1, 2, 4, 4})}, "no kernel_shape", {"kernel_shape", "missing"}},
};
RH_OP_TEST(MaxPool, kMaxPool, (Types<float, double, Float16, BFloat16, int8_t, uint8_t>::set))

const std::vector<OpCase> kAveragePool = {
    {11, {attr("kernel_shape", {3, 3}), attr("pads", {1, 1, 1, 1})}, {normal({2, 3, 7, 8})}, "without the padding"},
    {11,
     {attr("kernel_shape", {3, 3}), attr("pads", {1, 1, 1, 1}), attr("count_include_pad", 1)},
     {normal({2, 3, 7, 8})},
     "with the padding"},
    {11, {attr("kernel_shape", {3, 3}), attr("strides", {2, 2}), attr("ceil_mode", 1)}, {normal({1, 1, 6, 8})}, "rounding up"},
    {11,
     {attr("kernel_shape", {3, 3}), attr("strides", {2, 2}), attr("ceil_mode", 1), attr("pads", {1, 1, 1, 1}),
      attr("count_include_pad", 1)},
     {normal({1, 1, 6, 8})},
     "rounding up with the padding"},
    {19, {attr("kernel_shape", {2, 2}), attr("dilations", {2, 2})}, {normal({1, 1, 6, 6})}, "dilations"},
    {7, {attr("kernel_shape", {4}), attr("strides", {2})}, {normal({1, 3, 11})}, "one dimension"},
    {7, {attr("kernel_shape", {2}), attr("strides", {2})}, {normal({1, 2, 1})}, "longer than the axis by less than a stride"},
    {19,
     {attr("kernel_shape", {2}), attr("dilations", {2}), attr("pads", {1, 1}), attr("strides", {2})},
     {normal({1, 1, 1})},
     "a window in the padding alone: 0"},
};
RH_OP_TEST(AveragePool, kAveragePool, FloatingTypes::set)

const std::vector<OpCase> kLpPool = {
    {11, {attr("kernel_shape", {3, 3})}, {normal({1, 2, 6, 6})}, "euclidean"},
    {11, {attr("kernel_shape", {2, 2}), attr("p", 1)}, {normal({1, 2, 6, 6})}, "sum of magnitudes"},
    {11,
     {attr("kernel_shape", {3, 3}), attr("strides", {2, 2}), attr("pads", {1, 1, 1, 1})},
     {normal({2, 2, 9, 35})},
     "stride and padding"},
    {11, {attr("kernel_shape", {2, 2}), attr("p", 3)}, {normal({1, 2, 6, 6})}, "cubes"},
    {11, {attr("kernel_shape", {3}), attr("strides", {3})}, {normal({1, 2, 2})}, "longer than the axis by less than a stride"},
};
RH_OP_TEST(LpPool, kLpPool, FloatingTypes::set)

const std::vector<OpCase> kGlobal = {
    {1, {}, {normal({2, 3, 5, 7})}, "images"},
    {1, {}, {normal({1, 2, 9})}, "one dimension"},
    {1, {}, {normal({1, 2, 100, 100})}, "large"},
    {1, {}, {normal({0, 2, 3})}, "no images"},
    {1, {}, {normal({1, 2, 0, 3})}, "images without elements", {"[1, 2, 0, 3]", "only N and C can be 0"}},
};
RH_OP_TEST(GlobalMaxPool, kGlobal, FloatingTypes::set)
RH_OP_TEST(GlobalAveragePool, kGlobal, FloatingTypes::set)
RH_OP_TEST(GlobalLpPool, kGlobal, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
