#include "compute/rnn/rnn.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/cancellation.h"
#include "compute/elementwise/vector_math.h"
#include "compute/rnn/rnn_beside.h"

namespace rh::compute {
namespace {

constexpr int64_t kProjectedRows = 96;  // enough rows for a product to run at full speed, few enough to stay near the core

/// How many steps are projected at once.
int64_t block_steps(int64_t steps, int64_t batch) {
  return std::clamp<int64_t>(kProjectedRows / std::max<int64_t>(batch, 1), 1, std::max<int64_t>(steps, 1));
}

/// Floats of the input projections: of one block of steps, or of two where recurrent products go beside them.
int64_t projected_floats(int64_t steps, int64_t batch, int64_t width) {
  const int64_t floats = block_steps(steps, batch) * batch * width;
  return batch == 1 ? std::max(floats, ProductsBeside::scratch_floats(width)) : floats;
}

/// The recurrence of one direction: `projected_` holds the input projections of one block of steps.
class Cell {
 public:
  Cell(const CellParams& params, CellProduct input, CellProduct recurrent, const CellRun& run, float* scratch, int64_t panel_width)
      : p_(params),
        input_(input),
        recurrent_(recurrent),
        run_(run),
        hidden_(params.hidden_size),
        width_(gates_of(params.kind) * params.hidden_size),
        panel_width_(panel_width) {
    projected_ = scratch;
    gates_ = projected_ + projected_floats(run.steps, run.batch, width_);
    extra_ = gates_ + run.batch * width_;
    bias_ = extra_ + run.batch * hidden_;
    sum_bias();
  }

  /// Works both products out beside each other, where that is possible.
  void put_beside(const PackedMatrix<float>& w, const PackedMatrix<float>& r, const Parallel& parallel) {
    if (run_.batch != 1 || run_.steps == 0 || p_.kind == CellKind::gru) return;
    const int64_t stride = run_.x_step_stride;
    const float* const x = run_.reverse ? run_.x + (run_.steps - 1) * stride : run_.x;
    const RowProducts products{w, r, x, run_.reverse ? -stride : stride, run_.steps, bias_};
    if (ProductsBeside::fits(products)) beside_.emplace(products, projected_, parallel);
  }

  void run() {
    if (beside_) {
      for (int64_t i = 0; i < run_.steps; ++i) step(0, run_.reverse ? run_.steps - 1 - i : i);
      return;
    }
    const int64_t block = block_steps(run_.steps, run_.batch), blocks = (run_.steps + block - 1) / block;
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t first = (run_.reverse ? blocks - 1 - i : i) * block, count = std::min(block, run_.steps - first);
      project(first, count);
      for (int64_t t = 0; t < count; ++t) step(first, run_.reverse ? count - 1 - t : t);
    }
  }

 private:
  void project(int64_t first, int64_t steps) {
    const float* x = run_.x + first * run_.x_step_stride;
    GemmArgs<float> args;
    args.n = width_;
    args.k = p_.input_size;
    args.epilogue.bias_kind = BiasKind::per_column;
    args.epilogue.bias = bias_;
    if (run_.x_step_stride == run_.batch * run_.x_batch_stride || run_.batch == 1) {
      args.m = steps * run_.batch;
      args.lda = run_.batch == 1 ? run_.x_step_stride : run_.x_batch_stride;
      input_(args, x, projected_);
      return;
    }
    if (run_.batch >= steps) {
      args.m = run_.batch;
      args.lda = run_.x_batch_stride;
      for (int64_t t = 0; t < steps; ++t) input_(args, x + t * run_.x_step_stride, projected_ + t * run_.batch * width_);
      return;
    }
    args.m = steps;
    args.lda = run_.x_step_stride;
    args.ldc = run_.batch * width_;
    for (int64_t b = 0; b < run_.batch; ++b) input_(args, x + b * run_.x_batch_stride, projected_ + b * width_);
  }

  // Step `at` of the block of steps that begins with `first`.
  void step(int64_t first, int64_t at) {
    throw_if_cancelled();
    const int64_t t = first + at;
    backwards_ = !backwards_;
    float* x = projected_ + at * run_.batch * width_;
    switch (p_.kind) {
      case CellKind::rnn:
      case CellKind::lstm:
        if (beside_) {
          x = beside_->next(run_.h);
        } else {
          recur(x, run_.h, true);
        }
        break;
      case CellKind::gru: gru_products(x); break;
    }
    for (int64_t b = 0; b < run_.batch; ++b) {
      float* h = run_.h + b * hidden_;
      float* y = run_.y ? run_.y + t * run_.y_step_stride + b * run_.y_batch_stride : nullptr;
      if (run_.sequence_lengths && t >= run_.sequence_lengths[b]) {
        if (y) std::fill(y, y + hidden_, 0.0f);
        continue;
      }
      finish(x + b * width_, b, h);
      if (y) std::copy(h, h + hidden_, y);
    }
  }

  /// Input and recurrent biases are added together, but for the hidden gate of a GRU that is linear before its reset.
  void sum_bias() {
    std::fill(bias_, bias_ + width_, 0.0f);
    if (!p_.bias) return;
    const int64_t both = p_.kind == CellKind::gru && p_.linear_before_reset ? 2 * hidden_ : width_;
    for (int64_t i = 0; i < width_; ++i) bias_[i] = p_.bias[i] + (i < both ? p_.bias[width_ + i] : 0);
  }

  /// into[batch, width] (+)= h R^T.
  void recur(float* into, const float* h, bool accumulate) { recur(into, h, accumulate, 0, width_); }

