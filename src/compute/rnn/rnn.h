#pragma once

#include <cstddef>
#include <cstdint>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "compute/elementwise/activation.h"
#include "compute/gemm/gemm.h"

namespace rh::compute {

enum class CellKind : uint8_t { rnn, gru, lstm };

/// One direction of a recurrent layer, as ONNX RNN, GRU and LSTM (opset 7 on) define it. Gates lie in ONNX's order: LSTM i o f c, GRU z r
/// h.
struct CellParams {
  CellKind kind = CellKind::lstm;
  int64_t input_size = 0;
  int64_t hidden_size = 0;
  Activation activations[3];         ///< LSTM f g h, GRU f g, RNN f
  float clip = 0;                    ///< of the input of the activations; 0: none
  bool input_forget = false;         ///< LSTM: f = 1 - i
  bool linear_before_reset = false;  ///< GRU
  const float* bias = nullptr;       ///< [2 gates hidden]: Wb then Rb; or null
  const float* peepholes = nullptr;  ///< LSTM: [3 hidden] for i o f; or null
};

int64_t gates_of(CellKind kind);

/// Sizes and places of one run. x is [steps, batch, input_size] with strides in elements. y (may be null) takes h of each step; h and c are
/// [batch, hidden] and hold the initial state on entry, the final state on return. Elements of a batch row beyond sequence_lengths are zero
/// in y.
struct CellRun {
  int64_t steps = 0;
  int64_t batch = 0;
  bool reverse = false;
  const int32_t* sequence_lengths = nullptr;  ///< [batch] or null: all `steps`
  const float* x = nullptr;
  int64_t x_step_stride = 0;
  int64_t x_batch_stride = 0;
  float* y = nullptr;
  int64_t y_step_stride = 0;
  int64_t y_batch_stride = 0;
  float* h = nullptr;
  float* c = nullptr;  ///< LSTM only
};

/// From how many batch rows on the bits of one do not depend on how many others there are, of gates of `width` floats together. Products of
/// fewer rows are summed in more parts, as are those of a last panel of columns that is one vector.
int64_t least_cell_rows(int64_t width);

/// Floats of scratch memory that run_cell needs.
size_t cell_scratch_floats(const CellParams& params, int64_t steps, int64_t batch);

/// A product with weights of the caller's: c[args.m, args.n] = a W^T + args.beta c + the bias of args' epilogue (a column each, or none);
/// lda and ldc as gemm takes them.
using CellProduct = FunctionRef<void(const GemmArgs<float>& args, const float* a, float* c)>;

/// `input` multiplies rows of x (a is within run.x), `recurrent` the hidden state of all batch rows, once a step, with beta 1 (a
/// GRU: 0); of all columns, or, where `panel_width` is not 0, of those from a multiple of it on (args.first_column) too.
void run_cell(const CellParams& params, CellProduct input, CellProduct recurrent, const CellRun& run, float* scratch,
              int64_t panel_width = 0);

/// The same with weights w [gates hidden, input_size] and r [gates hidden, hidden], packed transposed (PackedMatrix(w, k = input_size, n =
/// gates hidden, true)).
void run_cell(const CellParams& params, const PackedMatrix<float>& w, const PackedMatrix<float>& r, const CellRun& run, float* scratch,
              const Parallel& parallel);

}  // namespace rh::compute
