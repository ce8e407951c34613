#include "support/model_case.h"

#include <gtest/gtest.h>

#include <array>

namespace rh::test {
namespace {

const std::vector<ModelCase> kIf = {
    {"branches use outer values",
     R"(<ir_version: 8, opset_import: ["" : 17]>
g (bool[] c, float[N] x) => (float[N] y) {
  y = If <then_branch = t () => (float[N] a) { a = Add (x, x) }, else_branch = e () => (float[N] b) { b = Neg (x) }> (c)
})",
     {boolean(true), floats({2}, {1, -2})}},
    {"else, other sizes, a captured value as the result",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (bool[1] c, float[N] x, float[M] z) => (float[K] y) {
  y = If <then_branch = t () => (float[N] a) { a = Neg (x) }, else_branch = e () => (float[M] b) { b = Identity (z) }> (c)
})",
     {Tensor::from<bool>({1}, std::array<bool, 1>{false}), floats({2}, {1, -2}), floats({3}, {4, 5, 6})}},
    {"several outputs of different ranks",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (bool[] c, float[1, 3] x) => (float[...] y, int64[...] s) {
  y, s = If <then_branch = t () => (float[3] a, int64[1] k) { a = Squeeze (x)  k = Shape (a) },
             else_branch = e () => (float[1, 3] b, int64[2] m) { b = Neg (x)  m = Shape (b) }> (c)
})",
     {boolean(true), floats({1, 3}, {1, 2, 3})}},
    {"nested",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (bool[] c, bool[] d, float[N] x) => (float[N] y) {
  n = Neg (x)
  y = If <then_branch = t () => (float[N] a) {
      a = If <then_branch = tt () => (float[N] p) { p = Add (n, x) }, else_branch = te () => (float[N] q) { q = Mul (n, x) }> (d)
    }, else_branch = e () => (float[N] b) { b = Identity (n) }> (c)
})",
     {boolean(true), boolean(false), floats({2}, {1, -2})}},
    {"the condition is no scalar",
     R"(<ir_version: 8, opset_import: ["" : 13]>
g (bool[K] c, float[N] x) => (float[N] y) {
  y = If <then_branch = t () => (float[N] a) { a = Neg (x) }, else_branch = e () => (float[N] b) { b = Identity (x) }> (c)
})",
     {Tensor::from<bool>({2}, std::array<bool, 2>{false, true}), floats({2}, {1, -2})},
     {"2 elements", "expected 1"}},
};
TEST(ModelCases, If) { run_model_cases(kIf); }

}  // namespace
}  // namespace rh::test
