#include "ops/rnn/rnn.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/cancellation.h"
#include "base/packed_vector.h"
#include "providers/cpu/recurrent.h"
#include "providers/cpu/run_packing.h"

namespace rh::cpu {

namespace {

using ops::Rnn;

template <typename C>
C activate(std::string_view name, C x, C alpha, C beta) {
  if (name == "sigmoid") return 1 / (1 + std::exp(-x));
  if (name == "tanh") return std::tanh(x);
  if (name == "relu") return std::max(x, C(0));
  if (name == "affine") return alpha * x + beta;
  if (name == "leakyrelu") return x >= 0 ? x : alpha * x;
  if (name == "thresholdedrelu") return x > alpha ? x : C(0);
  if (name == "scaledtanh") return alpha * std::tanh(beta * x);
  if (name == "hardsigmoid") return std::clamp(alpha * x + beta, C(0), C(1));
  if (name == "elu") return x >= 0 ? x : alpha * (std::exp(x) - 1);
  if (name == "softsign") return x / (1 + std::fabs(x));
  return std::max(x, C(0)) + std::log1p(std::exp(-std::fabs(x)));  // softplus
}

/// Sizes of a run and where one direction finds its parameters, all in the type computed in.
template <typename C>
struct Direction : RecurrentSizes {
  const C *w, *r, *b, *p;  ///< [G*H, I], [G*H, H], [2*G*H] or null, [3*H] or null
  bool reverse;
  const std::string* activations;
  const float *alpha, *beta;
};

// out[rows, cols] += a[rows, depth] * b[cols, depth]^T
template <typename C>
void multiply_transposed(const C* a, const C* b, C* out, int64_t rows, int64_t cols, int64_t depth) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const C *x = a + i * depth, *y = b + j * depth;
      C partial[8] = {};
      int64_t k = 0;
      for (; k + 8 <= depth; k += 8) {
        for (int lane = 0; lane < 8; ++lane) partial[lane] += x[k + lane] * y[k + lane];
      }
      C sum = 0;
      for (; k < depth; ++k) sum += x[k] * y[k];
      for (C value : partial) sum += value;
      out[i * cols + j] += sum;
    }
  }
}

/// One direction of one layer, step by step.
template <typename C>
class Layer {
 public:
  Layer(const Rnn& op, const Direction<C>& d, RunContext& context) : op_(op), d_(d), context_(context), width_(op.gates() * d.hidden) {}

  /// x [sequence, batch, input]; h, c [batch, hidden] hold the initial state and get the final one; emit(step, row of batch, hidden
  /// values).
  template <typename Emit>
  void run(const C* x, C* h, C* c, Emit&& emit) {
    C* gates = context_.scratch_array<C>(d_.sequence * d_.batch * width_);
    project(x, gates);
    C* recurrent = context_.scratch_array<C>(d_.batch * width_);
    C* reset = context_.scratch_array<C>(d_.batch * d_.hidden);
    for (int64_t t = 0; t < d_.sequence; ++t) {
      throw_if_cancelled();
      std::fill_n(recurrent, d_.batch * width_, C(0));
      const int64_t first_rows = op_.cell == Rnn::Cell::gru && !op_.linear_before_reset ? 2 * d_.hidden : width_;
      recur(h, d_.r, recurrent, 0, first_rows);
      for (int64_t row = 0; row < d_.batch; ++row) {
        const int64_t length = d_.lengths ? d_.lengths[row] : d_.sequence;
        if (t >= length) continue;
        const int64_t step = d_.reverse ? length - 1 - t : t;
        C* g = gates + (step * d_.batch + row) * width_;
        C* state = h + row * d_.hidden;
        const C* s = recurrent + row * width_;
        if (op_.cell == Rnn::Cell::lstm) {
          lstm(g, s, state, c + row * d_.hidden);
        } else if (op_.cell == Rnn::Cell::gru) {
          gru(g, s, state, reset + row * d_.hidden);
        } else {
          for (int64_t k = 0; k < d_.hidden; ++k) state[k] = f(0, g[k] + s[k]);
        }
        emit(step, row, state);
      }
    }
  }

