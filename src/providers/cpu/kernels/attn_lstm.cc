#include "ops/rnn/attn_lstm.h"

#include <algorithm>

#include "compute/elementwise/vector_math.h"
#include "compute/reduce/row_math.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/recurrent.h"
#include "providers/cpu/run_packing.h"

namespace rh::cpu {

/// The attention state is one more operand of the recurrent product: it follows from the hidden state that comes with it.
class AttnLSTMKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit AttnLSTMKernel(const KernelInfo& info) : op_(info.attributes<ops::AttnLSTM>().layer) {}

  Status run(RunContext& context) const override {
    RecurrentSizes sizes;
    RH_RETURN_IF_ERROR(read_sizes(context, op_, op_.hidden_size, sizes));
    Memory memory;
    RH_RETURN_IF_ERROR(read_memory(context, sizes, memory));
    const int64_t width = 4 * sizes.hidden;
    RH_RETURN_IF_ERROR(expect_weights(context, 1, {op_.directions(), width, sizes.input + memory.columns}));
    RH_RETURN_IF_ERROR(expect_weights(context, 2, {op_.directions(), width, sizes.hidden}));
    const auto run_one = [&](int64_t direction, const compute::CellParams& params, const compute::CellRun& run, float* scratch,
                             const Parallel&) { run_direction(context, direction, sizes, memory, params, run, scratch); };
    run_directions(context, op_, sizes, run_one);
    return {};
  }

 private:
  enum Input { kQueryWeights = 8, kMemoryWeights, kVector, kMemory, kMemoryLengths, kAttentionWeights };

  struct Memory {
    int64_t steps = 0, depth = 0, size = 0;  ///< of M, and of keys and queries
    int64_t columns = 0;                     ///< of the attention state
    const float* values = nullptr;           ///< [batch, steps, depth]
    const int32_t* lengths = nullptr;        ///< one a batch row, null: all full
    int64_t length(int64_t row) const { return lengths ? lengths[row] : steps; }
  };

  Status read_memory(const RunContext& context, const RecurrentSizes& sizes, Memory& memory) const {
    const int64_t directions = op_.directions();
    const Shape &m = context.input(kMemory).shape(), &v = context.input(kVector).shape();
    if (m.rank() != 3 || v.rank() != 2 || m[0] != sizes.batch || m[1] < 1 || m[2] < 1 || v[1] < 1) {
      return error_status(ErrorCode::invalid_argument, "M has shape {} and V {}, expected [{}, steps, depth] and [{}, size]", m.to_string(),
                          v.to_string(), sizes.batch, directions);
    }
    memory = {.steps = m[1], .depth = m[2], .size = v[1], .columns = m[2], .values = context.input(kMemory).data<float>()};
    RH_RETURN_IF_ERROR(expect_weights(context, kVector, {directions, memory.size}));
    RH_RETURN_IF_ERROR(expect_weights(context, kQueryWeights, {directions, sizes.hidden, memory.size}));
    RH_RETURN_IF_ERROR(expect_weights(context, kMemoryWeights, {directions, memory.depth, memory.size}));
    if (context.has_input(kAttentionWeights)) {
      const Shape& weights = context.input(kAttentionWeights).shape();
      memory.columns = weights.rank() == 3 ? weights[2] : 0;
      RH_RETURN_IF_ERROR(expect_weights(context, kAttentionWeights, {directions, sizes.hidden + memory.depth, memory.columns}));
    }
    if (!context.has_input(kMemoryLengths)) return {};
    RH_RETURN_IF_ERROR(expect_weights(context, kMemoryLengths, {sizes.batch}));
    memory.lengths = context.input(kMemoryLengths).data<int32_t>();
    for (int64_t i = 0; i < sizes.batch; ++i) {
      if (memory.lengths[i] < 1 || memory.lengths[i] > memory.steps) {
        return error_status(ErrorCode::invalid_argument, "memory_seq_lens[{}] is {}, expected a value in [1, {}]", i, memory.lengths[i],
                            memory.steps);
      }
    }
    return {};
  }

  void run_direction(RunContext& context, int64_t direction, const RecurrentSizes& sizes, const Memory& memory,
                     const compute::CellParams& params, const compute::CellRun& run, float* scratch) const {
    const int64_t width = 4 * sizes.hidden, columns = sizes.input + memory.columns;
    const float* w = context.input(1).data<float>() + direction * width * columns;
    const RunPacking packing(context);
    const compute::PackedMatrix<float> x_weights(w, sizes.input, width, true, columns),
        state_weights(w + sizes.input, memory.columns, width, true, columns),
        h_weights(context.input(2).data<float>() + direction * width * sizes.hidden, sizes.hidden, width, true);
    Attention attention(context, direction, sizes, memory);
    int64_t step = 0;
    const auto input = [&](const compute::GemmArgs<float>& args, const float* a, float* c) {
      compute::gemm(args, a, x_weights, c, context.parallel());
    };
    const auto recurrent = [&](const compute::GemmArgs<float>& args, const float* h, float* c) {
      compute::gemm(args, h, h_weights, c, context.parallel());
      const int64_t t = run.reverse ? run.steps - 1 - step : step;
      ++step;
      const float* state = attention.state(h, [&](int64_t row) {
        const int64_t length = run.sequence_lengths ? run.sequence_lengths[row] : run.steps;
        return run.reverse ? t >= length - 1 : t == 0;
      });
      compute::gemm({.m = sizes.batch, .n = width, .k = memory.columns, .beta = 1.0f}, state, state_weights, c, context.parallel());
    };
    compute::run_cell(params, input, recurrent, run, scratch);
  }

