#include "support/model_case.h"

#include <gtest/gtest.h>

namespace rh::test {
namespace {

#define RH_SUM_BODY R"(body = b (float[2] s, float[2] v) => (float[2] t, float[2] u) { t = Add (s, v)  u = Mul (t, t) })"

const std::vector<ModelCase> kScan = {
    {"running sum",
     R"(<ir_version: 8, opset_import: ["" : 11]>
g (float[2] s, float[T, 2] x) => (float[2] last, float[T, 2] all) {
  last, all = Scan <num_scan_inputs = 1, )" RH_SUM_BODY R"(> (s, x)
})",
     {floats({2}, {0, 1}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}},
    {"backwards along the last axis",
     R"(<ir_version: 8, opset_import: ["" : 11]>
g (float[2] s, float[2, T] x) => (float[2] last, float[2, T] all) {
  last, all = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [-1], scan_output_directions = [1], )" RH_SUM_BODY
     R"(> (s, x)
})",
     {floats({2}, {0, 1}), floats({2, 3}, {1, 2, 3, 4, 5, 6})}},
    {"two scanned inputs, no state",
     R"(<ir_version: 8, opset_import: ["" : 9]>
g (float[3, 2] x, float[3, 2] z) => (float[3, 2] all) {
  all = Scan <num_scan_inputs = 2, body = b (float[2] v, float[2] w) => (float[2] u) { u = Sub (v, w) }> (x, z)
})",
     {floats({3, 2}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {6, 4, 3, 2, 8, 1})}},
    {"batches of the first version",
     R"(<ir_version: 8, opset_import: ["" : 8]>
g (int64[2] n, float[2, 2] s, float[2, 3, 2] x) => (float[2, 2] last, float[2, 3, 2] all) {
  last, all = Scan <num_scan_inputs = 1, )" RH_SUM_BODY R"(> (n, s, x)
})",
     {integers({2}, {2, 3}), floats({2, 2}, {0, 1, 2, 3}), floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}},
    {"lengths differ",
     R"(<ir_version: 8, opset_import: ["" : 9]>
g (float[N, 2] x, float[M, 2] z) => (float[K, 2] all) {
  all = Scan <num_scan_inputs = 2, body = b (float[2] v, float[2] w) => (float[2] u) { u = Sub (v, w) }> (x, z)
})",
     {floats({3, 2}, {1, 2, 3, 4, 5, 6}), floats({2, 2}, {6, 4, 3, 2})},
     {"Scan", "length 2", "expected 3"}},
};
TEST(ModelCases, Scan) { run_model_cases(kScan); }

}  // namespace
}  // namespace rh::test
