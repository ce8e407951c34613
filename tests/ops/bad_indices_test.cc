#include <limits>

#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = std::numeric_limits<int64_t>::min();

Input number(int64_t value) {
  Input input = ints({value});
  input.shape = {};
  return input;
}

Input matrix_of(Shape shape, std::vector<int64_t> numbers) {
  Input input = ints(std::move(numbers));
  input.shape = std::move(shape);
  return input;
}

Input f(Shape shape) { return normal(std::move(shape)).as(DType::float32); }

/// Integers that come from tensors and are used as indices, axes and sizes, at the ends of their range. Each row must fail with its
/// operator.
const std::vector<OpCase> kBadNumbers = {
    {13, {}, {f({3, 4}), ints({kMost})}, "index", {"Gather(", "indices is 9223372036854775807"}, 1, 0, "", "Gather"},
    {13, {}, {f({3, 4}), ints({kLeast})}, "index", {"Gather(", "indices is -9223372036854775808"}, 1, 0, "", "Gather"},
    {13, {}, {f({3, 4}), ints({-4})}, "index", {"Gather(", "[-3, 2]"}, 1, 0, "", "Gather"},
    {13, {}, {f({0, 4}), ints({0})}, "index into nothing", {"Gather(", "no elements"}, 1, 0, "", "Gather"},
    {13,
     {},
     {f({3, 4}), matrix_of({1, 4}, {0, 1, 2, kMost})},
     "index",
     {"GatherElements(", "9223372036854775807"},
     1,
     0,
     "",
     "GatherElements"},
    {13, {}, {f({3, 4}), matrix_of({1, 4}, {0, 1, 2, kLeast})}, "index", {"GatherElements("}, 1, 0, "", "GatherElements"},
    {13, {}, {f({3, 4}), matrix_of({2, 2}, {0, 0, 2, kMost})}, "index", {"GatherND(", "9223372036854775807"}, 1, 0, "", "GatherND"},
    {13, {}, {f({3, 4}), matrix_of({2, 2}, {0, 0, kLeast, 0})}, "index", {"GatherND("}, 1, 0, "", "GatherND"},
    {13, {}, {f({3, 4}), matrix_of({2, 3}, {0, 0, 0, 0, 0, 0})}, "longer tuples than dimensions", {"GatherND("}, 1, 0, "", "GatherND"},
    {18, {}, {f({3, 4}), matrix_of({1, 1}, {kMost}), f({1, 1})}, "index", {"ScatterElements("}, 1, 0, "", "ScatterElements"},
    {18, {}, {f({3, 4}), matrix_of({1, 1}, {kLeast}), f({1, 1})}, "index", {"ScatterElements("}, 1, 0, "", "ScatterElements"},
    {18, {}, {f({3, 4}), matrix_of({1, 2}, {kMost, 0}), f({1})}, "index", {"ScatterND("}, 1, 0, "", "ScatterND"},
    {18, {}, {f({3, 4}), matrix_of({1, 2}, {0, kLeast}), f({1})}, "index", {"ScatterND("}, 1, 0, "", "ScatterND"},
    {13, {}, {f({3, 4}), ints({0}), ints({1}), ints({kMost})}, "axis", {"Slice("}, 1, 0, "", "Slice"},
    {13, {}, {f({3, 4}), ints({0}), ints({1}), ints({kLeast})}, "axis", {"Slice("}, 1, 0, "", "Slice"},
    {13, {}, {f({3, 4}), ints({0, 0}), ints({1}), ints({0})}, "numbers of starts and ends", {"Slice("}, 1, 0, "", "Slice"},
    {18, {}, {f({3, 4}), ints({0, kMost, 0, 1})}, "size that overflows", {"Pad("}, 1, 0, "", "Pad"},
    {18, {}, {f({3, 4}), ints({0, kMost, 0, kMost})}, "size that overflows", {"Pad("}, 1, 0, "", "Pad"},
    {18, {}, {f({3, 4}), ints({kLeast, 0, kLeast, 0})}, "size below 0", {"Pad("}, 1, 0, "", "Pad"},
    {18, {}, {f({3, 4}), ints({0, -5, 0, 0})}, "size below 0", {"Pad("}, 1, 0, "", "Pad"},
    {18, {}, {f({3, 4}), ints({0, 1, 1})}, "number of pads", {"Pad("}, 1, 0, "", "Pad"},
    {18, {}, {f({3, 4}), ints({0, 0}), absent(), ints({kMost})}, "axis", {"Pad("}, 1, 0, "", "Pad"},
    {13, {}, {f({3, 4}), ints({kMost, 2})}, "size that overflows", {"Tile("}, 1, 0, "", "Tile"},
    {13, {}, {f({3, 4}), ints({kLeast, 1})}, "repeats below 0", {"Tile("}, 1, 0, "", "Tile"},
    {13, {}, {f({3, 4}), ints({int64_t{1} << 40, int64_t{1} << 40})}, "elements that overflow", {"Tile("}, 1, 0, "", "Tile"},
    {13, {}, {f({1}), ints({kMost, kMost})}, "elements that overflow", {"Expand("}, 1, 0, "", "Expand"},
    {13,
     {},
     {f({0, 1}), ints({0, kMost})},
     "nothing of a size that overflows",
     {"Expand(", "[0, 9223372036854775807]"},
     1,
     0,
     "",
     "Expand"},
    {13, {}, {f({1}), ints({kLeast})}, "size below 0", {"Expand("}, 1, 0, "", "Expand"},
    {14, {}, {f({3, 4}), ints({kMost, -1})}, "size", {"Reshape("}, 1, 0, "", "Reshape"},
    {14, {}, {f({3, 4}), ints({kLeast, 1})}, "size below -1", {"Reshape("}, 1, 0, "", "Reshape"},
    {14, {}, {f({3, 4}), ints({-1, -1})}, "two open sizes", {"Reshape("}, 1, 0, "", "Reshape"},
    {14, {}, {f({3, 4}), ints({int64_t{1} << 62, 8})}, "elements that overflow", {"Reshape("}, 1, 0, "", "Reshape"},
    {14, {}, {f({3, 4}), ints({3, 4, 0})}, "copied dimension that is not there", {"Reshape("}, 1, 0, "", "Reshape"},
    {11, {}, {ints({1}), number(kMost), f({2})}, "depth", {"OneHot("}, 1, 0, "", "OneHot"},
    {11, {}, {ints({1}), number(kLeast), f({2})}, "depth", {"OneHot("}, 1, 0, "", "OneHot"},
    {11, {}, {f({3, 4}), ints({kMost})}, "k", {"TopK(", "9223372036854775807"}, 2, 0, "", "TopK"},
    {11, {}, {f({3, 4}), ints({kLeast})}, "k", {"TopK("}, 2, 0, "", "TopK"},
    {11, {}, {f({3, 4}), ints({1, 2})}, "two k", {"TopK("}, 2, 0, "", "TopK"},
    {11, {}, {number(kLeast), number(kMost), number(1)}, "elements that overflow", {"Range("}, 1, 0, "", "Range"},
    {11, {}, {number(0), number(kLeast), number(-1)}, "elements that overflow", {"Range("}, 1, 0, "", "Range"},
    {11, {}, {number(0), number(1), number(0)}, "delta 0", {"Range("}, 1, 0, "", "Range"},
    {13, {}, {f({4}), ints({kMost, kMost})}, "sizes that overflow", {"Split("}, 2, 0, "", "Split"},
    {13, {}, {f({4}), ints({kLeast, kMost})}, "size below 0", {"Split("}, 2, 0, "", "Split"},
    {13, {}, {f({4}), ints({5, -1})}, "size below 0", {"Split("}, 2, 0, "", "Split"},
    {13, {}, {f({4}), ints({kMost})}, "axis", {"Unsqueeze("}, 1, 0, "", "Unsqueeze"},
    {13, {}, {f({4}), ints({kLeast})}, "axis", {"Unsqueeze("}, 1, 0, "", "Unsqueeze"},
    {13, {}, {f({4}), ints({0, 0})}, "axis twice", {"Unsqueeze("}, 1, 0, "", "Unsqueeze"},
    {13, {}, {f({1, 4}), ints({kMost})}, "axis", {"Squeeze("}, 1, 0, "", "Squeeze"},
    {13, {}, {f({1, 4}), ints({kLeast})}, "axis", {"Squeeze("}, 1, 0, "", "Squeeze"},
    {13, {}, {f({3, 4}), ints({kMost})}, "axis", {"ReduceSum("}, 1, 0, "", "ReduceSum"},
    {13, {}, {f({3, 4}), ints({kLeast})}, "axis", {"ReduceSum("}, 1, 0, "", "ReduceSum"},
    {14, {}, {f({3, 4}), number(kMost)}, "axis", {"CumSum("}, 1, 0, "", "CumSum"},
    {14, {}, {f({3, 4}), number(kLeast)}, "axis", {"CumSum("}, 1, 0, "", "CumSum"},
    {10, {}, {f({2, 3}), ints({kMost, 1, 1})}, "length", {"ReverseSequence("}, 1, 0, "", "ReverseSequence"},
    {10, {}, {f({2, 3}), ints({kLeast, 1, 1})}, "length", {"ReverseSequence("}, 1, 0, "", "ReverseSequence"},
    {10, {}, {f({2, 3}), ints({1})}, "number of lengths", {"ReverseSequence("}, 1, 0, "", "ReverseSequence"},
    {18, {}, {f({3, 4}), ints({kMost, kMost})}, "elements that overflow", {"CenterCropPad("}, 1, 0, "", "CenterCropPad"},
    {18, {}, {f({3, 4}), ints({kLeast, 1})}, "size below 0", {"CenterCropPad("}, 1, 0, "", "CenterCropPad"},
    {9, {}, {ints({kMost, kMost})}, "elements that overflow", {"ConstantOfShape("}, 1, 0, "", "ConstantOfShape"},
    {9, {}, {ints({kLeast})}, "size below 0", {"ConstantOfShape("}, 1, 0, "", "ConstantOfShape"},
    {22, {attr("hidden_size", 4)}, {f({3, 1, 2}), f({1, 1, 4, 2}), f({1, 4, 4})}, "weights of rank 4", {"RNN(", "rank 4"}, 1, 0, "", "RNN"},
    {22, {attr("hidden_size", 4)}, {f({3, 1, 2}), f({1, 2, 4}), f({1, 4, 4})}, "weights of another shape", {"RNN("}, 1, 0, "", "RNN"},
    {22,
     {attr("hidden_size", 4)},
     {f({3, 1, 2}), f({1, 4, 2}), f({1, 4, 4}), absent(), values({1}, {4}).as(DType::int32)},
     "length",
     {"RNN(", "[0, 3]"},
     1,
     0,
     "",
     "RNN"},
    {22,
     {attr("hidden_size", 4)},
     {f({3, 1, 2}), f({1, 4, 2}), f({1, 4, 4}), absent(), values({1}, {-1}).as(DType::int32)},
     "length",
     {"RNN("},
     1,
     0,
     "",
     "RNN"},
    {13, {}, {f({1, 1, 2}), absent(), absent(), ints({1, 1, kMost})}, "size", {"Resize("}, 1, 0, "", "Resize"},
    {13, {}, {f({1, 1, 2}), absent(), absent(), ints({1, 1, kLeast})}, "size", {"Resize("}, 1, 0, "", "Resize"},
    {13, {}, {f({1, 1, 0}), absent(), absent(), ints({1, 1, 4})}, "nothing to resize", {"Resize("}, 1, 0, "", "Resize"},
};

