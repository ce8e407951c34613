#include "providers/cpu/recurrent.h"

#include <limits>

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
  // Side by side no step of one direction waits for the other's thread. Less work than a loop's beginning costs stays here.
  constexpr double kLeastProducts = 1e5;
  const double products = static_cast<double>(sizes.sequence * sizes.batch) * static_cast<double>(width * (sizes.input + sizes.hidden));
  const bool together = side_by_side && directions > 1 && context.parallel().threads() > 1 && products >= kLeastProducts;
  const int64_t scratch_floats = static_cast<int64_t>(compute::cell_scratch_floats(params, sizes.sequence, sizes.batch));
  float* scratch = context.scratch_array<float>(scratch_floats * (together ? directions : 1));
  const auto run_direction = [&](int64_t k, const Parallel& parallel) {
    compute::CellParams own = params;
    compute::CellRun own_run = run;
    const size_t first = static_cast<size_t>(k * op.functions());
    for (size_t f = 0; f < static_cast<size_t>(op.functions()); ++f) {
      own.activations[f] = compute_activation(op.activations[first + f], op.activation_alpha[first + f], op.activation_beta[first + f]);
    }
    own.bias = context.has_input(3) ? context.input(3).data<float>() + k * 2 * width : nullptr;
    own.peepholes = lstm && context.has_input(7) ? context.input(7).data<float>() + k * 3 * sizes.hidden : nullptr;
    own_run.reverse = op.direction == ops::Rnn::Direction::reverse || k == 1;
    own_run.y = y ? y + k * (op.batch_first ? sizes.hidden : sizes.batch * sizes.hidden) : nullptr;
    own_run.h = h + k * sizes.batch * sizes.hidden;
    own_run.c = c ? c + k * sizes.batch * sizes.hidden : nullptr;
    run_one(k, own, own_run, scratch + (together ? k * scratch_floats : 0), parallel);
  };
  if (together) {
    const Parallel half = context.parallel().part_of(static_cast<int>(directions));
    context.parallel().for_pieces(directions, [&](int64_t k) { run_direction(k, half); });
  } else {
    for (int64_t k = 0; k < directions; ++k) run_direction(k, context.parallel());
  }
  give_state<float>(context, op, 1, h, sizes);
  if (lstm) give_state<float>(context, op, 2, c, sizes);
}

}  // namespace rh::cpu
