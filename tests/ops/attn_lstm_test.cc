#include "support/op_case.h"

namespace rh::test {
namespace {

constexpr int64_t kSteps = 4, kBatch = 3, kInput = 5, kHidden = 6, kDepth = 7, kSize = 4, kColumns = 3, kMemory = 5;

Input lengths(std::vector<double> v) {
  const auto count = static_cast<int64_t>(v.size());
  return values({count}, std::move(v)).as(DType::int32);
}

struct Given {
  std::vector<Input> state = {};  ///< inputs 3 to 7
  Input memory_lengths = lengths({2, 5, 3});
  bool has_layer = true;  ///< AW
  int64_t directions = 1;
};

OpCase layer(std::vector<Attribute> attributes, Given given, const char* purpose, std::vector<std::string> fails = {}) {
  attributes.push_back(attr("hidden_size", static_cast<int>(kHidden)));
  const int64_t d = given.directions, columns = given.has_layer ? kColumns : kDepth;
  std::vector<Input> inputs{normal({kSteps, kBatch, kInput}), normal({d, 4 * kHidden, kInput + columns}),
                            normal({d, 4 * kHidden, kHidden})};
  given.state.resize(5, absent());
  inputs.insert(inputs.end(), given.state.begin(), given.state.end());
  inputs.insert(inputs.end(),
                {normal({d, kHidden, kSize}), normal({d, kDepth, kSize}), normal({d, kSize}), normal({kBatch, kMemory, kDepth}),
                 given.memory_lengths, given.has_layer ? normal({d, kHidden + kDepth, kColumns}) : absent()});
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), 3, 1e-5);
}
OpCase changed(size_t input, Input other, const char* purpose, std::vector<std::string> fails) {
  OpCase c = layer({}, {}, purpose, std::move(fails));
  c.inputs[input] = std::move(other);
  return c;
}
const Attribute kReverse = attr("direction", "reverse");

const std::vector<OpCase> kAttnLSTM = {
    layer({}, {}, "forward"),
    layer({}, {.has_layer = false}, "without an attention layer"),
    layer({}, {.memory_lengths = absent()}, "whole memories"),
    layer({}, {.state = {normal({1, 8 * kHidden})}}, "bias"),
    layer({}, {.state = {absent(), lengths({4, 2, 3})}}, "sequences of several lengths"),
    layer({kReverse}, {}, "reverse"),
    layer({kReverse}, {.state = {absent(), lengths({4, 2, 3})}}, "reverse, sequences of several lengths"),
    layer({}, {.state = {absent(), absent(), normal({1, kBatch, kHidden}), normal({1, kBatch, kHidden}), normal({1, 3 * kHidden})}},
          "initial states and peepholes"),
    layer({attr("direction", "bidirectional")}, {.state = {normal({2, 8 * kHidden})}, .directions = 2}, "both directions"),
    layer({attr("clip", 0.5f)}, {}, "clip"),
    layer({attr("input_forget", 1)}, {}, "input_forget"),
    layer({attr("activations", std::vector<std::string>{"HardSigmoid", "Softsign", "Tanh"})}, {}, "activations"),
    layer({}, {.memory_lengths = lengths({2, 6, 3})}, "memory length", {"memory_seq_lens[1] is 6", "[1, 5]"}),
    layer({}, {.memory_lengths = lengths({0, 5, 3})}, "no memory", {"memory_seq_lens[0] is 0"}),
    changed(11, absent(), "M left out", {"M is left out"}),
    changed(8, normal({1, kHidden, kSize + 1}), "QW of another shape", {"input 8", "[1, 6, 5]", "[1, 6, 4]"}),
    changed(13, normal({1, kHidden, kColumns}), "AW of another shape", {"input 13", "[1, 6, 3]", "[1, 13, 3]"}),
    changed(1, normal({1, 4 * kHidden, kInput}), "W without the attention state", {"input 1", "[1, 24, 5]", "[1, 24, 8]"}),
    changed(11, normal({kBatch, 0, kDepth}), "an empty memory", {"[3, 0, 7]"}),
};
RH_OP_TEST(AttnLSTM, kAttnLSTM, Types<float>::set)

}  // namespace
}  // namespace rh::test
