// Which sizes may be padded, held to what operators compute of a padded tensor.
#include "providers/kit/shapes/fixed_symbols.h"

#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "ops/inference.h"

namespace rh {

namespace {

kit::Symbols fixed(std::string_view body, std::string_view inputs = "float[N, S, 8] x", int opset = 17) {
  const auto graph =
      parse_graph(fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> main ({}) => (float[...] y) {{ {} }}", opset, inputs, body));
  infer_types(*graph);
  kit::Symbols names = kit::fixed_symbols(*graph);
  std::erase_if(names, [](const std::string& name) { return is_generated_symbol(name); });
  return names;
}

using Names = kit::Symbols;

TEST(KitFixedSymbols, elements_alone_may_be_padded) {
  EXPECT_EQ(fixed("y = Relu (x)"), Names());
  EXPECT_EQ(fixed("y = Add (x, x)"), Names());
  EXPECT_EQ(fixed("a = Transpose <perm = [1, 0, 2]> (x) y = Exp (a)"), Names());
  EXPECT_EQ(fixed("y = Softmax <axis = -1> (x)"), Names());
  EXPECT_EQ(fixed("y = LayerNormalization <axis = -1> (x, g)", "float[N, S, 8] x, float[8] g"), Names());
}

TEST(KitFixedSymbols, what_is_summed_over_stays) {
  EXPECT_EQ(fixed("y = Softmax <axis = 1> (x)"), Names({"S"}));
  EXPECT_EQ(fixed("y = Softmax <axis = 1> (x)", "float[N, S, 8] x", 11), Names({"N", "S"}));  // over all that follow
  EXPECT_EQ(fixed("y = ReduceMean <axes = [0]> (x)"), Names({"N"}));
  EXPECT_EQ(fixed("y = ReduceMean (x)"), Names({"N", "S"}));
  EXPECT_EQ(fixed("y = LayerNormalization <axis = 1> (x, g)", "float[N, S, 8] x, float[S, 8] g"), Names({"S"}));
  EXPECT_EQ(fixed("i = ArgMax <axis = 1> (x) y = Cast <to = 1> (i)"), Names({"S"}));
}

TEST(KitFixedSymbols, products_pad_their_rows) {
  EXPECT_EQ(fixed("y = MatMul (x, w)", "float[N, S, 8] x, float[8, 3] w"), Names());
  EXPECT_EQ(fixed("y = MatMul (x, w)", "float[N, 8, S] x, float[N, S, 8] w"), Names({"S"}));
  EXPECT_EQ(fixed("y = MatMul (x, w)", "float[N, 8, S] x, float[M, S, 8] w"), Names({"M", "N", "S"}));  // one of them may be 1
  EXPECT_EQ(fixed("y = Gemm <transA = 1> (x, w)", "float[S, N] x, float[S, 8] w"), Names({"S"}));
  EXPECT_EQ(fixed("y = Conv (x, w)", "float[N, 3, H, W] x, float[8, 3, 3, 3] w"), Names({"H", "W"}));
}

TEST(KitFixedSymbols, what_may_be_broadcast_stays) {
  EXPECT_EQ(fixed("y = Add (x, b)", "float[N, S, 8] x, float[M, 1, 8] b"), Names({"M", "N"}));
  EXPECT_EQ(fixed("y = Add (x, b)", "float[N, S, 8] x, float[1, S, 1] b"), Names());
}

TEST(KitFixedSymbols, places_within_a_padded_axis_stay) {
  EXPECT_EQ(fixed("y = Concat <axis = 1> (x, z)", "float[N, P, 8] x, float[N, S, 8] z"), Names({"P", "S"}));
  EXPECT_EQ(fixed("y = Gather <axis = 0> (t, i)", "float[99, 8] t, int64[N, S] i"), Names());
  EXPECT_EQ(fixed("y = Gather <axis = 0> (t, i)", "float[V, 8] t, int64[N] i"), Names({"V"}));
  EXPECT_EQ(fixed("j = Add (i, i) y = Gather <axis = 0> (t, j)", "float[99, 8] t, int64[N, S] i"), Names({"N", "S"}));  // out of range
  EXPECT_EQ(fixed("k = Div (i, j) y = Cast <to = 1> (k)", "int64[N] i, int64[N] j"), Names({"N"}));                     // by zero
  EXPECT_EQ(fixed("y = Div (i, j)", "float[N] i, float[N] j"), Names());
  EXPECT_EQ(fixed("i = NonZero (x) y = Cast <to = 1> (i)"), Names({"N", "S"}));  // one that is not known
}

TEST(KitFixedSymbols, shapes_may_say_a_layout_and_no_number) {
  EXPECT_EQ(fixed("s = Shape (x) y = Reshape (x, s)"), Names());
  EXPECT_EQ(fixed("s = Shape (x) y = Cast <to = 1> (s)"), Names({"N", "S"}));
  EXPECT_EQ(fixed("y = Reshape (x, s)", "float[N, S, 8] x, int64[3] s"), Names({"N", "S"}));
  EXPECT_EQ(fixed("y = Flatten <axis = 1> (x)", "float[N, 4, 8] x"), Names());
  EXPECT_EQ(fixed("y = Flatten <axis = 2> (x)"), Names({"N", "S"}));
}

TEST(KitGrowingSymbols, is_what_an_output_adds_to) {
  const auto of = [](std::string_view text) {
    const auto graph = parse_graph(fmt::format("<ir_version: 8, opset_import: [\"\" : 17]> main {}", text));
    infer_types(*graph);
    kit::Symbols names = kit::growing_symbols(*graph);
    std::erase_if(names, [](const std::string& name) { return is_generated_symbol(name); });
    return names;
  };
  EXPECT_EQ(of("(float[N, P, 8] past, float[N, S, 8] x) => (float[...] present) { k = Neg (x) present = Concat <axis = 1> (past, k) }"),
            Names({"P"}));
  EXPECT_EQ(of("(float[P, 8] past, float[1, 8] x) => (float[...] present) { present = Concat <axis = 0> (past, x) }"), Names({"P"}));
  // What has to be as large grows with it: a mask, here through another node; that of a size that does not grow is left alone.
  EXPECT_EQ(of("(float[N, P, 8] past, float[N, 1, 8] x, float[T, 1] mask, float[N, 1, 8] bias) => (float[...] present, float[...] y) "
               "{ present = Concat <axis = 1> (past, x) m = Neg (mask) masked = Add (present, m) y = Sub (x, bias) }"),
            Names({"P", "T"}));
  EXPECT_EQ(of("(float[N, S, 8] x) => (float[...] y) { y = Relu (x) }"), Names());
  EXPECT_EQ(of("(float[N, S] x) => (float[...] y) { y = Concat <axis = 1> (x, x) }"), Names());  // twice as much, once
}

}  // namespace

}  // namespace rh