  /// The same for some of the columns alone.
  void recur(float* into, const float* h, bool accumulate, int64_t first, int64_t columns) {
    GemmArgs<float> args;
    args.m = run_.batch;
    args.n = columns;
    args.first_column = first;
    args.ldc = width_;
    args.k = hidden_;
    args.beta = accumulate ? 1.0f : 0.0f;
    args.backwards = backwards_;
    args.repeated = run_.steps > 1;
    recurrent_(args, h, into + first);
  }

  void gru_products(float* x) {
    const int64_t n = 2 * hidden_;
    // The candidate's product with the reset state follows, where it is apart in the packed matrix.
    const bool apart = !p_.linear_before_reset && panel_width_ > 0 && n % panel_width_ == 0;
    recur(gates_, run_.h, false, 0, apart ? n : width_);
    for (int64_t b = 0; b < run_.batch; ++b) {
      float* row = x + b * width_;
      const float* recurrent = gates_ + b * width_;
      binary(Binary::add, row, recurrent, row, n);
      activate_clipped(p_.activations[0], row, n);
      const float* reset = row + hidden_;
      float* product = extra_ + b * hidden_;
      if (p_.linear_before_reset) {
        std::copy(recurrent + n, recurrent + width_, product);
        if (p_.bias) binary(Binary::add, product, p_.bias + width_ + n, product, hidden_);
        binary(Binary::mul, product, reset, product, hidden_);
      } else {
        binary(Binary::mul, run_.h + b * hidden_, reset, product, hidden_);
      }
    }
    if (!p_.linear_before_reset) {
      recur(gates_, extra_, false, apart ? n : 0, apart ? hidden_ : width_);
      for (int64_t b = 0; b < run_.batch; ++b) std::copy(gates_ + b * width_ + n, gates_ + (b + 1) * width_, extra_ + b * hidden_);
    }
  }

  void activate_clipped(const Activation& activation, float* x, int64_t n) const {
    if (p_.clip > 0) activate({ActivationKind::clip, -p_.clip, p_.clip}, x, x, n);
    activate(activation, x, x, n);
  }

  void finish(float* gates, int64_t b, float* h) {
    switch (p_.kind) {
      case CellKind::rnn:
        activate_clipped(p_.activations[0], gates, hidden_);
        std::copy(gates, gates + hidden_, h);
        return;
      case CellKind::gru: return finish_gru(gates, extra_ + b * hidden_, h);
      case CellKind::lstm: return finish_lstm(gates, run_.c + b * hidden_, h);
    }
  }

  void finish_gru(float* gates, const float* product, float* h) const {
    float* candidate = gates + 2 * hidden_;
    binary(Binary::add, candidate, product, candidate, hidden_);
    activate_clipped(p_.activations[1], candidate, hidden_);
    for (int64_t i = 0; i < hidden_; ++i) h[i] = (1 - gates[i]) * candidate[i] + gates[i] * h[i];
  }

  void add_peephole(int gate, const float* c, float* x) const {
    if (!p_.peepholes) return;
    const float* weight = p_.peepholes + gate * hidden_;
    for (int64_t i = 0; i < hidden_; ++i) x[i] += weight[i] * c[i];
  }

  void finish_lstm(float* gates, float* c, float* h) const {
    float *input = gates, *output = gates + hidden_, *forget = gates + 2 * hidden_, *candidate = gates + 3 * hidden_;
    add_peephole(0, c, input);
    activate_clipped(p_.activations[0], input, hidden_);
    if (p_.input_forget) {
      for (int64_t i = 0; i < hidden_; ++i) forget[i] = 1 - input[i];
    } else {
      add_peephole(2, c, forget);
      activate_clipped(p_.activations[0], forget, hidden_);
    }
    activate_clipped(p_.activations[1], candidate, hidden_);
    for (int64_t i = 0; i < hidden_; ++i) c[i] = forget[i] * c[i] + input[i] * candidate[i];
    add_peephole(1, c, output);
    activate_clipped(p_.activations[0], output, hidden_);
    activate(p_.activations[2], c, h, hidden_);
    binary(Binary::mul, h, output, h, hidden_);
  }

  const CellParams& p_;
  const CellProduct input_, recurrent_;
  const CellRun& run_;
  const int64_t hidden_, width_, panel_width_;
  float *projected_, *gates_, *extra_, *bias_;
  bool backwards_ = false;
  std::optional<ProductsBeside> beside_;
};

}  // namespace

int64_t gates_of(CellKind kind) { return kind == CellKind::lstm ? 4 : kind == CellKind::gru ? 3 : 1; }

int64_t least_cell_rows(int64_t width) {
  const MicroKernels<float>& kernels = micro_kernels<float>();
  if (width % kernels.columns != 0) return std::numeric_limits<int64_t>::max();
  return kernels.rows > 4 ? 4 : 6;  // of five rows, four at a time, two are left
}

size_t cell_scratch_floats(const CellParams& params, int64_t steps, int64_t batch) {
  const int64_t width = gates_of(params.kind) * params.hidden_size;
  return static_cast<size_t>(projected_floats(steps, batch, width) + batch * width + batch * params.hidden_size + width);
}

void run_cell(const CellParams& params, CellProduct input, CellProduct recurrent, const CellRun& run, float* scratch, int64_t panel_width) {
  Cell(params, input, recurrent, run, scratch, panel_width).run();
}

void run_cell(const CellParams& params, const PackedMatrix<float>& w, const PackedMatrix<float>& r, const CellRun& run, float* scratch,
              const Parallel& parallel) {
  const auto input = [&](const GemmArgs<float>& args, const float* a, float* c) { gemm(args, a, w, c, parallel); };
  const auto recurrent = [&](const GemmArgs<float>& args, const float* a, float* c) { gemm(args, a, r, c, parallel); };
  Cell cell(params, input, recurrent, run, scratch, r.panel_width());
  cell.put_beside(w, r, parallel);
  cell.run();
}

}  // namespace rh::compute
