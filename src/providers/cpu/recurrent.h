#pragma once

#include <algorithm>

#include "compute/rnn/rnn.h"
#include "ops/rnn/rnn.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// Sizes of a run of a recurrent layer. RNN, GRU, LSTM and the LSTMs of com.microsoft share what stands here: their inputs X, B,
/// sequence_lens, initial_h, initial_c and P (0 and 3 to 7) and all outputs are the same.
struct RecurrentSizes {
  int64_t sequence = 0, batch = 0, input = 0, hidden = 0;
  const int32_t* lengths = nullptr;  ///< one a batch row, null: all full
};

/// Reads the sizes of a layer with this hidden size and holds those inputs against them.
Status read_sizes(const RunContext& context, const ops::Rnn& op, int64_t hidden, RecurrentSizes& sizes);

/// Status{invalid_argument} where the input has another shape.
Status expect_weights(const RunContext& context, int input, const Shape& expected);

/// Runs run_one for each direction of a layer of float: states are read and given, Y is written.
using RunDirection =
    FunctionRef<void(int64_t direction, const compute::CellParams&, const compute::CellRun&, float* scratch, const Parallel& parallel)>;
/// `side_by_side`: run_one may be called for both at once, and for shares of the batch rows, each with some of the threads.
void run_directions(RunContext& context, const ops::Rnn& op, const RecurrentSizes& sizes, RunDirection run_one, bool side_by_side = false);

/// State [directions, batch, hidden] in memory that the run may change.
template <typename T>
Compute<T>* initial_state(RunContext& context, const ops::Rnn& op, int input, const RecurrentSizes& sizes) {
  const int64_t directions = op.directions(), count = directions * sizes.batch * sizes.hidden;
  Compute<T>* state = context.scratch_array<Compute<T>>(count);
  if (!context.has_input(input)) {
    std::fill_n(state, count, Compute<T>(0));
    return state;
  }
  const T* from = context.input(input).data<T>();
  for (int64_t k = 0; k < directions; ++k) {
    for (int64_t row = 0; row < sizes.batch; ++row) {
      const int64_t at = op.batch_first ? row * directions + k : k * sizes.batch + row;
      std::copy_n(from + at * sizes.hidden, sizes.hidden, state + (k * sizes.batch + row) * sizes.hidden);
    }
  }
  return state;
}

template <typename T>
void give_state(RunContext& context, const ops::Rnn& op, int output, const Compute<T>* state, const RecurrentSizes& sizes) {
  if (!context.has_output(output)) return;
  const int64_t directions = op.directions();
  const Shape shape = op.batch_first ? Shape{sizes.batch, directions, sizes.hidden} : Shape{directions, sizes.batch, sizes.hidden};
  T* to = context.output(output, dtype_of<T>, shape).template data<T>();
  for (int64_t k = 0; k < directions; ++k) {
    for (int64_t row = 0; row < sizes.batch; ++row) {
      const int64_t at = op.batch_first ? row * directions + k : k * sizes.batch + row;
      for (int64_t i = 0; i < sizes.hidden; ++i) to[at * sizes.hidden + i] = T(state[(k * sizes.batch + row) * sizes.hidden + i]);
    }
  }
}

}  // namespace rh::cpu