 private:
  // Input part of all gates of all steps, both biases included where they are simply added.
  void project(const C* x, C* gates) const {
    const int64_t rows = d_.sequence * d_.batch;
    context_.parallel().for_range(rows, {static_cast<double>(sizeof(C)) * width_, 2.0 * width_ * d_.input}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        for (int64_t k = 0; k < width_; ++k) gates[i * width_ + k] = d_.b ? d_.b[k] + (separate_bias(k) ? C(0) : d_.b[width_ + k]) : C(0);
      }
      multiply_transposed(x + part.begin * d_.input, d_.w, gates + part.begin * width_, part.size(), width_, d_.input);
    });
  }

  // The recurrent bias of the GRU's hidden gate is scaled by the reset gate where linear_before_reset is set.
  bool separate_bias(int64_t k) const { return op_.cell == Rnn::Cell::gru && op_.linear_before_reset && k >= 2 * d_.hidden; }

  // Columns [first, last) of out[batch, width] += h * r^T.
  void recur(const C* h, const C* r, C* out, int64_t first, int64_t last) const {
    context_.parallel().for_range(last - first, {static_cast<double>(sizeof(C)) * d_.hidden, 2.0 * d_.batch * d_.hidden}, [&](Range part) {
      for (int64_t row = 0; row < d_.batch; ++row) {
        multiply_transposed(h + row * d_.hidden, r + (first + part.begin) * d_.hidden, out + row * width_ + first + part.begin, 1,
                            part.size(), d_.hidden);
      }
    });
  }

  C f(int function, C x) const {
    if (op_.clip > 0) x = std::clamp(x, -static_cast<C>(op_.clip), static_cast<C>(op_.clip));
    return activate(d_.activations[function], x, static_cast<C>(d_.alpha[function]), static_cast<C>(d_.beta[function]));
  }

  void lstm(const C* g, const C* s, C* h, C* c) const {
    const int64_t n = d_.hidden;  // gates i, o, f, c; peepholes i, o, f
    for (int64_t k = 0; k < n; ++k) {
      const C pi = d_.p ? d_.p[k] * c[k] : C(0), pf = d_.p ? d_.p[2 * n + k] * c[k] : C(0);
      const C input = f(0, g[k] + s[k] + pi);
      const C forget = op_.input_forget ? 1 - input : f(0, g[2 * n + k] + s[2 * n + k] + pf);
      c[k] = forget * c[k] + input * f(1, g[3 * n + k] + s[3 * n + k]);
      const C output = f(0, g[n + k] + s[n + k] + (d_.p ? d_.p[n + k] * c[k] : C(0)));
      h[k] = output * activate(d_.activations[2], c[k], static_cast<C>(d_.alpha[2]), static_cast<C>(d_.beta[2]));
    }
  }

  void gru(C* g, const C* s, C* h, C* reset) const {
    const int64_t n = d_.hidden;  // gates z, r, h
    for (int64_t k = 0; k < n; ++k) reset[k] = f(0, g[n + k] + s[n + k]);
    if (op_.linear_before_reset) {
      for (int64_t k = 0; k < n; ++k) g[2 * n + k] += reset[k] * (s[2 * n + k] + (d_.b ? d_.b[width_ + 2 * n + k] : C(0)));
    } else {
      for (int64_t k = 0; k < n; ++k) reset[k] *= h[k];
      multiply_transposed(reset, d_.r + 2 * n * n, g + 2 * n, 1, n, n);
    }
    for (int64_t k = 0; k < n; ++k) {
      const C update = f(0, g[k] + s[k]);
      h[k] = (1 - update) * f(1, g[2 * n + k]) + update * h[k];
    }
  }

  const Rnn& op_;
  const Direction<C>& d_;
  RunContext& context_;
  int64_t width_;
};

}  // namespace

