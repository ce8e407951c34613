#include "support/op_case.h"

namespace rh::test {
namespace {

// The second sequence has ended. sigmoid(0) is a half, tanh(0) is 0: half of the state is kept.
const std::vector<Input> kInputs = {values({1, 2, 1}, {4, 6}), values({1, 2, 3}, {9, 0, 0, 9, 0, 0}), values({2}, {3, 1}),
                                    values({1}, {1})};

const std::vector<OpCase> kGRUUnit = {
    {7, {}, kInputs, "what has ended keeps its state", {}, 1, 0, "", nullptr, {values({1, 2, 1}, {2, 6})}},
    {7, {attr("drop_states", 1)}, kInputs, "what has ended gives 0", {}, 1, 0, "", nullptr, {values({1, 2, 1}, {2, 0})}},
    {7, {}, {kInputs[0], values({1, 2, 2}, {1, 2, 3, 4}), kInputs[2], kInputs[3]}, "too few gates", {"[1, 2, 2]", "3 D"}},
};
RH_OP_TEST(GRUUnit, kGRUUnit, FloatingTypes::set)

}  // namespace
}  // namespace rh::test
