#include "compute/rnn/rnn.h"

#include <cmath>
#include <functional>

#include "compute/support.h"

namespace rh::compute {
namespace {

struct Case {
  const char* what;
  CellKind kind;
  bool reverse = false, bias = true, peepholes = false, lengths = false, linear_before_reset = false, input_forget = false,
       batch_major = false;
  float clip = 0;
  int64_t steps = 75, batch = 3, input = 7, hidden = 9;
  float most = 0.5f;  ///< magnitude of the weights
};

/// One batch row and weights beyond the first-level cache: products of both kinds go beside each other.
Case wide(Case c, int64_t steps, int64_t input, int64_t hidden) {
  c.steps = steps;
  c.batch = 1;
  c.input = input;
  c.hidden = hidden;
  c.most = 0.1f;
  return c;
}

const Case kCases[] = {
    {"lstm", CellKind::lstm},
    {"lstm, reverse, lengths", CellKind::lstm, true, true, false, true},
    {"lstm, peepholes, clip", CellKind::lstm, false, true, true, false, false, false, false, 0.4f},
    {"lstm, input forget, no bias, batch first", CellKind::lstm, false, false, false, true, false, true, true},
    {"gru", CellKind::gru},
    {"gru, linear before reset, lengths", CellKind::gru, false, true, false, true, true},
    {"gru, linear before reset, no bias", CellKind::gru, true, false, false, false, true},
    {"gru, reverse, clip", CellKind::gru, true, true, false, true, false, false, true, 0.3f},
    {"rnn", CellKind::rnn},
    {"rnn, reverse, lengths", CellKind::rnn, true, true, false, true},
    wide({"wide lstm", CellKind::lstm}, 75, 57, 101),
    wide({"wide lstm, reverse, lengths", CellKind::lstm, true, true, false, true}, 11, 300, 101),
    wide({"wide lstm, no bias, batch first", CellKind::lstm, false, false, false, false, false, false, true}, 23, 3, 64),
    wide({"wide lstm, one block", CellKind::lstm}, 10, 57, 101),
    wide({"wide lstm, reverse, peepholes", CellKind::lstm, true, true, true}, 31, 1400, 60),
    wide({"wide rnn, reverse", CellKind::rnn, true}, 42, 33, 201),
    wide({"wide gru", CellKind::gru}, 23, 33, 101),
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The layer in float64, one batch row at a time, straight from the operators' definitions.
struct Plain {
  const Case& c;
  const std::vector<float>&x, &w, &r, &bias, &peepholes;
  std::vector<double> h, cell, y;  // y: [step][batch][hidden]

  double product(const std::vector<float>& m, int64_t row, int64_t width, const std::function<double(int64_t)>& v) const {
    double sum = 0;
    for (int64_t i = 0; i < width; ++i) sum += m[static_cast<size_t>(row * width + i)] * v(i);
    return sum;
  }
  double clip(double v) const { return c.clip > 0 ? std::min(std::max(v, -static_cast<double>(c.clip)), static_cast<double>(c.clip)) : v; }
  double b(int64_t at) const { return c.bias ? bias[static_cast<size_t>(at)] : 0; }

  void step(int64_t t, int64_t row, const std::function<double(int64_t)>& input) {
    const int64_t gates = gates_of(c.kind) * c.hidden;
    const std::vector<double> before(h.begin() + row * c.hidden, h.begin() + (row + 1) * c.hidden);
    const auto old = [&](int64_t i) { return before[static_cast<size_t>(i)]; };
    const auto gate = [&](int64_t g, int64_t i) {
      return product(w, g * c.hidden + i, c.input, input) + product(r, g * c.hidden + i, c.hidden, old) + b(g * c.hidden + i) +
             b(gates + g * c.hidden + i);
    };
    const auto peep = [&](int64_t g, int64_t i, double v) {
      return c.peepholes ? peepholes[static_cast<size_t>(g * c.hidden + i)] * v : 0;
    };
    std::vector<double> reset(static_cast<size_t>(c.hidden));
    if (c.kind == CellKind::gru)
      for (int64_t i = 0; i < c.hidden; ++i) reset[static_cast<size_t>(i)] = sigmoid(clip(gate(1, i)));
    for (int64_t i = 0; i < c.hidden; ++i) {
      double& now = h[static_cast<size_t>(row * c.hidden + i)];
      if (c.kind == CellKind::rnn) {
        now = std::tanh(clip(gate(0, i)));
      } else if (c.kind == CellKind::gru) {
        const double z = sigmoid(clip(gate(0, i))), ri = reset[static_cast<size_t>(i)];
        const int64_t g = 2 * c.hidden + i;
        const double recurrent =
            c.linear_before_reset
                ? ri * (product(r, g, c.hidden, old) + b(gates + g))
                : product(r, g, c.hidden, [&](int64_t j) { return reset[static_cast<size_t>(j)] * old(j); }) + b(gates + g);
        now = (1 - z) * std::tanh(clip(product(w, g, c.input, input) + recurrent + b(g))) + z * old(i);
      } else {
        double& state = cell[static_cast<size_t>(row * c.hidden + i)];
        const double in = sigmoid(clip(gate(0, i) + peep(0, i, state)));
        const double forget = c.input_forget ? 1 - in : sigmoid(clip(gate(2, i) + peep(2, i, state)));
        state = forget * state + in * std::tanh(clip(gate(3, i)));
        now = sigmoid(clip(gate(1, i) + peep(1, i, state))) * std::tanh(state);
      }
      y[static_cast<size_t>((t * c.batch + row) * c.hidden + i)] = now;
    }
  }
};

class RnnTest : public EveryIsa {};

TEST_P(RnnTest, follows_the_definition) {
  for (const Case& c : kCases) {
    const int64_t gates = gates_of(c.kind) * c.hidden;
    const std::vector<float> x = random_values(c.steps * c.batch * c.input, 1), w = random_values(gates * c.input, 2, -c.most, c.most);
    const std::vector<float> r = random_values(gates * c.hidden, 3, -c.most, c.most), bias = random_values(2 * gates, 4, -0.3, 0.3);
    const std::vector<float> peepholes = random_values(3 * c.hidden, 5), h0 = random_values(c.batch * c.hidden, 6),
                             c0 = random_values(c.batch * c.hidden, 7);
    const std::vector<int32_t> lengths = c.batch == 1 ? std::vector<int32_t>{8} : std::vector<int32_t>{75, 40, 0};
    const int64_t step_stride = c.batch_major ? 1 : c.batch, batch_stride = c.batch_major ? c.steps : 1;  // in rows

    Plain plain{c, x, w, r, bias, peepholes, {h0.begin(), h0.end()}, {c0.begin(), c0.end()}, {}};
    plain.y.resize(static_cast<size_t>(c.steps * c.batch * c.hidden));
    for (int64_t row = 0; row < c.batch; ++row) {
      const int64_t length = c.lengths ? lengths[static_cast<size_t>(row)] : c.steps;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = c.reverse ? length - 1 - i : i;
        plain.step(t, row, [&](int64_t k) { return x[static_cast<size_t>((t * step_stride + row * batch_stride) * c.input + k)]; });
      }
    }

    CellParams p;
    p.kind = c.kind;
    p.input_size = c.input;
    p.hidden_size = c.hidden;
    const Activation s{ActivationKind::sigmoid}, th{ActivationKind::tanh};
    p.activations[0] = c.kind == CellKind::rnn ? th : s;
    p.activations[1] = p.activations[2] = th;
    p.clip = c.clip;
    p.input_forget = c.input_forget;
    p.linear_before_reset = c.linear_before_reset;
    p.bias = c.bias ? bias.data() : nullptr;
    p.peepholes = c.peepholes ? peepholes.data() : nullptr;
    CellRun run;
    run.steps = c.steps;
    run.batch = c.batch;
    run.reverse = c.reverse;
    run.sequence_lengths = c.lengths ? lengths.data() : nullptr;
    run.x = x.data();
    run.x_step_stride = step_stride * c.input;
    run.x_batch_stride = batch_stride * c.input;
    run.y_step_stride = c.batch * c.hidden;
    run.y_batch_stride = c.hidden;
    std::vector<float> h, cell, y;
    const auto run_with = [&](const Parallel& parallel) {
      h = h0;
      cell = c0;
      y.assign(plain.y.size(), 9);
      run.y = y.data();
      run.h = h.data();
      run.c = cell.data();
      std::vector<float> scratch(cell_scratch_floats(p, c.steps, c.batch));
      run_cell(p, PackedMatrix<float>(w.data(), c.input, gates, true), PackedMatrix<float>(r.data(), c.hidden, gates, true), run,
               scratch.data(), parallel);
    };
    run_with(Parallel());
    const std::vector<float> alone = y;
    run_with(three_threads());
    EXPECT_EQ(alone, y) << c.what << ": bits depend on the number of threads";
    for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], plain.y[i], 2e-6) << c.what << ": y at " << i;
    for (size_t i = 0; i < h.size(); ++i) {
      ASSERT_NEAR(h[i], plain.h[i], 2e-6) << c.what << ": h at " << i;
      ASSERT_NEAR(cell[i], plain.cell[i], 2e-6) << c.what << ": c at " << i;
    }
  }
}

RH_EVERY_ISA(RnnTest);

}  // namespace
}  // namespace rh::compute