/// LSTM, GRU and RNN; the input projection of all steps is one product. Floats take the numeric library's cells, with constant weights
/// packed at load.
class RnnKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit RnnKernel(const KernelInfo& info) : op_(info.attributes<Rnn>()) {
    const Tensor *w = info.constant_input(1), *r = info.constant_input(2);
    const int64_t rows = op_.directions() * op_.gates();
    for (const Tensor* t : {w, r}) {
      if (!t || t->dtype() != DType::float32 || t->shape().rank() != 3 || t->shape()[0] != op_.directions() ||
          t->shape()[1] % op_.gates() != 0)
        return;
    }
    if (r->shape()[1] != r->shape()[2] * op_.gates() || w->shape()[1] != r->shape()[1] || rows == 0) return;
    packed_w_ = pack(w->view());
    packed_r_ = pack(r->view());
    w_shape_ = w->shape();
    r_shape_ = r->shape();
  }

  bool owns_constant(int input) const override { return !packed_w_.empty() && (input == 1 || input == 2); }
  size_t packed_bytes() const override { return bytes_of_all(packed_w_) + bytes_of_all(packed_r_); }

  Status run(RunContext& context) const override {
    return dispatch<Types>(context.input(0).dtype(), "recurrent layer", [&]<typename T>() { return run_as<T>(context); });
  }

 private:
  template <typename T>
  Status run_as(RunContext& context) const {
    using C = Compute<T>;
    const TensorView x = context.input(0);
    const bool packed = !packed_w_.empty();
    const Shape &w_shape = packed ? w_shape_ : context.input(1).shape(), &r_shape = packed ? r_shape_ : context.input(2).shape();
    if (x.rank() != 3 || r_shape.rank() != 3)
      return error_status(ErrorCode::invalid_argument, "X and R have ranks {} and {}, expected 3", x.rank(), r_shape.rank());
    if (packed && !std::is_same_v<T, float>) return error_status(ErrorCode::invalid_argument, "X is {}, W float", to_string(x.dtype()));
    Direction<C> d{};
    RH_RETURN_IF_ERROR(read_sizes(context, op_, r_shape[2], d));
    const int64_t directions = op_.directions(), width = op_.gates() * d.hidden;
    const bool lstm = op_.cell == Rnn::Cell::lstm;
    for (const auto& [input, columns] : {std::pair(1, d.input), std::pair(2, d.hidden)}) {
      const Shape &found = input == 1 ? w_shape : r_shape, expected{directions, width, columns};
      if (!(found == expected)) {
        return error_status(ErrorCode::invalid_argument, "input {} has shape {}, expected {}", input, found.to_string(),
                            expected.to_string());
      }
    }
    if constexpr (std::is_same_v<T, float>) return run_cells(context, d);
    const C* input = time_major(context, widened<T>(context, 0), d);
    C* h = initial_state<T>(context, op_, 5, d);
    C* c = lstm ? initial_state<T>(context, op_, 6, d) : nullptr;
    const C *w = widened<T>(context, 1), *rec = widened<T>(context, 2), *b = widened<T>(context, 3),
            *p = lstm ? widened<T>(context, 7) : nullptr;

    const Shape y_shape =
        op_.batch_first ? Shape{d.batch, d.sequence, directions, d.hidden} : Shape{d.sequence, directions, d.batch, d.hidden};
    T* y = context.has_output(0) ? context.output(0, x.dtype(), y_shape).template data<T>() : nullptr;
    if (y) std::fill_n(y, y_shape.elements(), narrowed<T>(0.0));
    for (int64_t k = 0; k < directions; ++k) {
      d.w = w + k * width * d.input;
      d.r = rec + k * width * d.hidden;
      d.b = b ? b + k * 2 * width : nullptr;
      d.p = p ? p + k * 3 * d.hidden : nullptr;
      d.reverse = op_.direction == Rnn::Direction::reverse || k == 1;
      d.activations = op_.activations.data() + k * op_.functions();
      d.alpha = op_.activation_alpha.data() + k * op_.functions();
      d.beta = op_.activation_beta.data() + k * op_.functions();
      const int64_t offset = k * d.batch * d.hidden;
      Layer<C>(op_, d, context).run(input, h + offset, c ? c + offset : nullptr, [&](int64_t step, int64_t row, const C* values) {
        if (!y) return;
        T* to = y + (op_.batch_first ? ((row * d.sequence + step) * directions + k) : ((step * directions + k) * d.batch + row)) * d.hidden;
        for (int64_t i = 0; i < d.hidden; ++i) to[i] = T(values[i]);
      });
    }
    give_state<T>(context, op_, 1, h, d);
    if (lstm) give_state<T>(context, op_, 2, c, d);
    return {};
  }

  using Packed = PackedVector<compute::PackedMatrix<float>>;

  static size_t bytes_of_all(const Packed& packed) {
    size_t bytes = 0;
    for (const auto& matrix : packed) bytes += matrix.bytes();
    return bytes;
  }

  // One packed matrix a direction from [directions, gates * hidden, columns].
  static Packed pack(const TensorView& weights) {
    Packed packed;
    packed.reserve(static_cast<size_t>(weights.shape()[0]));
    const int64_t rows = weights.shape()[1], columns = weights.shape()[2];
    for (int64_t k = 0; k < weights.shape()[0]; ++k) packed.emplace_back(weights.data<float>() + k * rows * columns, columns, rows, true);
    return packed;
  }

  Status run_cells(RunContext& context, const RecurrentSizes& sizes) const {
    if (packed_w_.empty() && serves_little(sizes)) return run_unpacked(context, sizes);
    std::optional<RunPacking> packing;
    if (packed_w_.empty()) packing.emplace(context);
    const Packed own_w = packing ? pack(context.input(1)) : Packed(), own_r = packing ? pack(context.input(2)) : Packed();
    const Packed &w = packing ? own_w : packed_w_, &r = packing ? own_r : packed_r_;
    const auto run_one = [&](int64_t direction, const compute::CellParams& params, const compute::CellRun& run, float* scratch,
                             const Parallel& parallel) {
      const auto k = static_cast<size_t>(direction);
      compute::run_cell(params, w[k], r[k], run, scratch, parallel);
    };
    run_directions(context, op_, sizes, run_one, true);
    return {};
  }

  /// Whether packing weights for such a run would read and write them for too little. A product of few rows reads them as they lie, others
  /// pack a part at a time near the processor.
  static bool serves_little(const RecurrentSizes& sizes) {
    constexpr int64_t kFewBatchRows = 3, kFewRows = 8;
    return sizes.sequence <= 1 || (sizes.batch <= kFewBatchRows && sizes.sequence * sizes.batch <= kFewRows);
  }

  Status run_unpacked(RunContext& context, const RecurrentSizes& sizes) const {
    const int64_t width = op_.gates() * sizes.hidden;
    const auto run_one = [&](int64_t direction, const compute::CellParams& params, const compute::CellRun& run, float* scratch,
                             const Parallel& parallel) {
      const auto multiply = [&](int input, compute::GemmArgs<float> args, const float* a, float* c) {
        args.transpose_b = true;
        const float* weights = context.input(input).data<float>() + (direction * width + args.first_column) * args.k;
        compute::gemm(args, a, weights, c, parallel);
      };
      compute::run_cell(
          params, [&](const auto& args, const float* a, float* c) { multiply(1, args, a, c); },
          [&](const auto& args, const float* a, float* c) { multiply(2, args, a, c); }, run, scratch, 1);
    };
    run_directions(context, op_, sizes, run_one);
    return {};
  }

  // The elements in the type computed in; null where the input is left out.
  template <typename T>
  static const Compute<T>* widened(RunContext& context, int input) {
    if (!context.has_input(input)) return nullptr;
    const TensorView view = context.input(input);
    if constexpr (std::is_same_v<T, Compute<T>>) {
      return view.data<T>();
    } else {
      Compute<T>* values = context.scratch_array<Compute<T>>(view.elements());
      std::copy_n(view.data<T>(), view.elements(), values);
      return values;
    }
  }

  template <typename C>
  const C* time_major(RunContext& context, const C* x, const Direction<C>& d) const {
    if (!op_.batch_first) return x;
    C* copy = context.scratch_array<C>(d.sequence * d.batch * d.input);
    for (int64_t row = 0; row < d.batch; ++row) {
      for (int64_t t = 0; t < d.sequence; ++t)
        std::copy_n(x + (row * d.sequence + t) * d.input, d.input, copy + (t * d.batch + row) * d.input);
    }
    return copy;
  }

  Rnn op_;
  Shape w_shape_, r_shape_;
  Packed packed_w_, packed_r_;  ///< one a direction; empty where the weights arrive at run time
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RnnKernel)