  /// Attention of one direction over the memory.
  class Attention {
   public:
    Attention(RunContext& context, int64_t direction, const RecurrentSizes& sizes, const Memory& memory)
        : context_(context), sizes_(sizes), memory_(memory), joined_(sizes.hidden + memory.depth) {
      const auto part = [&](int input) {
        const TensorView view = context.input(input);
        return view.data<float>() + direction * view.shape().product(1, view.rank());
      };
      query_weights_ = part(kQueryWeights);
      vector_ = part(kVector);
      if (context.has_input(kAttentionWeights)) weights_ = part(kAttentionWeights);
      const int64_t rows = sizes.batch * memory.steps;
      keys_ = context.scratch_array<float>(checked_product(rows, memory.size, "AttnLSTM: keys"));
      compute::gemm<float>({.m = rows, .n = memory.size, .k = memory.depth}, memory.values, part(kMemoryWeights), keys_,
                           context.parallel());
      queries_ = context.scratch_array<float>(sizes.batch * memory.size);
      both_ = context.scratch_array<float>(sizes.batch * joined_);
      state_ = context.scratch_array<float>(sizes.batch * memory.columns);
      scores_ = context.scratch_array<float>(sizes.batch * memory.steps);
      sums_ = context.scratch_array<float>(sizes.batch * memory.size);
    }

    /// The attention state [batch, columns] that belongs to hidden states; zeros for rows where `is_first(row)`.
    template <typename IsFirst>
    const float* state(const float* h, const IsFirst& is_first) {
      const Parallel& parallel = context_.parallel();
      compute::gemm<float>({.m = sizes_.batch, .n = memory_.size, .k = sizes_.hidden}, h, query_weights_, queries_, parallel);
      const double work = static_cast<double>(memory_.steps * (memory_.size + memory_.depth));
      parallel.for_range(sizes_.batch, {.bytes = 4 * work, .operations = 8 * work}, [&](Range rows) {
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          float* both = both_ + row * joined_;
          std::copy_n(h + row * sizes_.hidden, sizes_.hidden, both);
          draw_context(row, both + sizes_.hidden);
        }
      });
      if (weights_) {
        compute::gemm<float>({.m = sizes_.batch, .n = memory_.columns, .k = joined_}, both_, weights_, state_, parallel);
      }
      for (int64_t row = 0; row < sizes_.batch; ++row) {
        float* to = state_ + row * memory_.columns;
        if (is_first(row)) {
          std::fill_n(to, memory_.columns, 0.0f);
        } else if (!weights_) {
          std::copy_n(both_ + row * joined_ + sizes_.hidden, memory_.columns, to);
        }
      }
      return state_;
    }

   private:
    /// The memory of a row weighted by the softmax of V tanh(key + query).
    void draw_context(int64_t row, float* to) const {
      const int64_t length = memory_.length(row), size = memory_.size;
      float *scores = scores_ + row * memory_.steps, *sum = sums_ + row * size;
      for (int64_t i = 0; i < length; ++i) {
        compute::binary(compute::Binary::add, keys_ + (row * memory_.steps + i) * size, queries_ + row * size, sum, size);
        compute::unary(compute::Unary::tanh, sum, sum, size);
        compute::binary(compute::Binary::mul, sum, vector_, sum, size);
        compute::reduce_rows(compute::Reduction::sum, sum, scores + i, 1, size);
      }
      compute::softmax_rows(scores, scores, 1, length, false);
      std::fill_n(to, memory_.depth, 0.0f);
      for (int64_t i = 0; i < length; ++i) {
        compute::add_scaled(memory_.values + (row * memory_.steps + i) * memory_.depth, scores[i], to, memory_.depth);
      }
    }

    RunContext& context_;
    const RecurrentSizes& sizes_;
    const Memory& memory_;
    const int64_t joined_;  ///< elements of a hidden state with its context
    const float *query_weights_, *vector_, *weights_ = nullptr;
    float *keys_, *queries_, *both_, *state_, *scores_, *sums_;
  };

  ops::Rnn op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(AttnLSTMKernel)
