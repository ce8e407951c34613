#include "graph/text_parse.h"
#include "graph/text_print.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/check.h"

namespace rh {
namespace {

const PrintOptions kEverything{.types = true, .max_elements = -1};

TEST(Text, PrintsWhatItReads) {
  const char* rows[] = {
      R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1], model_version: 3, producer_name: "a \"b\"", metadata_props: ["k" : "v", "l" : ""]>
g (float[N, 3] x) => (float[N, 3] y)
<
  float[2] w = {1, -2.5}
>
{
  t = Add (x, w)
  [soft] y = Softmax <axis = -1> (t)
}
)",
      R"(<ir_version: 0, opset_import: ["" : 13]>
g (float[batch, 2*seq + 1, floor_div(seq - 1, 2), "past + 1", ?] x, ? u, float[...] v, int64[] s) => (float[...] y)
<
  float[batch] t
>
{
  t, _, k = Some@7 <a = 1, b = 1.0, c = -inf, d = "x\n\x01", e = [1, -2], f = [0.5, 2.0, nan], g: ints = [], h = ["p", "q"], i: floats = [], j = @other, k> (x, _, u)
  y = com.microsoft.Gelu (t, v, s, k)
}
)",
      R"(<ir_version: 0, opset_import: ["" : 13]>
g (seq(float[N]) x, optional(seq(int64[...])) o, map(string, float[...]) m, sparse_tensor(float[3, 4]) p, opaque("d::n") q) => (? y)
<
  sparse_tensor(float[10]) s = coo(float[2] {1, 2}, int64[2] {0, 5}),
  sparse_tensor(float[2, 3]) c = csr(float[1] {1}, int64[1] {2}, int64[3] {0, 1, 1})
>
{
  y = "my domain"."op-1" <t = type(seq(float[N])), l = [type(float[2]), type(int64[])], s = sparse_tensor(float[4]) coo(float[1] {7}, int64[1] {3}), v = int64[2] {1, 2}, m = [float[1] {1}, string[2] {"a", "b\"c"}]> (x, o, m, p, q, s, c)
}
)",
      R"(<ir_version: 0, opset_import: ["" : 17]>
"" (bool[] c, float[2] "1", float[1] "a b" = {3}) => (float[2] /y.0, ? onnx::z)
{
  [a/b] /y.0 = If <then_branch = t () => (float[2] a)
  {
    a = If <then_branch = t () => (float[2] b)
    {
      b = Add ("1", "1")
    }, else_branch = e () => (float[2] d)
    {
      d = Neg ("1")
    }> (c)
  }, else_branch = "float" () => (float[2] e)
  <
    float[2] e = {1, 2}
  >
  {
  }> (c)
  onnx::z = Graphs <l = [p () => ()
  {
  }, q () => ()
  {
  }]> ("a b")
}
)",
      R"(<ir_version: 0, opset_import: ["" : 17]>
g (float[a - 9223372036854775808, -9223372036854775808*a - 9223372036854775808*b, max(a, -9223372036854775808), -a - 2] x) => ()
{
}
)",
  };
  for (const char* text : rows) EXPECT_EQ(print(parse_model(text), kEverything), text);
}

TEST(Text, ReadsLooseForms) {
  const auto graph = parse_graph("g (float x, float[] y) => (? z) # a comment\n{ z = ai.onnx.Add<a: int = 3>(x, \"\", y)<b: float = 1,> }");
  EXPECT_EQ(print(*graph), "<opset_import: []>\ng (float[] x, float[] y) => (? z)\n{\n  z = Add <a = 3, b = 1.0> (x, _, y)\n}\n");
}

TEST(Text, EveryElementTypeComesBack) {
  const char* rows[] = {
      "float[4] {0, -0, nan, 1e-45}",
      "float[2] {0x7fc00001, 16777216}",
      "double[3] {0.1, -inf, 1e+300}",
      "float16[3] {65504, 5.9604645e-08, -inf}",
      "bfloat16[2] {3.140625, nan}",
      "int8[2] {-128, 127}",
      "uint8[2] {0, 255}",
      "int16[2] {-32768, 32767}",
      "uint16[1] {65535}",
      "int32[1] {-2147483648}",
      "uint32[1] {4294967295}",
      "int64[2] {-9223372036854775808, 9223372036854775807}",
      "uint64[1] {18446744073709551615}",
      "bool[2] {0, 1}",
      "string[3] {\"\", \"a\", \"\\\\\\\"\\n\"}",
      "complex64[2] {1, -2, 0.5, inf}",
      "complex128[1] {0.1, 0.2}",
      "float8e4m3fn[3] {448, nan, -0.001953125}",
      "float8e4m3fnuz[1] {240}",
      "float8e5m2[2] {57344, inf}",
      "float8e5m2fnuz[1] {-57344}",
      "float8e8m0[2] {0.5, 1.7014118e+38}",
      "int4[3] {-8, 7, 1}",
      "uint4[3] {15, 0, 3}",
      "int2[5] {-2, 1, 0, -1, 1}",
      "uint2[3] {3, 0, 2}",
      "float4e2m1[3] {6, -0.5, 0}",
      "float6e2m3[3] {7.5, 0.125, -1}",
      "float6e3m2[2] {28, -0.0625}",
      "float[] {3}",
      "float[0, 5] {}",
      "float[2, 8] {1.5, ...}",
      "undefined",
  };
  for (const char* row : rows) {
    const std::string text = std::string("<opset_import: [\"\" : 17]>\ng () => (? y)\n{\n  y = Constant <value = ") + row + "> ()\n}\n";
    EXPECT_EQ(print(*parse_graph(text), kEverything), text);
  }
}