// As they come with a run, and as what is known when the model is loaded.
TEST(OpCases, BadNumbers) {
  run_op_cases("", kBadNumbers, FloatingTypes::set);
  std::vector<OpCase> constant = kBadNumbers;
  for (OpCase& c : constant) {
    for (Input& input : c.inputs) {
      if (input.dtype == DType::int64) input = input.constant();
    }
    c.fails.resize(1);
  }
  run_op_cases("", constant, FloatingTypes::set);
}

/// The same numbers where they have a meaning.
const std::vector<OpCase> kSlice = {
    {13, {}, {normal({3, 4}), ints({kLeast}), ints({kMost})}, "all"},
    {13, {}, {normal({3, 4}), ints({kMost}), ints({kLeast}), ints({1}), ints({-1})}, "all backwards"},
    {13, {}, {normal({3, 4}), ints({0}), ints({kMost}), ints({1}), ints({kMost})}, "the first"},
    {13, {}, {normal({3, 4}), ints({-1}), ints({kLeast}), ints({1}), ints({kLeast + 1})}, "the last"},
    {13, {}, {normal({0, 4}), ints({kLeast}), ints({kMost})}, "of nothing"},
};
TEST(OpCases, SliceWithTheEndsOfTheRange) { run_op_cases("Slice", kSlice, FloatingTypes::set); }

const std::vector<OpCase> kTrilu = {
    {14, {}, {normal({3, 4}), number(kMost)}, "nothing"},
    {14, {}, {normal({3, 4}), number(kLeast)}, "all"},
};
TEST(OpCases, TriluWithTheEndsOfTheRange) { run_op_cases("Trilu", kTrilu, FloatingTypes::set); }

}  // namespace
}  // namespace rh::test
