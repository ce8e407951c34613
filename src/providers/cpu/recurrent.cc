#include "providers/cpu/recurrent.h"

#include <limits>

#include "base/shares.h"

namespace rh::cpu {

namespace {

Status expect(const RunContext& context, int input, int64_t elements) {
  if (!context.has_input(input) || context.input(input).elements() == elements) return {};
  return error_status(ErrorCode::invalid_argument, "input {} has shape {}, expected {} elements for these sizes", input,
                      context.input(input).shape().to_string(), elements);
}

compute::Activation compute_activation(const std::string& name, float alpha, float beta) {
  using K = compute::ActivationKind;
  static constexpr std::pair<std::string_view, K> kKinds[] = {
      {"sigmoid", K::sigmoid},
      {"tanh", K::tanh},
      {"relu", K::relu},
      {"affine", K::affine},
      {"leakyrelu", K::leaky_relu},
      {"scaledtanh", K::scaled_tanh},
      {"hardsigmoid", K::hard_sigmoid},
      {"elu", K::elu},
      {"softsign", K::softsign},
      {"softplus", K::softplus},
      {"thresholdedrelu", K::thresholded_relu},
  };
  for (const auto& [known, kind] : kKinds) {
    if (name == known) return {kind, alpha, beta};
  }
  return {};
}

/// What runs side by side: no step of one piece waits for the thread of another.
struct Cut {
  int64_t directions = 1;  ///< 1: one after the other
  int64_t shares = 1;      ///< of the batch rows
  int64_t pieces() const { return directions * shares; }
};

/// A share of few rows would read the recurrent weights, [width, hidden], for too little; the more, the farther away they lie.
Cut cut_for(int64_t directions, int64_t width, const RecurrentSizes& sizes, int threads) {
  constexpr double kLeastProducts = 1e5;  // less work than the beginning of a loop costs stays here
  constexpr int64_t kLeastRowsFar = 16, kNearWeights = 2 << 20;
  const double products = static_cast<double>(sizes.sequence * sizes.batch) * static_cast<double>(width * (sizes.input + sizes.hidden));
  if (threads <= 1 || products < kLeastProducts) return {};
  const int64_t rows = std::max(compute::least_cell_rows(width), width * sizes.hidden <= kNearWeights ? 1 : kLeastRowsFar);
  return {directions, std::clamp<int64_t>(threads / directions, 1, std::max<int64_t>(1, sizes.batch / rows))};
}

}  // namespace

Status read_sizes(const RunContext& context, const ops::Rnn& op, int64_t hidden, RecurrentSizes& sizes) {
  const Shape& x = context.input(0).shape();
  if (x.rank() != 3) return error_status(ErrorCode::invalid_argument, "X has rank {}, expected 3", x.rank());
  sizes.sequence = x[op.batch_first ? 1 : 0];
  sizes.batch = x[op.batch_first ? 0 : 1];
  sizes.input = x[2];
  sizes.hidden = hidden;
  if (hidden > INT32_MAX) return error_status(ErrorCode::invalid_argument, "the hidden size is {}, which is too large", hidden);
  const int64_t directions = op.directions(), states = Shape{directions, sizes.batch, hidden}.elements();
  // Inputs without elements may name any batch; states have one all the same.
  constexpr int64_t kMostStates = int64_t{1} << 40;
  if (states > kMostStates || sizes.batch > kMostStates) {
    return error_status(ErrorCode::invalid_argument, "states of {} directions, batch {} and hidden size {} are more than {} elements",
                        directions, sizes.batch, hidden, kMostStates);
  }
  RH_RETURN_IF_ERROR(expect(context, 3, directions * 2 * op.gates() * hidden));
  RH_RETURN_IF_ERROR(expect(context, 4, sizes.batch));
  RH_RETURN_IF_ERROR(expect(context, 5, states));
  const bool lstm = op.cell == ops::Rnn::Cell::lstm;
  if (lstm) RH_RETURN_IF_ERROR(expect(context, 6, states));
  if (lstm) RH_RETURN_IF_ERROR(expect(context, 7, directions * 3 * hidden));
  sizes.lengths = context.has_input(4) ? context.input(4).data<int32_t>() : nullptr;
  for (int64_t i = 0; sizes.lengths && i < sizes.batch; ++i) {
    if (sizes.lengths[i] < 0 || sizes.lengths[i] > sizes.sequence) {
      return error_status(ErrorCode::invalid_argument, "sequence_lens[{}] is {}, expected a value in [0, {}]", i, sizes.lengths[i],
                          sizes.sequence);
    }
  }
  return {};
}

Status expect_weights(const RunContext& context, int input, const Shape& expected) {
  const Shape& found = context.input(input).shape();
  if (found == expected) return {};
  return error_status(ErrorCode::invalid_argument, "input {} has shape {}, expected {}", input, found.to_string(), expected.to_string());
}

void run_directions(RunContext& context, const ops::Rnn& op, const RecurrentSizes& sizes, RunDirection run_one, bool side_by_side) {
  const bool lstm = op.cell == ops::Rnn::Cell::lstm;
  const int64_t directions = op.directions(), width = op.gates() * sizes.hidden;
  compute::CellParams params;
  params.kind = lstm ? compute::CellKind::lstm : op.cell == ops::Rnn::Cell::gru ? compute::CellKind::gru : compute::CellKind::rnn;
  params.input_size = sizes.input;
  params.hidden_size = sizes.hidden;
  params.clip = op.clip;
  params.input_forget = op.input_forget;
  params.linear_before_reset = op.linear_before_reset;
  float* h = initial_state<float>(context, op, 5, sizes);
  float* c = lstm ? initial_state<float>(context, op, 6, sizes) : nullptr;
  const Shape y_shape = op.batch_first ? Shape{sizes.batch, sizes.sequence, directions, sizes.hidden}
                                       : Shape{sizes.sequence, directions, sizes.batch, sizes.hidden};
  float* y = context.has_output(0) ? context.output(0, DType::float32, y_shape).data<float>() : nullptr;
  compute::CellRun run;
  run.steps = sizes.sequence;
  run.batch = sizes.batch;
  run.sequence_lengths = sizes.lengths;
  run.x = context.input(0).data<float>();
  run.x_step_stride = op.batch_first ? sizes.input : sizes.batch * sizes.input;
  run.x_batch_stride = op.batch_first ? sizes.sequence * sizes.input : sizes.input;
  run.y_step_stride = op.batch_first ? directions * sizes.hidden : directions * sizes.batch * sizes.hidden;
  run.y_batch_stride = op.batch_first ? sizes.sequence * directions * sizes.hidden : sizes.hidden;
  const Cut cut = side_by_side ? cut_for(directions, width, sizes, context.parallel().threads()) : Cut{};
  int64_t scratch_floats = 0;
  for (const int64_t rows : {sizes.batch / cut.shares, (sizes.batch + cut.shares - 1) / cut.shares})
    scratch_floats = std::max(scratch_floats, static_cast<int64_t>(compute::cell_scratch_floats(params, sizes.sequence, rows)));
  float* scratch = context.scratch_array<float>(scratch_floats * cut.pieces());
  const auto run_piece = [&](int64_t k, int64_t share, float* memory, const Parallel& parallel) {
    compute::CellParams own = params;
    compute::CellRun own_run = run;
    const size_t first = static_cast<size_t>(k * op.functions());
    for (size_t f = 0; f < static_cast<size_t>(op.functions()); ++f) {
      own.activations[f] = compute_activation(op.activations[first + f], op.activation_alpha[first + f], op.activation_beta[first + f]);
    }
    own.bias = context.has_input(3) ? context.input(3).data<float>() + k * 2 * width : nullptr;
    own.peepholes = lstm && context.has_input(7) ? context.input(7).data<float>() + k * 3 * sizes.hidden : nullptr;
    own_run.reverse = op.direction == ops::Rnn::Direction::reverse || k == 1;
    const int64_t row = share_begin(sizes.batch, cut.shares, share), state = (k * sizes.batch + row) * sizes.hidden;
    own_run.batch = share_begin(sizes.batch, cut.shares, share + 1) - row;
    own_run.x += row * run.x_batch_stride;
    if (run.sequence_lengths) own_run.sequence_lengths += row;
    own_run.y = y ? y + k * (op.batch_first ? sizes.hidden : sizes.batch * sizes.hidden) + row * run.y_batch_stride : nullptr;
    own_run.h = h + state;
    own_run.c = c ? c + state : nullptr;
    run_one(k, own, own_run, memory, parallel);
  };
  if (cut.pieces() > 1) {
    const Parallel own = context.parallel().part_of(static_cast<int>(cut.pieces()));
    context.parallel().for_pieces(cut.pieces(),
                                  [&](int64_t i) { run_piece(i / cut.shares, i % cut.shares, scratch + i * scratch_floats, own); });
  } else {
    for (int64_t k = 0; k < directions; ++k) run_piece(k, 0, scratch, context.parallel());
  }
  give_state<float>(context, op, 1, h, sizes);
  if (lstm) give_state<float>(context, op, 2, c, sizes);
}

}  // namespace rh::cpu
