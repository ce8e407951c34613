#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "ops/inference.h"

namespace rh::test {
namespace {

struct Row {
  const char* purpose;
  const char* nodes;  ///< x is float[batch, seq, 64], s its shape
  const char* type;   ///< inferred of y
};

const Row kRows[] = {
    {"heads are split off", "h = Constant <value_ints = [0, 0, 4, 16]> ()  y = Reshape (x, h)", "tensor(float)[batch, seq, 4, 16]"},
    {"the rest of symbols", "h = Constant <value_ints = [-1, 64]> ()  y = Reshape (x, h)", "tensor(float)[batch*seq, 64]"},
    {"equal symbols cancel", "h = Constant <value_ints = [0, -1]> ()  y = Reshape (x, h)", "tensor(float)[batch, 64*seq]"},
    {"a shape put together",
     "b = Gather (s, zero)  u = Unsqueeze (b, axis)  r = Constant <value_ints = [-1]> ()  h = Concat <axis = 0> (u, r)  y = Reshape (x, h)",
     "tensor(float)[batch, 64*seq]"},
    {"part of a shape", "y = Shape <start = 1> (x)", "tensor(int64)[2]"},
    {"a slice of a shape as a shape",
     "a = Constant <value_ints = [1]> ()  e = Constant <value_ints = [9223372036854775807]> ()  h = Slice (s, a, e)  y = ConstantOfShape "
     "(h)",
     "tensor(float)[seq, 64]"},
    {"a shape backwards",
     "a = Constant <value_ints = [-1]> ()  e = Constant <value_ints = [-9223372036854775807]> ()  h = Slice (s, a, e, axis, a)  y = Expand "
     "(one, h)",
     "tensor(float)[64, seq, batch]"},
    {"parts of a shape", "a, b, d = Split (s)  y = Expand (one, b)", "tensor(float)[seq]"},
    {"number of elements", "n = Size (x)  u = Unsqueeze (n, axis)  y = Reshape (x, u)", "tensor(float)[64*batch*seq]"},
    {"a count to a size", "b = Gather (s, unit)  y = Range (zero, b, unit)", "tensor(int64)[seq]"},
    {"a count in steps", "b = Gather (s, unit)  t = Constant <value_int = 2> ()  y = Range (zero, b, t)",
     "tensor(int64)[ceil_div(seq, 2)]"},
    {"repeated",
     "h = Concat <axis = 0> (axis, t)  t = Constant <value_ints = [2, 3]> ()  r = Add (h, t1)  t1 = Constant <value_ints = [1, 0, 0]> ()  "
     "y = Tile (x, r)",
     "tensor(float)[batch, 2*seq, 192]"},
    {"all but the last",
     "a = Constant <value_ints = [0]> ()  e = Constant <value_ints = [-1]> ()  d = Constant <value_ints = [1]> ()  y = Slice (x, a, e, d)",
     "tensor(float)[batch, max(seq - 1, 0), 64]"},
    {"the first of many", "a = Constant <value_ints = [0]> ()  b = Gather (s, axis)  y = Slice (table, a, b, a)",
     "tensor(float)[min(batch, 512), 64]"},
    {"the first of many meet the rest",
     "a = Constant <value_ints = [0]> ()  b = Gather (s, d)  d = Constant <value_ints = [1]> ()  t = Slice (table, a, b, a)  y = Add (x, "
     "t)",
     "tensor(float)[batch, seq, 64]"},
    {"joined", "y = Concat <axis = 1> (x, x)", "tensor(float)[batch, 2*seq, 64]"},
    {"halves", "y, z = Split <axis = 1> (x)", "tensor(float)[batch, floor_div(seq, 2), 64]"},
    {"padded", "p = Constant <value_ints = [0, 1, 0, 0, 2, 3]> ()  y = Pad (x, p)", "tensor(float)[batch, seq + 3, 67]"},
    {"flattened", "y = Flatten <axis = 2> (x)", "tensor(float)[batch*seq, 64]"},
    {"transposed", "y = Transpose <perm = [1, 2, 0]> (x)", "tensor(float)[seq, 64, batch]"},
    {"branches agree where they can",
     "unit1 = Unsqueeze (unit, axis)  y = If <then_branch = t () => (float[...] a) { a = Neg (x) }, else_branch = e () => (float[...] b) { "
     "b = Slice (x, axis, unit1, axis) }> (c)",
     "tensor(float)[_, seq, 64]"},
    {"what a loop keeps",
     "y = Loop <body = b (int64[] i, bool[] g, float[...] p) => (bool[] h, float[...] q) { h = Identity (g)  q = Concat <axis = 1> (p, x) "
     "}> (unit, _, x)",
     "tensor(float)[batch, _, 64]"},
    {"trips of a loop",
     "n = Gather (s, unit)  y = Loop <body = b (int64[] i, bool[] g) => (bool[] h, float[...] q) { h = Identity (g)  q = Neg (x) }> (n, _)",
     "tensor(float)[seq, batch, seq, 64]"},
    {"slices of a scan",
     "y = Scan <num_scan_inputs = 1, body = b (float[...] p) => (float[...] q) { q = Neg (p) }, scan_output_axes = [1]> (x)",
     "tensor(float)[seq, batch, 64]"},
};

// The text with every new symbol as "_".
std::string without_new_symbols(std::string text) {
  for (size_t at = text.find("_s"); at != std::string::npos; at = text.find("_s", at + 1)) {
    size_t end = at + 2;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
    text.replace(at, end - at, "_");
  }
  return text;
}

TEST(ShapeInference, SymbolsGoThroughShapeArithmetic) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.purpose);
    try {
      const auto graph = parse_graph(std::string(R"(<opset_import: ["" : 17]>
        g (float[batch, seq, 64] x, bool[] c) => (? y)
        < int64[] zero = {0}, int64[] unit = {1}, int64[1] axis = {0}, float[1] one = {1}, float[512, 64] table = {0, ...} >
        { s = Shape (x)  )") + row.nodes +
                                     " }");
      infer_types(*graph);
      EXPECT_EQ(without_new_symbols(graph->value(graph->find_value("y")).type.to_string()), row.type);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(ShapeInference, WhatTheOperatorGivesCountsWhereAnotherShapeIsDeclared) {
  const struct {
    const char *declared, *given;
  } rows[] = {
      {"float[batch, 7]", "tensor(float)[batch, 3]"},
      {"float[batch]", "tensor(float)[batch, 3]"},
      {"float[batch, 3, 1]", "tensor(float)[batch, 3]"},
      {"float[4, 7]", "tensor(float)[batch, 3]"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.declared);
    const auto graph =
        parse_graph(std::string("<opset_import: [\"\" : 17]> g (float[batch, 3] x) => (") + row.declared + " y) { y = Neg (x) }");
    infer_types(*graph);
    EXPECT_EQ(graph->value(graph->find_value("y")).type.to_string(), row.given);
  }
  const auto graph = parse_graph("<opset_import: [\"\" : 17]> g (float[batch, 3] x) => (int64[batch, 7] y) { y = Neg (x) }");
  EXPECT_THROW(infer_types(*graph), Error);
}

}  // namespace
}  // namespace rh::test
