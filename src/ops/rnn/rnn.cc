#include "ops/rnn/rnn.h"

#include <algorithm>
#include <cctype>

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

namespace {

struct ActivationDefault {
  std::string_view name;
  float alpha, beta;
};

constexpr ActivationDefault kActivations[] = {
    {"relu", 0, 0},          {"tanh", 0, 0},
    {"sigmoid", 0, 0},       {"affine", 1, 0},
    {"leakyrelu", 0.01f, 0}, {"thresholdedrelu", 1, 0},
    {"scaledtanh", 1, 1},    {"hardsigmoid", 0.2f, 0.5f},
    {"elu", 1, 0},           {"softsign", 0, 0},
    {"softplus", 0, 0},
};

const ActivationDefault* find_activation(std::string_view name) {
  const auto at = std::find_if(std::begin(kActivations), std::end(kActivations), [&](const auto& a) { return a.name == name; });
  return at == std::end(kActivations) ? nullptr : at;
}

// alpha and beta lists hold values only for the activations that take them, in order.
void fill_parameters(const NodeView& node, Rnn& op) {
  const std::vector<float> alphas = node.floats_or("activation_alpha"), betas = node.floats_or("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  for (const std::string& name : op.activations) {
    const ActivationDefault* known = find_activation(name);
    if (!known) node.fail("activation '{}' is not known", name);
    const bool takes_alpha = known->alpha != 0 || name == "affine",
               takes_beta = known->beta != 0 || name == "affine" || name == "scaledtanh";
    op.activation_alpha.push_back(takes_alpha && next_alpha < alphas.size() ? alphas[next_alpha++] : known->alpha);
    op.activation_beta.push_back(takes_beta && next_beta < betas.size() ? betas[next_beta++] : known->beta);
  }
}

}  // namespace

Rnn Rnn::read(const NodeView& node) {
  Rnn op;
  op.cell = node.op_type().ends_with("LSTM") ? Cell::lstm : node.op_type() == "GRU" ? Cell::gru : Cell::rnn;
  const std::string direction = node.string_or("direction", "forward");
  if (direction == "reverse") {
    op.direction = Direction::reverse;
  } else if (direction == "bidirectional") {
    op.direction = Direction::bidirectional;
  } else if (direction != "forward") {
    node.fail("direction is '{}', expected forward, reverse or bidirectional", direction);
  }
  op.hidden_size = node.int_or("hidden_size", 0);
  op.clip = node.float_or("clip", 0);
  op.linear_before_reset = node.flag("linear_before_reset");
  op.input_forget = node.flag("input_forget");
  op.batch_first = node.flag("layout");
  op.activations = node.strings_or("activations");
  for (std::string& name : op.activations)
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (op.activations.empty()) {
    const std::vector<std::string> one = op.cell == Cell::lstm  ? std::vector<std::string>{"sigmoid", "tanh", "tanh"}
                                         : op.cell == Cell::gru ? std::vector<std::string>{"sigmoid", "tanh"}
                                                                : std::vector<std::string>{"tanh"};
    for (int i = 0; i < op.directions(); ++i) op.activations.insert(op.activations.end(), one.begin(), one.end());
  }
  const size_t needed = static_cast<size_t>(op.functions() * op.directions());
  if (op.activations.size() < needed) node.fail("activations has {} names, expected {}", op.activations.size(), needed);
  op.activations.resize(needed);  // the standard's default for RNN names both directions
  fill_parameters(node, op);
  return op;
}

void infer(const Rnn& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &r = context.input_tensor(2);
  if (x.has_rank() && x.rank() != 3) context.node().fail("input has rank {}, expected 3", x.rank());
  for (int i = 1; i <= 2; ++i) {
    const TensorType& weights = context.input_tensor(i);
    if (weights.has_rank() && weights.rank() != 3) fail_when_run(context.node(), "input {} has rank {}, expected 3", i, weights.rank());
  }
  const Dim directions(op.directions());
  Dim hidden = op.hidden_size > 0 ? Dim(op.hidden_size) : r.has_rank() && r.rank() == 3 ? (*r.dims)[2] : Dim();
  Dim sequence, batch;
  if (x.has_rank()) {
    sequence = (*x.dims)[op.batch_first ? 1 : 0];
    batch = (*x.dims)[op.batch_first ? 0 : 1];
  }
  if (op.batch_first) {
    context.set_output(0, x.dtype, SymbolicShape{batch, sequence, directions, hidden});
  } else {
    context.set_output(0, x.dtype, SymbolicShape{sequence, directions, batch, hidden});
  }
  const SymbolicShape state = op.batch_first ? SymbolicShape{batch, directions, hidden} : SymbolicShape{directions, batch, hidden};
  context.set_output(1, x.dtype, state);
  if (op.cell == Rnn::Cell::lstm) context.set_output(2, x.dtype, state);
}

}  // namespace rh::ops

RH_DEFINE_OP(Rnn)
