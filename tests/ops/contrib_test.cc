#include <cmath>
#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

// Small operators of com.microsoft: each is held against the stock library.
constexpr char kMs[] = "com.microsoft";

Input whole(int64_t value) {
  Input input = ints({value});
  input.shape = {};
  return input;
}
Input int32s(Shape shape, std::vector<double> numbers) { return values(std::move(shape), std::move(numbers)).as(DType::int32); }
Input f(Shape shape) { return normal(std::move(shape)).as(DType::float32); }

const double kFar = std::sqrt(999.5 * 999.5 + 4e6 + 3001.0 * 3001);
const std::vector<OpCase> kCDist = {
    {1, {}, {normal({5, 7}), normal({3, 7})}, "squared", {}, 1, 1e-5, kMs},
    {1, {attr("metric", "euclidean")}, {normal({4, 2}), normal({6, 2})}, "roots", {}, 1, 1e-5, kMs},
    {1, {}, {normal({9, 70}), normal({33, 70})}, "many", {}, 1, 1e-5, kMs},
    {.opset = 1,
     .attributes = {attr("metric", "euclidean")},
     .inputs = {values({2, 3}, {1000, 2000, -3000, 0.5, 0, 1}), values({3, 3}, {1000, 2000, -3000, 1001, 2000, -3002, 0.5, 0, 1})},
     .purpose = "near each other and far from zero",
     .tolerance = 1e-6,
     .domain = kMs,
     .expected = {values({2, 3}, {0, std::sqrt(5), kFar, kFar, std::sqrt(1000.5 * 1000.5 + 4e6 + 3003.0 * 3003), 0})},
     .stock_is_wrong = true},
    {1, {}, {normal({2, 0}), normal({3, 0})}, "no columns", {}, 1, 0, kMs},
    {1, {}, {normal({0, 2}), normal({6, 2})}, "nothing", {}, 1, 0, kMs},
    {1, {attr("metric", "cosine")}, {normal({4, 2}), normal({6, 2})}, "unknown metric", {"CDist", "cosine", "euclidean"}, 1, 0, kMs},
    {1, {}, {normal({4, 2}), normal({6, 3})}, "other columns", {"CDist", "[6, 3]"}, 1, 0, kMs},
};
RH_OP_TEST(CDist, kCDist, (Types<float, double>::set))

const Input kBoxes = values({3, 4}, {0, 0, 1, 1, 0.25, 0.125, 0.75, 1.25, 0.9, 0.9, 0.1, 0.2});
const std::vector<OpCase> kCropAndResize = {
    {1, {}, {normal({2, 3, 5, 6}), kBoxes, int32s({3}, {0, 1, 1}), int32s({2}, {3, 4})}, "bilinear", {}, 1, 1e-5, kMs},
    {1,
     {attr("mode", "nearest"), attr("extrapolation_value", 7.0f)},
     {normal({2, 1, 5, 5}), kBoxes, int32s({3}, {1, 0, 1}), int32s({2}, {5, 3}).constant()},
     "nearest",
     {},
     1,
     0,
     kMs},
    {1, {}, {normal({2, 1, 5, 5}), kBoxes, int32s({3}, {1, 0, 1}), int32s({2}, {1, 1})}, "centres", {}, 1, 1e-5, kMs},
    {1,
     {},
     {normal({2, 1, 5, 5}), kBoxes, int32s({3}, {1, 2, 1}), int32s({2}, {1, 1})},
     "no such image",
     {"CropAndResize", "2"},
     1,
     0,
     kMs},
    {1,
     {},
     {normal({2, 1, 5, 5}), kBoxes, int32s({3}, {1, -1, 1}), int32s({2}, {1, 1})},
     "image below 0",
     {"CropAndResize", "-1"},
     1,
     0,
     kMs},
    {1, {}, {normal({2, 1, 5, 5}), kBoxes, int32s({3}, {1, 0, 1}), int32s({2}, {0, 1})}, "no size", {"CropAndResize", "0 x 1"}, 1, 0, kMs},
    {1,
     {},
     {normal({2, 1, 5, 5}), kBoxes, int32s({2}, {1, 0}), int32s({2}, {1, 1})},
     "too few images",
     {"CropAndResize", "[2]"},
     1,
     0,
     kMs},
};
RH_OP_TEST(CropAndResize, kCropAndResize, (Types<float>::set))

