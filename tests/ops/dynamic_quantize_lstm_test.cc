#include "support/op_case.h"

namespace rh::test {
namespace {

/// Sizes of X, and how the weights are quantised: the type of W and R is that under test.
struct Layer {
  int64_t steps, batch, input, hidden;
  int64_t directions = 1;
  bool is_constant = true, per_column = false;
};

/// `state` are inputs 3 to 7.
OpCase lstm(const Layer& l, std::vector<Attribute> attributes, std::vector<Input> state, const char* purpose,
            std::vector<std::string> fails = {}) {
  attributes.push_back(attr("hidden_size", static_cast<int>(l.hidden)));
  const auto fixed = [&](Input input) { return l.is_constant ? input.constant() : input; };
  const auto weights = [&](int64_t rows) { return fixed(uniform({l.directions, rows, 4 * l.hidden}, 0, 120)); };
  const Shape shape = l.per_column ? Shape{l.directions, 4 * l.hidden} : Shape{l.directions};
  const auto scale = [&] { return fixed(uniform(shape, 0.002, 0.01).as(DType::float32)); };
  // The stock library takes one zero point a direction, and of int8 columns none.
  const Input zero = fixed(values(shape, std::vector<double>(static_cast<size_t>(shape.elements()), l.per_column ? 0 : 60)));
  std::vector<Input> inputs{normal({l.steps, l.batch, l.input}).as(DType::float32), weights(l.input), weights(l.hidden)};
  state.resize(5, absent());
  inputs.insert(inputs.end(), state.begin(), state.end());
  inputs.insert(inputs.end(), {scale(), zero, scale(), zero});
  return contributed(std::move(attributes), std::move(inputs), purpose, std::move(fails), 3, 4e-6);
}
OpCase changed(OpCase c, size_t input, Shape shape) {
  c.inputs[input].shape = std::move(shape);
  return c;
}
Input f(Shape shape) { return normal(std::move(shape)).as(DType::float32); }
Input lengths(std::vector<double> v) {
  const auto count = static_cast<int64_t>(v.size());
  return values({count}, std::move(v)).as(DType::int32);
}

// The stock library runs on over the padding of ended sequences, whose states then widen the range in which all are rounded to 8 bits.
OpCase with_padding(OpCase c) {
  c.tolerance = 2e-3;
  return c;
}

// Without steps it gives any state, without batch it ends the process.
OpCase without_stock(OpCase c) {
  c.stock_is_wrong = true;
  return c;
}

const std::vector<OpCase> kDynamicQuantizeLSTM = {
    lstm({1, 1, 5, 7}, {}, {}, "one step"),
    lstm({6, 3, 5, 16}, {}, {f({1, 128})}, "steps of a batch, bias"),
    lstm({6, 3, 5, 16, 1, false}, {}, {f({1, 128})}, "weights at run time"),
    lstm({6, 3, 5, 16, 1, true, true}, {}, {f({1, 128})}, "scales of columns"),
    lstm({4, 2, 9, 33, 2}, {attr("direction", "bidirectional")}, {f({2, 264})}, "both directions"),
    lstm({4, 2, 9, 8, 2, true, true}, {attr("direction", "bidirectional")}, {}, "both directions, scales of columns"),
    lstm({4, 2, 9, 8}, {attr("direction", "reverse")}, {absent(), absent(), f({1, 2, 8}), f({1, 2, 8})}, "reverse, initial states"),
    lstm({4, 2, 9, 8}, {}, {f({1, 64}), absent(), absent(), absent(), f({1, 24})}, "peepholes"),
    lstm({4, 1, 9, 8}, {attr("clip", 0.5f)}, {}, "clip"),
    lstm({4, 1, 9, 8}, {attr("input_forget", 1)}, {}, "input_forget"),
    lstm({4, 1, 9, 8}, {attr("activations", std::vector<std::string>{"HardSigmoid", "Softsign", "Tanh"})}, {}, "activations"),
    lstm({4, 3, 9, 8}, {}, {absent(), lengths({4, 4, 4})}, "sequences of full length"),
    with_padding(lstm({4, 3, 9, 8}, {}, {absent(), lengths({2, 4, 1})}, "sequences of several lengths")),
    with_padding(
        lstm({4, 3, 9, 8}, {attr("direction", "reverse")}, {absent(), lengths({2, 4, 1})}, "sequences of several lengths, reverse")),
    without_stock(lstm({0, 2, 9, 8}, {}, {}, "no steps")),
    without_stock(lstm({4, 0, 9, 8}, {}, {}, "no batch")),
    lstm({4, 2, 0, 8}, {}, {}, "no columns", {"X has no columns"}),
    lstm({4, 2, 9, 0}, {}, {}, "no hidden size", {"hidden_size is 0"}),
    lstm({4, 2, 9, 8}, {}, {absent(), lengths({2, 5})}, "length", {"sequence_lens[1] is 5"}),
    changed(lstm({4, 2, 9, 8}, {}, {}, "W of another shape", {"input 1", "[1, 8, 32]", "[1, 9, 32]"}), 1, {1, 8, 32}),
    changed(lstm({4, 2, 9, 8, 1, false}, {}, {}, "R of another shape", {"input 2", "[1, 8, 31]", "[1, 8, 32]"}), 2, {1, 8, 31}),
    changed(lstm({4, 2, 9, 8}, {}, {}, "scales of another shape", {"input 10", "[3]", "[1, 32]"}), 10, {3}),
};
RH_OP_TEST(DynamicQuantizeLSTM, kDynamicQuantizeLSTM, (Types<int8_t, uint8_t>::set))

}  // namespace
}  // namespace rh::test
