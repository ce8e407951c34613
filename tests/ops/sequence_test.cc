#include "support/model_case.h"

#include <gtest/gtest.h>

namespace rh::test {
namespace {

const std::vector<ModelCase> kSequences = {
    {"construct, insert, erase, at, length",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2] a, float[3] b, int64[] p) => (float[K] first, float[L] last, int64[] n) <int64[] minus = {-1}> {
  s = SequenceConstruct (a, b, a)
  t = SequenceInsert (s, b, p)
  u = SequenceErase (t, minus)
  first = SequenceAt (u, p)
  last = SequenceAt (u, minus)
  n = SequenceLength (u)
})",
     {floats({2}, {1, 2}), floats({3}, {3, 4, 5}), integers({}, {1})}},
    {"split into equal parts and concatenate",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 5] x, int64[] n) => (float[2, K] y, float[2, J] part) <int64[] two = {2}> {
  s = SplitToSequence <axis = 1> (x, n)
  y = ConcatFromSequence <axis = -1> (s)
  part = SequenceAt (s, two)
})",
     {floats({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), integers({}, {2})}},
    {"split into sizes",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (string[5] x, int64[2] sizes) => (string[K] y, int64[] n) <int64[] one = {1}> {
  s = SplitToSequence (x, sizes)
  y = SequenceAt (s, one)
  n = SequenceLength (s)
})",
     {texts({5}, {"a", "b", "c", "d", "e"}), integers({2}, {1, 4})}},
    {"slices without the axis, stacked again",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[2, 3] x) => (int64[3, 2] y, int64[2] column) <int64[] one = {1}> {
  s = SplitToSequence <axis = 1, keepdims = 0> (x)
  y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
  column = SequenceAt (s, one)
})",
     {integers({2, 3}, {1, 2, 3, 4, 5, 6})}},
    {"a body for each element",
     R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2] a, float[3] b, float[1] w) => (float[K] y) {
  a0 = Neg (w)
  s = SequenceConstruct (a, b)
  t = SequenceMap <body = m (float[N] v, float[1] k) => (float[N] r) { q = Mul (v, k)  r = Add (q, a0) }> (s, w)
  y = ConcatFromSequence <axis = 0> (t)
})",
     {floats({2}, {1, 2}), floats({3}, {3, 4, 5}), floats({1}, {10})}},
    {"position out of range",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2] a, int64[] p) => (float[K] y) {
  s = SequenceConstruct (a, a)
  y = SequenceAt (s, p)
})",
     {floats({2}, {1, 2}), integers({}, {2})},
     {"SequenceAt", "2", "[-2, 1]"}},
    {"nothing to concatenate",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[2] a) => (float[K] y) {
  s = SequenceEmpty ()
  y = ConcatFromSequence <axis = 0> (s)
})",
     {floats({2}, {1, 2})},
     {},
     {floats({0}, {})}},
    {"nothing of known sizes to concatenate",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[n, m, 4] x) => (float[?, ?, ?] y) {
  s = SplitToSequence <axis = 0> (x)
  y = ConcatFromSequence <axis = 0> (s)
})",
     {floats({0, 3, 4}, {})},
     {},
     {floats({0, 3, 4}, {})}},
    {"sizes do not add up",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (float[5] x, int64[2] sizes) => (int64[] n) {
  s = SplitToSequence (x, sizes)
  n = SequenceLength (s)
})",
     {floats({5}, {1, 2, 3, 4, 5}), integers({2}, {1, 3})},
     {"SplitToSequence", "[1, 3]", "5"}},
};
TEST(ModelCases, Sequences) { run_model_cases(kSequences); }

}  // namespace
}  // namespace rh::test