const std::vector<OpCase> kInverse = {
    {1, {}, {normal({3, 3})}, "one matrix", {}, 1, 1e-4, kMs},
    {1, {}, {values({2, 2, 2}, {0, 1, 1, 0, 2, 1, 1, 1})}, "a batch, a pivot of 0", {}, 1, 1e-5, kMs},
    {1,
     {},
     {values({1, 4, 4}, {0, 2, 0, 1, 0, 0, 4, 0, 1, 0, 0, 0, 8, 0, 0, 2})},
     "rows in another order",
     {},
     1,
     1e-5,
     kMs,
     nullptr,
     {values({1, 4, 4}, {0, 0, 1, 0, 0.5, 0, 2, -0.25, 0, 0.25, 0, 0, 0, 0, -4, 0.5})}},
    {1, {}, {f({2, 19, 19})}, "wider than vectors", {}, 1, 1e-3, kMs},
    {1, {}, {normal({0, 2, 2})}, "nothing", {}, 1, 0, kMs},
    {1, {}, {normal({2, 3})}, "not square", {"Inverse", "[2, 3]", "square"}, 1, 0, kMs},
};
RH_OP_TEST(Inverse, kInverse, (Types<float, double, Float16>::set))

const std::vector<OpCase> kUnfoldTensor = {
    {1, {attr("dim", 1), attr("size", 3), attr("step", 2)}, {normal({2, 5})}, "overlapping", {}, 1, 0, kMs},
    {1, {attr("dim", 0), attr("size", 2)}, {normal({3, 2, 2})}, "the first axis", {}, 1, 0, kMs},
    {1, {attr("size", 2), attr("step", 5)}, {normal({2, 9})}, "with gaps", {}, 1, 0, kMs},
    {1, {attr("size", 6)}, {normal({5})}, "too long", {"UnfoldTensor", "6", "5"}, 1, 0, kMs},
    {1, {attr("size", 2), attr("step", 0)}, {normal({5})}, "no step", {"UnfoldTensor", "step 0"}, 1, 0, kMs},
    {1, {attr("size", 2), attr("dim", 3)}, {normal({5})}, "no such axis", {"UnfoldTensor", "dim"}, 1, 0, kMs},
};
RH_OP_TEST(UnfoldTensor, kUnfoldTensor, (Types<float, int8_t, int64_t, double, bool, std::string, Float16>::set))

const std::vector<OpCase> kDynamicTimeWarping = {
    {1, {}, {f({1, 6, 9})}, "random costs", {}, 1, 0, kMs},
    {1, {}, {f({7, 4})}, "more rows", {}, 1, 0, kMs},
    {1, {}, {values({3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}).as(DType::float32)}, "ties", {}, 1, 0, kMs},
    {1, {}, {f({2, 3, 4})}, "a batch", {"DynamicTimeWarping", "[2, 3, 4]"}, 1, 0, kMs},
    {1, {}, {f({0, 4})}, "nothing", {"DynamicTimeWarping", "[0, 4]"}, 1, 0, kMs},
};
RH_OP_TEST(DynamicTimeWarping, kDynamicTimeWarping, Types<float>::set)

Input tokens(Shape shape, std::vector<int64_t> ids) {
  Input input = ints(std::move(ids));
  input.shape = std::move(shape);
  return input;
}

const std::vector<OpCase> kNGramRepeatBlock = {
    {1, {attr("ngram_size", 2)}, {tokens({2, 5}, {1, 2, 1, 3, 1, 0, 0, 0, 0, 0}), f({2, 4})}, "pairs", {}, 1, 0, kMs},
    {1, {attr("ngram_size", 3)}, {tokens({1, 6}, {1, 2, 3, 0, 1, 2}), f({1, 4})}, "triples", {}, 1, 0, kMs},
    {1, {attr("ngram_size", 1)}, {tokens({1, 3}, {1, 2, 1}), f({1, 4})}, "single words", {}, 1, 0, kMs},
    {1, {attr("ngram_size", 9)}, {tokens({1, 3}, {1, 2, 1}), f({1, 4})}, "longer than the text", {}, 1, 0, kMs},
    {1, {attr("ngram_size", 2)}, {tokens({1, 3}, {1, 9, 1}), f({1, 4})}, "no such word", {"NGramRepeatBlock", "9"}, 1, 0, kMs},
    {1, {attr("ngram_size", 2)}, {tokens({1, 3}, {1, -9, 1}), f({1, 4})}, "word below 0", {"NGramRepeatBlock", "-9"}, 1, 0, kMs},
    {1, {attr("ngram_size", 0)}, {tokens({1, 3}, {1, 0, 1}), f({1, 4})}, "no size", {"NGramRepeatBlock", "ngram_size"}, 1, 0, kMs},
    {1, {attr("ngram_size", 2)}, {tokens({2, 1}, {1, 0}), f({1, 4})}, "other batch", {"NGramRepeatBlock", "[1, 4]"}, 1, 0, kMs},
};
RH_OP_TEST(NGramRepeatBlock, kNGramRepeatBlock, Types<float>::set)

