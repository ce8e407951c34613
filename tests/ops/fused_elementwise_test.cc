#include "support/op_case.h"

namespace rh::test {
namespace {

OpCase joined(std::vector<std::string> operators, std::vector<int64_t> operands, std::vector<Input> inputs, const char* purpose,
              std::vector<Input> expected, std::vector<std::string> fails = {}, std::vector<int64_t> rotated = {}) {
  OpCase c{1, {attr("operators", std::move(operators)), attr("operands", std::move(operands))}, std::move(inputs), purpose};
  if (!rotated.empty()) c.attributes.push_back(attr("rotated", std::move(rotated)));
  c.domain = "roundhouse";
  c.expected = std::move(expected);
  c.fails = std::move(fails);
  return c;
}

OpCase with_pairs(OpCase c) {
  c.attributes.push_back(attr("rotates_pairs", 1));
  return c;
}

OpCase with_results(std::vector<int64_t> results, OpCase c) {
  c.outputs = static_cast<int>(results.size()) + 1;
  c.attributes.push_back(attr("results", std::move(results)));
  return c;
}

const std::vector<OpCase> kFusedElementwise = {
    joined({"Mul", "Add", "Relu"}, {0, 1, 3, 2, 4}, {values({2, 2}, {1, 2, -3, 4}), values({2}, {2, 3}), values({2, 1}, {1, -20})},
           "rows and columns that broadcast", {values({2, 2}, {3, 7, 0, 0})}),
    joined({"Greater", "Where", "Neg"}, {0, 1, 2, 1, 0, 3}, {values({3}, {1, 5, 3}), values({}, {3})}, "a boolean between",
           {values({3}, {-1, -3, -3})}),
    joined({"Where"}, {2, 0, 1}, {values({3}, {1, 2, 3}), values({1}, {7}), values({3}, {1, 0, 1}).as(DType::boolean)},
           "a condition behind the numbers", {values({3}, {1, 7, 3})}),
    joined({"Exp"}, {0}, {values({}, {0})}, "a scalar", {values({}, {1})}),
    joined({"Exp", "Mul"}, {0, 1, 2}, {values({}, {0}), values({3}, {1, 2, 3})}, "a function of fewer elements than the output",
           {values({3}, {1, 2, 3})}),
    joined({"Sine"}, {0}, {normal({2})}, "an operator that is not known", {}, {"Sine"}),
    joined({}, {}, {normal({2})}, "no operator", {}, {"operators has 0"}),
    joined({"Neg"}, {1}, {normal({2})}, "its own result", {}, {"operand 0 of Neg is 1"}),
    joined({"Neg"}, {-1}, {normal({2})}, "a negative operand", {}, {"operand 0 of Neg is -1"}),
    joined({"Add"}, {0}, {normal({2})}, "too few operands", {}, {"operands has 1"}),
    joined({"Neg"}, {0, 0}, {normal({2})}, "too many operands", {}, {"operands has 2"}),
    joined({"Neg"}, {0}, {normal({2}), normal({2})}, "an input that nothing takes", {}, {"input 1"}),
    joined({"Greater", "Neg"}, {0, 0, 1}, {normal({2})}, "a boolean as a number", {}, {"operand 0 of Neg"}),
    joined({"Add"}, {0, 1}, {normal({2}), normal({3})}, "shapes that do not broadcast", {}, {"[2]", "[3]"}),
    joined({"Mul", "Add"}, {0, 1, 3, 2}, {values({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), values({4}, {1, 1, 2, 2}), values({2, 1}, {0, 1})},
           "halves that change places", {values({2, 4}, {-3, -4, 2, 4, -6, -7, 11, 13})}, {}, {0}),
    with_pairs(joined({"Add"}, {0, 1}, {values({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), values({}, {1})}, "neighbours that change places",
                      {values({2, 4}, {-1, 2, -3, 4, -5, 6, -7, 8})}, {}, {0})),
    joined({"Add"}, {0, 1}, {normal({2, 4}), normal({4})}, "halves of what broadcasts", {}, {"input 1", "[4]", "[2, 4]"}, {1}),
    joined({"Neg"}, {0}, {normal({2, 3})}, "halves of three", {}, {"[2, 3]", "even"}, {0}),
    joined({"Neg"}, {0}, {normal({2, 4})}, "halves of no input", {}, {"rotated lists 1"}, {1}),
    with_results({0, 1},
                 joined({"Neg", "Mul", "Add"}, {0, 2, 1, 3, 0}, {values({2, 2}, {1, 2, -3, 4}), values({2}, {2, 3})}, "results on the way",
                        {values({2, 2}, {-1, -4, 3, -8}), values({2, 2}, {-1, -2, 3, -4}), values({2, 2}, {-2, -6, 6, -12})})),
    with_results({1}, joined({"Neg", "Exp"}, {0, 1}, {normal({2})}, "the last result twice", {}, {"results lists 1"})),
    with_results({-1}, joined({"Neg", "Exp"}, {0, 1}, {normal({2})}, "a negative result", {}, {"results lists -1"})),
    with_results({0}, joined({"Less", "Where"}, {0, 1, 2, 0, 1}, {normal({2}), normal({2})}, "a boolean result", {}, {"results lists 0"})),
};
RH_OP_TEST(FusedElementwise, kFusedElementwise, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
