#include "ops/nn/linear_attention.h"

#include <algorithm>
#include <cmath>

#include "base/cancellation.h"
#include "compute/attention/linear_attention.h"
#include "compute/elementwise/vector_math.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class LinearAttentionKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit LinearAttentionKernel(const KernelInfo& info) : op_(info.attributes<ops::LinearAttention>()) {}

  Status run(RunContext& context) const override {
    Sizes sizes;
    RH_RETURN_IF_ERROR(set_sizes(context, sizes));
    const ConvertedOutput y(context, 0, {sizes.batch, sizes.length, op_.out_heads() * sizes.value_depth}, DType::float32);
    const ConvertedOutput state(context, 1, state_shape(sizes), DType::float32);
    const int64_t all_states = sizes.batch * op_.kv_heads * sizes.depth * sizes.value_depth;
    float* last = state.data<float>() + std::max<int64_t>(0, op_.window - 1) * all_states;
    if (op_.window > 0) std::fill(state.data<float>(), last, 0.0f);
    const auto floats = [&](int input) {
      return context.has_input(input) ? converted(context, context.input(input), DType::float32).data<float>() : nullptr;
    };
    const float* inputs[] = {floats(0), floats(1), floats(2), floats(3), op_.gated ? floats(4) : nullptr, op_.delta ? floats(5) : nullptr};
    const double work = static_cast<double>(sizes.length) * static_cast<double>(sizes.depth * sizes.value_depth);
    context.parallel().for_range(sizes.batch * op_.kv_heads, {4 * work, work}, [&](Range part) {
      const int64_t scratch = compute::linear_attention_scratch(sizes.depth, op_.out_heads() / op_.kv_heads);
      const std::span<float> rows = thread_list<float>(ThreadList::first, kTokens * sizes.depth + scratch, 0.0f);
      for (int64_t i = part.begin; i < part.end; ++i) {
        run_head(sizes, inputs, i / op_.kv_heads, i % op_.kv_heads, last + i * sizes.depth * sizes.value_depth, rows.data(),
                 y.data<float>());
      }
    });
    y.store(context.parallel());
    state.store(context.parallel());
    return {};
  }

 private:
  struct Sizes {
    int64_t batch, length, depth, value_depth;
    int64_t decay = 0;  ///< numbers of decay a head: one, or one for each row of the state
    int64_t beta = 0;   ///< numbers of beta a token: one, or one for each head
  };

  Shape state_shape(const Sizes& sizes) const {
    Shape shape;
    if (op_.window > 0) shape.push_back(op_.window);
    for (int64_t d : {sizes.batch, op_.kv_heads, sizes.depth, sizes.value_depth}) shape.push_back(d);
    return shape;
  }

  Status set_sizes(const RunContext& context, Sizes& sizes) const {
    const Shape &q = context.input(0).shape(), &k = context.input(1).shape(), &v = context.input(2).shape();
    const auto misfit = [&](int input, const char* name) {
      return error_status(ErrorCode::invalid_argument,
                          "LinearAttention: {} has shape {}, which does not fit query {} of {} heads and {} of keys and values", name,
                          context.input(input).shape().to_string(), q.to_string(), op_.q_heads, op_.kv_heads);
    };
    if (q.rank() != 3 || q[2] % op_.q_heads != 0) return misfit(0, "query");
    const int64_t depth = q[2] / op_.q_heads;
    if (!(k == Shape{q[0], q[1], depth * op_.kv_heads})) return misfit(1, "key");
    if (v.rank() != 3 || v[0] != q[0] || v[1] != q[1] || v[2] % op_.kv_heads != 0) return misfit(2, "value");
    sizes = {q[0], q[1], depth, v[2] / op_.kv_heads};
    if (context.has_input(3) && !(context.input(3).shape() == state_shape(sizes))) return misfit(3, "past_state");
    if (op_.gated) {
      const Shape& decay = context.input(4).shape();
      sizes.decay = decay == Shape{q[0], q[1], op_.kv_heads} ? 1 : depth;
      if (!(decay == Shape{q[0], q[1], op_.kv_heads * sizes.decay})) return misfit(4, "decay");
    }
    if (op_.delta) {
      const Shape& beta = context.input(5).shape();
      sizes.beta = beta == Shape{q[0], q[1], 1} ? 1 : op_.kv_heads;
      if (!(beta == Shape{q[0], q[1], sizes.beta})) return misfit(5, "beta");
    }
    return {};
  }

  static constexpr int64_t kTokens = 16;  ///< whose decays are worked out together

  /// All tokens of one head; `inputs` are query, key, value, past_state, decay and beta. `rows`: floats to work on.
  void run_head(const Sizes& sizes, const float* const* inputs, int64_t batch, int64_t head, float* state, float* rows, float* y) const {
    const int64_t depth = sizes.depth, width = sizes.value_depth, all_states = sizes.batch * op_.kv_heads * depth * width;
    const int64_t group = op_.out_heads() / op_.kv_heads, shared = op_.out_heads() / op_.q_heads;
    if (inputs[3]) {
      std::copy_n(inputs[3] + std::max<int64_t>(0, op_.window - 1) * all_states + (batch * op_.kv_heads + head) * depth * width,
                  depth * width, state);
    } else {
      std::fill_n(state, depth * width, 0.0f);
    }
    compute::LinearTokens some{.depth = depth, .width = width, .decays = rows, .queries = group, .scratch = rows + kTokens * depth};
    some.scale = op_.scale == 0 ? 1 / std::sqrt(static_cast<float>(depth)) : op_.scale;
    some.key_stride = op_.kv_heads * depth;
    some.value_stride = op_.kv_heads * width;
    some.rate_stride = sizes.beta;
    some.query_stride = op_.q_heads * depth;
    some.y_stride = op_.out_heads() * width;
    if (!op_.gated) std::fill_n(rows, kTokens * depth, 1.0f);
    for (int64_t t = 0; t < sizes.length; t += some.count) {
      throw_if_cancelled();
      const int64_t later = sizes.length - t, token = batch * sizes.length + t, at = token * op_.kv_heads + head;
      some.count = std::clamp<int64_t>(later - std::max<int64_t>(0, op_.window - 1), 1, kTokens);
      some.key = inputs[1] + at * depth;
      some.value = inputs[2] + at * width;
      if (op_.delta) some.rate = inputs[5] + token * sizes.beta + (sizes.beta == 1 ? 0 : head);
      some.query = inputs[0] + (token * op_.q_heads + head * group / shared) * depth;
      some.y = y + (token * op_.out_heads() + head * group) * width;
      if (op_.gated) set_decays(sizes, inputs[4], at, some.count, rows);
      compute::linear_attention(some, state);
      const int64_t rest = later - some.count;  // tokens after these ones
      if (rest > 0 && rest < op_.window) std::copy_n(state, depth * width, state - rest * all_states);
    }
  }

  /// Factors of the rows of a state for `count` tokens from `at` on, which is the place of a token's head.
  void set_decays(const Sizes& sizes, const float* logarithms, int64_t at, int64_t count, float* decays) const {
    for (int64_t i = 0; i < count; ++i) {
      const float* from = logarithms + (at + i * op_.kv_heads) * sizes.decay;
      float* const to = decays + i * sizes.depth;
      sizes.decay == 1 ? void(std::fill_n(to, sizes.depth, std::exp(*from))) : compute::unary(compute::Unary::exp, from, to, sizes.depth);
    }
  }

  ops::LinearAttention op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LinearAttentionKernel)
