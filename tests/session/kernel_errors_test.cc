// The codes that callers get for what kernels refuse: those of ONNX Runtime, operator by operator.
#include "session/kernel_errors.h"

#include "session/run_helpers.h"

namespace rh::test {
namespace {

Node node_of(std::string domain, std::string op_type) {
  Node node;
  node.domain = std::move(domain);
  node.op_type = std::move(op_type);
  return node;
}

TEST(KernelErrors, AreThoseOfTheOperator) {
  const struct {
    const char* domain;
    const char* op_type;
    ErrorCode code;
  } rows[] = {
      {"", "Gather", ErrorCode::invalid_argument},
      {"", "Unsqueeze", ErrorCode::invalid_argument},
      {"", "BatchNormalization", ErrorCode::invalid_argument},
      {"", "Loop", ErrorCode::invalid_argument},
      {"", "MatMul", ErrorCode::fail},
      {"", "Add", ErrorCode::fail},
      {"", "Reshape", ErrorCode::fail},
      {"", "Cast", ErrorCode::runtime_exception},
      {"", "ArgMax", ErrorCode::runtime_exception},
      {"com.microsoft", "Attention", ErrorCode::invalid_argument},
      {"com.microsoft", "FusedMatMul", ErrorCode::fail},
      {"somebody", "Add", ErrorCode::invalid_argument},
  };
  for (const auto& row : rows) {
    const Node node = node_of(row.domain, row.op_type);
    EXPECT_EQ(code_of_kernel_error(node, ErrorCode::invalid_argument), row.code) << row.domain << "::" << row.op_type;
    for (const ErrorCode other : {ErrorCode::ok, ErrorCode::fail, ErrorCode::runtime_exception, ErrorCode::not_implemented}) {
      EXPECT_EQ(code_of_kernel_error(node, other), other) << row.op_type;
    }
  }
}

TEST(KernelErrors, OfAFusedFormAreThoseOfItsFirstNode) {
  Node node = node_of("roundhouse", "Form");
  EXPECT_EQ(code_of_kernel_error(node, ErrorCode::invalid_argument), ErrorCode::invalid_argument);
  auto original = std::make_shared<OriginalNode>();
  original->op_type = "MatMul";
  node.provenance = {original};
  EXPECT_EQ(code_of_kernel_error(node, ErrorCode::invalid_argument), ErrorCode::fail);
}

ErrorCode code_of_run(const char* text, const std::vector<std::pair<const char*, Value>>& inputs, Value output = {}) {
  auto session = make_session(text);
  std::vector<Value> outputs{std::move(output)};
  return try_run(*session, inputs, {"y"}, &outputs).code();
}

TEST(KernelErrors, ReachTheCaller) {
  constexpr char kAdd[] = R"(<opset_import: ["" : 17]> main (float[n] x, float[m] z) => (float[k] y) { y = Add (x, z) })";
  constexpr char kExpand[] = R"(<opset_import: ["" : 17]> main (float[n] x, int64[1] s) => (float[k] y) { y = Expand (x, s) })";
  constexpr char kInside[] = R"(<opset_import: ["" : 17]> main (bool[] c, float[n] x, int64[1] s) => (float[k] y) {
    y = If (c) <then_branch = g () => (float[p] t) { t = Expand (x, s) }, else_branch = h () => (float[q] e) { e = Relu (x) }>
  })";
  const Value two = floats({2}, {1, 2}), three = floats({3}, {1, 2, 3}), shape = Tensor::from<int64_t>({1}, {{3}}),
              yes = Tensor::scalar<bool>(true);
  EXPECT_EQ(code_of_run(kAdd, {{"x", two}, {"z", three}}), ErrorCode::fail);
  EXPECT_EQ(code_of_run(kExpand, {{"x", two}, {"s", shape}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of_run(kInside, {{"c", yes}, {"x", two}, {"s", shape}}), ErrorCode::invalid_argument);
  // An output that the caller gives and that does not suit is the caller's mistake.
  EXPECT_EQ(code_of_run(kAdd, {{"x", two}, {"z", two}}, floats({3}, {0, 0, 0})), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace rh::test
