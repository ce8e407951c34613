#include "support/op_case.h"

namespace rh::test {
namespace {

// Sequence 5, batch 3, input 4, hidden 6.
const std::vector<OpCase> kLstm = {
    {14, {attr("hidden_size", 6)}, {normal({5, 3, 4}), normal({1, 24, 4}), normal({1, 24, 6})}, "no bias", {}, 3},
    {14,
     {attr("hidden_size", 6)},
     {normal({5, 3, 4}), normal({1, 24, 4}).constant(), normal({1, 24, 6}).constant(), normal({1, 48}).constant()},
     "constants",
     {},
     3},
    {7,
     {attr("hidden_size", 6), attr("direction", "bidirectional")},
     {normal({5, 3, 4}), normal({2, 24, 4}), normal({2, 24, 6}), normal({2, 48})},
     "both ways",
     {},
     3},
    {14,
     {attr("hidden_size", 24), attr("direction", "bidirectional")},
     {normal({20, 2, 16}), uniform({2, 96, 16}, -0.3, 0.3), uniform({2, 96, 24}, -0.3, 0.3), normal({2, 192}),
      values({2}, {20, 7}).as(DType::int32), normal({2, 2, 24}), normal({2, 2, 24}), normal({2, 72})},
     "both ways side by side, lengths, states, peepholes",
     {},
     3},
    {14,
     {attr("hidden_size", 128), attr("direction", "bidirectional")},
     {normal({12, 1, 16}), uniform({2, 512, 16}, -0.2, 0.2).constant(), uniform({2, 512, 128}, -0.2, 0.2).constant()},
     "both ways side by side, one row",
     {},
     3},
    {14,
     {attr("hidden_size", 6), attr("direction", "reverse")},
     {normal({5, 3, 4}), normal({1, 24, 4}), normal({1, 24, 6}), normal({1, 48}), values({3}, {5, 2, 3}).as(DType::int32),
      normal({1, 3, 6}), normal({1, 3, 6}), normal({1, 18})},
     "reverse, lengths, states, peepholes",
     {},
     3},
    {14,
     {attr("hidden_size", 6), attr("clip", 0.5f), attr("activations", std::vector<std::string>{"HardSigmoid", "Relu", "Softsign"})},
     {normal({5, 3, 4}), normal({1, 24, 4}), normal({1, 24, 6}), normal({1, 48})},
     "clip and other activations",
     {},
     3},
    {14,
     {attr("hidden_size", 6)},
     {normal({5, 3, 4}), normal({1, 20, 4}), normal({1, 24, 6})},
     "weights do not fit",
     {"input 1", "expected [1, 24, 4]"}},
    {14,
     {attr("hidden_size", 6), attr("direction", "sideways")},
     {normal({5, 3, 4}), normal({1, 24, 4}), normal({1, 24, 6})},
     "no such direction",
     {"sideways"}},
};
RH_OP_TEST(LSTM, kLstm, (Types<float, double>::set))

const std::vector<OpCase> kGru = {
    {14, {attr("hidden_size", 6)}, {normal({5, 3, 4}), normal({1, 18, 4}), normal({1, 18, 6}), normal({1, 36})}, "bias", {}, 2},
    {14,
     {attr("hidden_size", 6), attr("linear_before_reset", 1)},
     {normal({5, 3, 4}), normal({1, 18, 4}), normal({1, 18, 6}), normal({1, 36})},
     "linear before reset",
     {},
     2},
    {7,
     {attr("hidden_size", 6), attr("direction", "bidirectional")},
     {normal({5, 3, 4}), normal({2, 18, 4}), normal({2, 18, 6})},
     "both ways",
     {},
     2},
    {14,
     {attr("hidden_size", 24), attr("direction", "bidirectional")},
     {normal({20, 2, 16}), uniform({2, 72, 16}, -0.3, 0.3).constant(), uniform({2, 72, 24}, -0.3, 0.3).constant(), normal({2, 144})},
     "both ways side by side",
     {},
     2},
};
RH_OP_TEST(GRU, kGru, (Types<float, double>::set))

const std::vector<OpCase> kRnn = {
    {14, {attr("hidden_size", 6)}, {normal({5, 3, 4}), normal({1, 6, 4}), normal({1, 6, 6}), normal({1, 12})}, "bias", {}, 2},
    {14,
     {attr("hidden_size", 6), attr("activations", std::vector<std::string>{"Relu"})},
     {normal({5, 3, 4}), normal({1, 6, 4}), normal({1, 6, 6})},
     "relu",
     {},
     2},
};
RH_OP_TEST(RNN, kRnn, (Types<float, double>::set))

}  // namespace
}  // namespace rh::test