const Input kSource = tokens({8}, {1, 5, 3, 4, 1, 5, 7, 4});
const std::vector<OpCase> kBifurcationDetector = {
    {1, {}, {kSource, tokens({2}, {2, 3}), whole(0)}, "one match of one", {}, 2, 0, kMs},
    {1, {}, {kSource, tokens({3}, {3, 1, 5}), whole(0)}, "several of one and two", {}, 2, 0, kMs},
    {1, {}, {kSource, tokens({3}, {4, 1, 5}), whole(0)}, "one match of three", {}, 2, 0, kMs},
    {1, {attr("min_ngram_size", 2), attr("max_ngram_size", 2)}, {kSource, tokens({2}, {5, 3}), whole(0)}, "pairs", {}, 2, 0, kMs},
    {1, {}, {tokens({4}, {1, 5, 3, 4}), tokens({1}, {2}), whole(1), tokens({4}, {5, 3, 9, 2})}, "predictions", {}, 2, 0, kMs},
    {1, {}, {tokens({4}, {1, 5, 3, 4}), tokens({1}, {2}), whole(0), tokens({5}, {1, 5, 3, 4, 2})}, "all as predicted", {}, 2, 0, kMs},
    {1,
     {},
     {tokens({4}, {1, 5, 3, 4}), tokens({1}, {2}), whole(0), tokens({3}, {1, 5, 3})},
     "too few predictions",
     {"BifurcationDetector", "3 predicted"},
     2,
     0,
     kMs},
    {1,
     {},
     {tokens({4}, {1, 5, 3, 4}), tokens({1}, {2}), whole(std::numeric_limits<int64_t>::min()), tokens({3}, {1, 5, 3})},
     "a place outside",
     {"BifurcationDetector", "-9223372036854775808"},
     2,
     0,
     kMs},
};
RH_OP_TEST(BifurcationDetector, kBifurcationDetector, Types<int64_t>::set)

std::vector<Input> words(std::vector<double> characters, int64_t count) {
  const auto length = static_cast<int64_t>(characters.size()) / count;
  return {int32s({count, length}, std::move(characters)), f({4, 1, 3, 2}), f({4}), f({10, 2})};
}
const std::vector<OpCase> kWordConvEmbedding = {
    {1, {}, words({1, 2, 3, 4, 5, 1, 2, 0, 0, 0, 7, 8, 9, 0, 3}, 3), "words", {}, 1, 1e-5, kMs},
    {1,
     {attr("embedding_size", 4), attr("conv_window_size", 3), attr("char_embedding_size", 2)},
     words({1, 2, 3}, 1),
     "sizes",
     {},
     1,
     1e-5,
     kMs},
    {1, {attr("embedding_size", 5)}, words({1, 2, 3}, 1), "another size", {"WordConvEmbedding"}, 1, 0, kMs},
    {1, {}, words({1, 2}, 1), "narrower than the filter", {"WordConvEmbedding", "[1, 2]"}, 1, 0, kMs},
    {1, {}, words({1, 2, 10}, 1), "no such character", {"WordConvEmbedding", "10"}, 1, 0, kMs},
    {1, {}, words({1, 2, -1}, 1), "a character below 0", {"WordConvEmbedding", "-1"}, 1, 0, kMs},
};
RH_OP_TEST(WordConvEmbedding, kWordConvEmbedding, Types<float>::set)

Input wide(Shape shape) { return uniform(std::move(shape), -32768, 32767).as(DType::int16); }
const std::vector<OpCase> kMatMulInteger16 = {
    {1, {}, {wide({3, 5}), wide({5, 4})}, "matrices", {}, 1, 0, kMs},
    {1, {}, {wide({2, 3, 5}), wide({5, 4})}, "a batch", {}, 1, 0, kMs},
    {1, {}, {wide({3, 5}), wide({4, 4})}, "shapes that do not meet", {"[3, 5]", "[4, 4]"}, 1, 0, kMs},
};
RH_OP_TEST(MatMulInteger16, kMatMulInteger16, Types<int16_t>::set)