TEST(Text, LongConstantsAreElidedOnPrintAndRefusedOnParse) {
  std::string numbers;
  for (int i = 0; i < 100; ++i) numbers += (i ? ", " : "") + std::to_string(i);
  const std::string head = "<opset_import: [\"\" : 17]>\ng () => (float[100] w)\n<\n  float[100] w = {", tail = "}\n>\n{\n}\n";
  const auto graph = parse_graph(head + numbers + tail);
  EXPECT_EQ(print(*graph), head + "..." + tail);
  EXPECT_EQ(print(*graph, kEverything), head + numbers + tail);
  EXPECT_THROW(parse_graph(print(*graph)), Error);
}

TEST(Text, ErrorsGiveLineAndColumn) {
  const struct {
    const char* text;
    const char* message;
  } rows[] = {
      {"", "text:1:1: expected a name but found the end of the text"},
      {"g (float[2) => () {}", "text:1:11: expected ']' but found ')'"},
      {"g () => () {\n  y = Add(x, \n}", "text:3:1: expected a name but found '}'"},
      {"g () => () { y = Add<a = >() }", "text:1:26: expected a name"},
      {"g () => () { y = Add<a = [1, \"x\"]>() }", "text:1:30: expected a number but found 'x'"},
      {"g () => () { y = Add<a = []>() }", "an empty list wants its kind"},
      {"g () => () { y = Add<a = 1, a = 2>() }", "text:1:29: attribute 'a' is given twice"},
      {"g () => () { y = Add<a = 99999999999999999999>() }", "not a 64-bit integer"},
      {"g () => (float y) { }", "text:1:10: output 'y' is neither"},
      {"g (float x, float x) => () { }", "text:1:13: 'x' is declared twice"},
      {"g () => () { y = A() y = B() }", "text:1:22: 'y' is given more than once"},
      {"g () => () { y, y = A() }", "text:1:17: an output is named twice"},
      {"g () => () <float[2] w = {1}> {}", "text:1:28: 1 elements, expected 2"},
      {"g () => () <float[2] w = {1, 2, 3}> {}", "too many elements, expected 2"},
      {"g () => () <float[N] w = {1}> {}", "dimensions that are numbers"},
      {"g () => () <uint8[1] w = {256}> {}", "'256' is not a number of type uint8"},
      {"g () => () <int4[1] w = {8}> {}", "'8' is not a number of type int4"},
      {"g () => () <float[-1] w = {1}> {}", "a dimension is -1"},
      {"g () => () <float[1000000, 1000000] w = {1, ...}> {}", "expected at most"},
      {"g () => () <float[1000000, 1000000] w = {1, 2}> {}", "expected '...'"},
      {"g () => () <float q> {}", "no such value exists"},
      {"g () => () <sparse_tensor(float[4]) s = coo(float[1] {7}, int64[1] {4})> {}", "text:1:41: an index of a sparse tensor is 4"},
      {"g () => () <sparse_tensor(float[4]) s = coo(int8[1] {7}, int64[1] {3})> {}", "values of a sparse tensor are int8[1]"},
      {"g (\"x", "text:1:4: the string has no closing quote"},
      {"g (float[foo(a, b)] x) => () {}", "one of floor_div"},
      {"<opset_import: [\"\" : 0]> g () => () {}", "opset version 0"},
      {"<what: 3> g () => () {}", "unknown field 'what'"},
      {"g () => () {} more", "expected the end of the text but found 'more'"},
  };
  for (const auto& row : rows) {
    try {
      parse_graph(row.text);
      ADD_FAILURE() << "no error: " << row.text;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(row.message), std::string::npos) << row.text << "\n" << error.message();
    }
  }
}

TEST(Text, DeepNestingIsRefused) {
  std::string type, dim, graph;
  for (int i = 0; i < 10000; ++i) {
    type += "seq(";
    dim += "(";
    graph += "g () => () { y = If<b = ";
  }
  for (const std::string& text : {"g (" + type, "g (float[" + dim, graph}) {
    try {
      parse_graph(text);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("nested too deeply"), std::string::npos) << error.message();
    }
  }
}

TEST(Text, EveryPrefixAndEveryByteIsSurvived) {
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 2*M + 1] x, bool c) => (seq(float[...]) y) <sparse_tensor(float[4]) s = coo(float[1] {7}, int64[1] {3}), int8[3] w = {1, ...}, string[1] z = {"a\x41"}>
{ [n] y, _ = a.B<p = -1.5e3, q = [1, 2], r: floats = [], t = t (int64 i) => (float o) { o = C<v = float[2] {1, 2}>(x, i) }, u = type(map(int64, float))>(x, _, c) })";
  int read = 0;
  const auto attempt = [&](const std::string& candidate) {
    try {
      const auto graph = parse_graph(candidate);
      print(*parse_graph(print(*graph, kEverything)), kEverything);
      ++read;
    } catch (const Error& error) {
      EXPECT_TRUE(error.message().starts_with("text:")) << error.message();
    }
  };
  for (size_t i = 0; i < text.size(); ++i) attempt(text.substr(0, i));
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : {'(', '"', '9', '-', ' ', '.', '_', '\0'}) {
      std::string changed = text;
      changed[i] = c;
      attempt(changed);
    }
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace rh
