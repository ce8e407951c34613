#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "ops/inference.h"

namespace rh::test {
namespace {

struct Row {
  const char* purpose;
  const char* nodes;     ///< s is the shape [batch, seq, 64] of the input
  const char* contents;  ///< of y; empty where nothing is known
};

const Row kRows[] = {
    {"sum", "y = Add (s, s)", "[2*batch, 2*seq, 128]"},
    {"a scalar with each", "y = Mul (s, two)", "[2*batch, 2*seq, 128]"},
    {"difference that cancels", "y = Sub (s, s)", "[0, 0, 0]"},
    {"exact division", "t = Mul (s, two)  y = Div (t, two)", "[batch, seq, 64]"},
    {"division with a rest", "y = Div (s, two)", "[floor_div(batch, 2), floor_div(seq, 2), 32]"},
    {"division of what may be negative", "t = Sub (s, two)  y = Div (t, two)", "[?, ?, 31]"},
    {"rest", "y = Mod (s, two)", "[mod(batch, 2), mod(seq, 2), 0]"},
    {"sign", "t = Neg (s)  y = Abs (t)", "[?, ?, 64]"},
    {"power", "y = Pow (s, two)", "[batch*batch, seq*seq, 4096]"},
    {"the larger", "y = Max (s, two)", "[max(batch, 2), max(seq, 2), 64]"},
    {"the smaller, as far as it can be told", "t = Add (s, two)  y = Min (t, s)", "[batch, seq, 64]"},
    {"number of elements", "y = ReduceProd <keepdims = 0> (s)", "[64*batch*seq]"},
    {"sum of sizes", "y = ReduceSum (s)", "[batch + seq + 64]"},
    {"a cast", "t = Cast <to = 6> (s)  y = Cast <to = 7> (t)", "[batch, seq, 64]"},
    {"bounds", "y = Clip (s, zero, two)", "[min(batch, 2), min(seq, 2), 2]"},
    {"sizes are never -1", "e = Equal (s, minus)  y = Where (e, two, s)", "[batch, seq, 64]"},
    {"a -1 is replaced", "e = Equal (wish, minus)  y = Where (e, s, wish)", "[batch, 7, 64]"},
    {"what cannot be told", "e = Equal (s, two)  y = Where (e, two, s)", "[?, ?, 64]"},
    {"order", "e = Greater (s, minus)  y = Cast <to = 7> (e)", "[1, 1, 1]"},
    {"negated", "e = Less (s, zero)  n = Not (e)  y = Cast <to = 7> (n)", "[1, 1, 1]"},
    {"floats have no known contents", "t = Cast <to = 1> (s)  y = Cast <to = 7> (t)", ""},
};

TEST(KnownContents, ShapeArithmetic) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.purpose);
    const auto graph = parse_graph(std::string(R"(<opset_import: ["" : 17]>
      g (float[batch, seq, 64] x) => (int64[...] y)
      < int64[] two = {2}, int64[] zero = {0}, int64[] minus = {-1}, int64[3] wish = {-1, 7, -1} >
      { s = Shape (x)  )") + row.nodes +
                                   " }");
    const KnownContents contents = infer_types(*graph);
    const auto at = contents.find(graph->find_value("y"));
    EXPECT_EQ(at == contents.end() ? "" : to_string(at->second), row.contents);
  }
}

}  // namespace
}  // namespace rh::test
