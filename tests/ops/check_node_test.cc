#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "ops/inference.h"

namespace rh {
namespace {

struct Refused {
  const char* body;
  const char* part;  ///< of the message
  ErrorCode code = ErrorCode::invalid_graph;
};

TEST(CheckNode, NamesWhatIsWrong) {
  const Refused cases[] = {
      {"y = Add(x)", "1 inputs, expected 2"},
      {"y = Relu(x, x)", "2 inputs, expected 1"},
      {"y, z = Relu(x)", "2 outputs, expected 1"},
      {"y = Conv(_, x)", "input 0 (X) is left out"},
      {"y = Softmax<axes = 1>(x)", "'axes' is not one of this operator"},
      {"y = Softmax<axis = 1.5>(x)", "'axis' is a float, expected an integer"},
      {"y = Concat(x, x)", "'axis' is missing"},
      {"y = Constant<mark = 1>()", "is declared with element type float but its operator gives int64", ErrorCode::fail},
      {"y = Constant()", "value", ErrorCode::fail},
      {"y = Not(x)", "is tensor(float), expected one of tensor(bool)"},
      {"y = Add(x, i)", "inputs 0 and 1 are tensor(float) and tensor(int64)", ErrorCode::fail},
  };
  for (const Refused& c : cases) {
    SCOPED_TRACE(c.body);
    const std::string text =
        std::string("<ir_version: 8, opset_import: [\"\" : 17]> g (float[2, 3] x, int64[2, 3] i) => (float y) { ") + c.body + " }";
    try {
      Model model = parse_model(text);
      infer_types(*model.graph);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.part), std::string::npos) << error.what();
      EXPECT_EQ(error.code(), c.code);
    }
  }
}

TEST(CheckNode, PassesOverMarksBehindTheValueOfAConstant) {
  Model model = parse_model("<ir_version: 8, opset_import: [\"\" : 17]> g () => (float y) { y = Constant<value_float = 2.5, mark = 1>() }");
  infer_types(*model.graph);
}

}  // namespace
}  // namespace rh
