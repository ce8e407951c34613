#include "support/model_case.h"

#include <gtest/gtest.h>

namespace rh::test {
namespace {

const std::vector<ModelCase> kOptionals = {
    {"a tensor in and out",
     R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[2] y, bool[] has) {
  o = Optional (x)
  y = OptionalGetElement (o)
  has = OptionalHasElement (o)
})",
     {floats({2}, {1, 2})}},
    {"an empty one has no element",
     R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (bool[] has, bool[] plain) {
  o = Optional <type = type(float[2])> ()
  has = OptionalHasElement (o)
  plain = OptionalHasElement (x)
})",
     {floats({2}, {1, 2})}},
    {"a sequence in and out",
     R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[K] y) <int64[] zero = {0}> {
  s = SequenceConstruct (x, x)
  o = Optional (s)
  t = OptionalGetElement (o)
  y = SequenceAt (t, zero)
})",
     {floats({2}, {1, 2})}},
    {"nothing to get",
     R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[2] x) => (float[2] y) {
  o = Optional <type = type(float[2])> ()
  y = OptionalGetElement (o)
})",
     {floats({2}, {1, 2})},
     {"OptionalGetElement", "empty"}},
};
TEST(ModelCases, Optionals) { run_model_cases(kOptionals); }

}  // namespace
}  // namespace rh::test