Input mask(Shape shape) { return uniform(std::move(shape), 0, 3).as(DType::int32); }
const std::vector<OpCase> kMaxpoolWithMask = {
    {1, {attr("kernel_shape", {3})}, {f({2, 2, 8}), mask({1, 1, 8})}, "a line", {}, 1, 0, kMs},
    {1,
     {attr("kernel_shape", {3, 2}), attr("strides", {1, 2}), attr("pads", {1, 0, 1, 1})},
     {f({2, 3, 6, 7}), mask({1, 1, 6, 7})},
     "planes",
     {},
     1,
     0,
     kMs},
    {1, {attr("kernel_shape", {2, 2, 2})}, {f({1, 1, 3, 4, 4}), mask({1, 1, 3, 4, 4})}, "volumes", {}, 1, 0, kMs},
    {1,
     {attr("kernel_shape", {3, 3}), attr("strides", {2, 2}), attr("pads", {1, 1, 1, 1})},
     {f({2, 2, 7, 81}), mask({1, 1, 7, 81})},
     "vectors of windows two apart",
     {},
     1,
     0,
     kMs},
    {1, {attr("kernel_shape", {2, 4}), attr("strides", {1, 2})}, {f({1, 3, 4, 70}), mask({1, 1, 4, 70})}, "an even kernel", {}, 1, 0, kMs},
    {1, {attr("kernel_shape", {2, 3})}, {f({1, 2, 4, 75}), mask({1, 1, 4, 75})}, "vectors of neighbouring windows", {}, 1, 0, kMs},
    {1, {attr("kernel_shape", {1, 1}), attr("strides", {2, 2})}, {f({1, 2, 5, 65}), mask({1, 1, 5, 65})}, "windows of one", {}, 1, 0, kMs},
    {1, {attr("kernel_shape", {3}), attr("strides", {3})}, {f({1, 2, 130}), mask({1, 1, 130})}, "windows three apart", {}, 1, 0, kMs},
    {1,
     {attr("kernel_shape", {1, 2})},
     {f({1, 1, 2, 3}), values({1, 1, 2, 3}, {0, 1, 0, 0, 1, 1}).as(DType::int32)},
     "the first element of a plane whatever its mask",
     {},
     1,
     0,
     kMs},
    {1, {attr("kernel_shape", {3})}, {f({2, 2, 8}), mask({1, 1, 7})}, "another mask", {"MaxpoolWithMask", "[1, 1, 7]"}, 1, 0, kMs},
    {1, {attr("kernel_shape", {3})}, {f({2, 2, 8}), mask({0, 1, 8})}, "no mask", {"MaxpoolWithMask", "[0, 1, 8]"}, 1, 0, kMs},
};
RH_OP_TEST(MaxpoolWithMask, kMaxpoolWithMask, Types<float>::set)

const std::vector<OpCase> kNhwcMaxPool = {
    {1, {attr("kernel_shape", {2, 2})}, {uniform({2, 5, 6, 3}, -100, 100)}, "planes", {}, 1, 0, kMs},
    {1,
     {attr("kernel_shape", {3, 3}), attr("pads", {1, 1, 1, 1}), attr("strides", {2, 2}), attr("dilations", {2, 1})},
     {uniform({1, 8, 8, 17}, 0, 100)},
     "padded",
     {},
     1,
     0,
     kMs},
    {1, {attr("kernel_shape", {2})}, {uniform({1, 6, 2}, 0, 100)}, "a line", {}, 1, 0, kMs},
    {1, {attr("kernel_shape", {2, 2})}, {uniform({1, 6, 2}, 0, 100)}, "other rank", {"NhwcMaxPool", "[1, 6, 2]"}, 1, 0, kMs},
};
RH_OP_TEST(NhwcMaxPool, kNhwcMaxPool, (Types<int8_t, uint8_t>::set))

