#include "compute/rnn.h"

#include <cmath>
#include <functional>

#include "compute/support.h"

namespace rh::compute {
namespace {

constexpr int64_t kSteps = 75, kBatch = 3, kInput = 7, kHidden = 9;

struct Case {
  const char* what;
  CellKind kind;
  bool reverse = false, bias = true, peepholes = false, lengths = false, linear_before_reset = false, input_forget = false,
       batch_major = false;
  float clip = 0;
};

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
    const int64_t gates = gates_of(c.kind) * kHidden;
    const std::vector<double> before(h.begin() + row * kHidden, h.begin() + (row + 1) * kHidden);
    const auto old = [&](int64_t i) { return before[static_cast<size_t>(i)]; };
    const auto gate = [&](int64_t g, int64_t i) {
      return product(w, g * kHidden + i, kInput, input) + product(r, g * kHidden + i, kHidden, old) + b(g * kHidden + i) +
             b(gates + g * kHidden + i);
    };
    const auto peep = [&](int64_t g, int64_t i, double v) { return c.peepholes ? peepholes[static_cast<size_t>(g * kHidden + i)] * v : 0; };
    std::vector<double> reset(kHidden);
    if (c.kind == CellKind::gru)
      for (int64_t i = 0; i < kHidden; ++i) reset[static_cast<size_t>(i)] = sigmoid(clip(gate(1, i)));
    for (int64_t i = 0; i < kHidden; ++i) {
      double& now = h[static_cast<size_t>(row * kHidden + i)];
      if (c.kind == CellKind::rnn) {
        now = std::tanh(clip(gate(0, i)));
      } else if (c.kind == CellKind::gru) {
        const double z = sigmoid(clip(gate(0, i))), ri = reset[static_cast<size_t>(i)];
        const int64_t g = 2 * kHidden + i;
        const double recurrent =
            c.linear_before_reset
                ? ri * (product(r, g, kHidden, old) + b(gates + g))
                : product(r, g, kHidden, [&](int64_t j) { return reset[static_cast<size_t>(j)] * old(j); }) + b(gates + g);
        now = (1 - z) * std::tanh(clip(product(w, g, kInput, input) + recurrent + b(g))) + z * old(i);
      } else {
        double& state = cell[static_cast<size_t>(row * kHidden + i)];
        const double in = sigmoid(clip(gate(0, i) + peep(0, i, state)));
        const double forget = c.input_forget ? 1 - in : sigmoid(clip(gate(2, i) + peep(2, i, state)));
        state = forget * state + in * std::tanh(clip(gate(3, i)));
        now = sigmoid(clip(gate(1, i) + peep(1, i, state))) * std::tanh(state);
      }
      y[static_cast<size_t>((t * kBatch + row) * kHidden + i)] = now;
    }
  }
};

class RnnTest : public EveryIsa {};

TEST_P(RnnTest, follows_the_definition) {
  for (const Case& c : kCases) {
    const int64_t gates = gates_of(c.kind) * kHidden;
    const std::vector<float> x = random_values(kSteps * kBatch * kInput, 1), w = random_values(gates * kInput, 2, -0.5, 0.5);
    const std::vector<float> r = random_values(gates * kHidden, 3, -0.5, 0.5), bias = random_values(2 * gates, 4, -0.3, 0.3);
    const std::vector<float> peepholes = random_values(3 * kHidden, 5), h0 = random_values(kBatch * kHidden, 6),
                             c0 = random_values(kBatch * kHidden, 7);
    const std::vector<int32_t> lengths{75, 40, 0};
    const int64_t step_stride = c.batch_major ? 1 : kBatch, batch_stride = c.batch_major ? kSteps : 1;  // in rows

    Plain plain{
        c, x, w, r, bias, peepholes, {h0.begin(), h0.end()}, {c0.begin(), c0.end()}, std::vector<double>(kSteps * kBatch * kHidden)};
    for (int64_t row = 0; row < kBatch; ++row) {
      const int64_t length = c.lengths ? lengths[static_cast<size_t>(row)] : kSteps;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t t = c.reverse ? length - 1 - i : i;
        plain.step(t, row, [&](int64_t k) { return x[static_cast<size_t>((t * step_stride + row * batch_stride) * kInput + k)]; });
      }
    }

    CellParams p;
    p.kind = c.kind;
    p.input_size = kInput;
    p.hidden_size = kHidden;
    const Activation s{ActivationKind::sigmoid}, th{ActivationKind::tanh};
    p.activations[0] = c.kind == CellKind::rnn ? th : s;
    p.activations[1] = p.activations[2] = th;
    p.clip = c.clip;
    p.input_forget = c.input_forget;
    p.linear_before_reset = c.linear_before_reset;
    p.bias = c.bias ? bias.data() : nullptr;
    p.peepholes = c.peepholes ? peepholes.data() : nullptr;
    std::vector<float> h = h0, cell = c0, y(static_cast<size_t>(kSteps * kBatch * kHidden), 9),
                       scratch(cell_scratch_floats(p, kSteps, kBatch));
    CellRun run;
    run.steps = kSteps;
    run.batch = kBatch;
    run.reverse = c.reverse;
    run.sequence_lengths = c.lengths ? lengths.data() : nullptr;
    run.x = x.data();
    run.x_step_stride = step_stride * kInput;
    run.x_batch_stride = batch_stride * kInput;
    run.y = y.data();
    run.y_step_stride = kBatch * kHidden;
    run.y_batch_stride = kHidden;
    run.h = h.data();
    run.c = cell.data();
    run_cell(p, PackedMatrix<float>(w.data(), kInput, gates, true), PackedMatrix<float>(r.data(), kHidden, gates, true), run,
             scratch.data(), three_threads());
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
