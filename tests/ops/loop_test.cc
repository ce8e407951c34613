#include "support/model_case.h"

#include <gtest/gtest.h>

#include <array>

namespace rh::test {
namespace {

const std::vector<ModelCase> kLoop = {
    {"trip count, carried value and scan output",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, float[N] x) => (float[N] last, float[T, N] all) {
  last, all = Loop <body = b (int64[] i, bool[] c, float[N] s) => (bool[] go, float[N] t, float[N] u) {
      go = Identity (c)
      t = Add (s, x)
      u = Mul (t, t)
    }> (m, _, x)
})",
     {integers({}, {4}), floats({2}, {1, -2})}},
    {"no iteration",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, float[2] x) => (float[2] last, float[T, 2] all) {
  last, all = Loop <body = b (int64[] i, bool[] c, float[2] s) => (bool[] go, float[2] t, float[2] u) {
      go = Identity (c)
      t = Add (s, x)
      u = Mul (t, t)
    }> (m, _, x)
})",
     {integers({}, {0}), floats({2}, {1, -2})}},
    {"ends by its condition, shapes of [1]",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (bool[1] c0, float[1] x) => (float[1] last, int64[T, 1] steps) <int64[1] one = {1}, float[1] limit = {20}> {
  last, steps = Loop <body = b (int64[1] i, bool[1] c, float[1] s) => (bool[1] go, float[1] t, int64[1] k) {
      t = Add (s, s)
      go = Less (t, limit)
      k = Add (i, one)
    }> (_, c0, x)
})",
     {Tensor::from<bool>({1}, std::array<bool, 1>{true}), floats({1}, {1.5f})}},
    {"the carried value grows",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, float[N] x) => (float[K] last) <float[1] zero = {0}> {
  last = Loop <body = b (int64[] i, bool[] c, float[L] s) => (bool[] go, float[L2] t) {
      go = Identity (c)
      t = Concat <axis = 0> (s, x, zero)
    }> (m, _, x)
})",
     {integers({}, {3}), floats({2}, {1, -2})}},
    {"values trade places; one only passes through",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, float[N] x, float[N] z, float[N] w) => (float[N] a, float[N] b, float[N] c) {
  n = Neg (x)
  a, b, c = Loop <body = b (int64[] i, bool[] k, float[N] p, float[N] q, float[N] r) => (bool[] go, float[N] q2, float[N] p2, float[N] r2) {
      go = Identity (k)
      q2 = Identity (q)
      p2 = Identity (p)
      r2 = Identity (r)
    }> (m, _, n, z, w)
})",
     {integers({}, {3}), floats({2}, {1, -2}), floats({2}, {3, 4}), floats({2}, {5, 6})}},
    // The stock library loses all strings but those of the first iteration.
    {"a loop within a loop, strings gathered",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, string[2] names) => (int64[] total, string[T, 2] all) <int64[] one = {1}> {
  start = Sub (m, m)
  total, all = Loop <body = b (int64[] i, bool[] c, int64[] s) => (bool[] go, int64[] t, string[2] u) {
      go = Identity (c)
      t = Loop <body = d (int64[] j, bool[] e, int64[] v) => (bool[] on, int64[] w) {
          on = Identity (e)
          w = Add (v, i)
        }> (m, _, s)
      u = Identity (names)
    }> (m, _, start)
})",
     {integers({}, {3}), texts({2}, {"a", "bc"})},
     {},
     {integers({}, {9}), texts({3, 2}, {"a", "bc", "a", "bc", "a", "bc"})}},
    {"a sequence is carried",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, float[N] x) => (float[K] y, int64[] n) {
  empty = SequenceEmpty <dtype = 1> ()
  s = Loop <body = b (int64[] i, bool[] c, seq(float[...]) p) => (bool[] go, seq(float[...]) q) {
      go = Identity (c)
      f = Cast <to = 1> (i)
      v = Mul (x, f)
      q = SequenceInsert (p, v)
    }> (m, _, empty)
  y = ConcatFromSequence <axis = 0> (s)
  n = SequenceLength (s)
})",
     {integers({}, {3}), floats({2}, {1, -2})}},
    {"scan outputs of different shapes",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (int64[] m, float[N] x) => (float[K] last, float[T, L] all) {
  last, all = Loop <body = b (int64[] i, bool[] c, float[L] s) => (bool[] go, float[L2] t, float[L2] u) {
      go = Identity (c)
      t = Concat <axis = 0> (s, x)
      u = Neg (t)
    }> (m, _, x)
})",
     {integers({}, {3}), floats({2}, {1, -2})},
     {"Loop", "iteration 1", "[6]", "[4]"}},
};
TEST(ModelCases, Loop) { run_model_cases(kLoop); }

}  // namespace
}  // namespace rh::test