const std::vector<OpCase> kConvTransposeWithDynamicPads = {
    {1, {}, {f({1, 2, 5, 4}), f({2, 3, 3, 3}), ints({1, 0, 1, 2}), f({3})}, "pads and bias", {}, 1, 1e-5, kMs},
    {1,
     {attr("strides", {2, 2}), attr("output_padding", {1, 1}), attr("group", 2)},
     {f({1, 4, 5, 4}), f({4, 3, 3, 3}).constant(), ints({1, 1, 1, 1}), f({6}).constant()},
     "packed weights",
     {},
     1,
     1e-5,
     kMs},
    {1, {}, {f({1, 2, 5, 4}), f({2, 3, 3, 3}), ints({1, 0, 1})}, "too few pads", {"[1, 0, 1]", "4"}, 1, 0, kMs},
    {1,
     {},
     {f({1, 2, 5, 4}), f({2, 3, 3, 3}), ints({1, 0, 1, std::numeric_limits<int64_t>::max()})},
     "wild pads",
     {"9223372036854775807"},
     1,
     0,
     kMs},
    {1, {}, {f({1, 2, 5, 4}), f({2, 3, 3, 3}), ints({1, 0, -1, 1})}, "pads below 0", {"-1"}, 1, 0, kMs},
};
RH_OP_TEST(ConvTransposeWithDynamicPads, kConvTransposeWithDynamicPads, Types<float>::set)

// Operators that the standard has too, in the form of com.microsoft.
const std::vector<OpCase> kAsInTheStandard = {
    {1, {}, {f({2, 3}), whole(1).as(DType::int32)}, "", {}, 1, 0, kMs, "ExpandDims"},
    {1, {}, {f({2, 3}), values({1}, {-1}).as(DType::int32)}, "", {}, 1, 0, kMs, "ExpandDims"},
    {1, {}, {f({2, 3}), values({1}, {5}).as(DType::int32)}, "", {"axes", "5"}, 1, 0, kMs, "ExpandDims"},
    {1, {}, {values({}, {1}).as(DType::float32), values({}, {4}).as(DType::float32)}, "", {}, 1, 0, kMs, "Range"},
    {1, {}, {whole(1), whole(7), whole(2)}, "", {}, 1, 0, kMs, "Range"},
    {1, {}, {whole(1), whole(4)}, "", {}, 1, 0, kMs, "Range"},
    {1, {}, {f({1, 2}), ints({0, 1, 0, 2}), values({1}, {5}).as(DType::float32)}, "", {}, 1, 0, kMs, "Pad"},
    {1, {attr("mode", "reflect")}, {f({3, 2}), ints({1, 1, 0, 1})}, "", {}, 1, 0, kMs, "Pad"},
    {1, {}, {f({3, 4}), whole(1)}, "", {}, 1, 0, kMs, "Trilu"},
    {1, {attr("upper", 0)}, {f({2, 3, 4})}, "", {}, 1, 0, kMs, "Trilu"},
    {1, {}, {f({3, 4}), values({2, 2}, {0, 1, 2, 3}).as(DType::int32)}, "", {}, 1, 0, kMs, "GatherND"},
    {1, {}, {f({3, 4}), tokens({2, 1}, {2, 0})}, "", {}, 1, 0, kMs, "GatherND"},
    {1, {}, {f({3, 4}), tokens({2, 1}, {2, 3})}, "", {"GatherND", "3"}, 1, 0, kMs, "GatherND"},
    {1, {}, {values({6}, {2, 1, 1, 3, 4, 3}).as(DType::float32)}, "", {}, 3, 0, kMs, "Unique"},
    {1, {}, {f({2, 3})}, "", {"Unique", "[2, 3]"}, 3, 0, kMs, "Unique"},
    {1, {attr("transA", 1), attr("alpha", 0.5f)}, {f({2, 4, 3}), f({2, 4, 5})}, "", {}, 1, 1e-5, kMs, "TransposeMatMul"},
    {1, {}, {f({2, 3})}, "", {}, 1, 0, kMs, "SampleOp"},
    {1, {}, {f({2, 3, 4, 5}), uniform({2, 3, 3, 2}, -1.2, 1.2).as(DType::float32)}, "", {}, 1, 1e-5, kMs, "GridSample"},
    {1,
     {attr("mode", "bicubic"), attr("padding_mode", "reflection"), attr("align_corners", 1)},
     {f({2, 3, 4, 5}), uniform({2, 3, 3, 2}, -1.2, 1.2).as(DType::float32)},
     "",
     {},
     1,
     1e-5,
     kMs,
     "GridSample"},
    {1, {}, {f({2, 3})}, "", {}, 1, 1e-5, kMs, "Gelu"},
};
RH_OP_TEST(AsInTheStandard, kAsInTheStandard, Types<float>::set)

}  // namespace
}  // namespace rh::test
