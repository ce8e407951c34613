#include "ops/nn/gated_delta_net.h"

#include <algorithm>
#include <cmath>

#include "base/cancellation.h"
#include "compute/attention/linear_attention.h"
#include "compute/elementwise/vector_math.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

namespace {

/// Pointers to the tokens' numbers, and the sizes of one call.
struct DeltaCall {
  int64_t batch = 0, tokens = 0, key_heads = 0, depth = 0, value_heads = 0, value_depth = 0;
  int64_t decay = 0;         ///< numbers of decay a head: none, one, or one for each element of a key
  int64_t bias = 0;          ///< numbers of dt_bias a head
  int64_t query_stride = 0;  ///< between tokens
  int64_t value_stride = 0;
  const float *query = nullptr, *key = nullptr, *value = nullptr, *decays = nullptr, *rates = nullptr;
  const float *initial = nullptr, *a_log = nullptr, *dt_bias = nullptr;
  const int32_t *begins = nullptr, *captured = nullptr;
  float *y = nullptr, *final = nullptr, *update = nullptr;

  int64_t begin(int64_t request) const { return begins ? begins[request] : tokens / batch * request; }
  int64_t group() const { return value_heads / key_heads; }
  int64_t state_size() const { return depth * value_depth; }
  int64_t decay_width() const { return value_heads * std::max<int64_t>(1, decay); }
  int64_t update_row() const { return decay_width() + key_heads * depth + value_heads * value_depth; }
};

/// [rows, columns] to [columns, rows].
void transpose(const float* from, int64_t rows, int64_t columns, float* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
  }
}

void divide_by_norm(const float* from, int64_t count, double epsilon, float* to) {
  double sum = epsilon;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(from[i]) * static_cast<double>(from[i]);
  compute::scale_shift(from, static_cast<float>(1 / std::sqrt(sum)), 0.0f, to, count);
}

}  // namespace

class GatedDeltaNetKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit GatedDeltaNetKernel(const KernelInfo& info) : op_(info.attributes<ops::GatedDeltaNet>()) {}

  Status run(RunContext& context) const override {
    DeltaCall call;
    RH_RETURN_IF_ERROR(set_sizes(context, call));
    RH_RETURN_IF_ERROR(check_inputs(context, call));
    RH_RETURN_IF_ERROR(check_begins(call));
    check_elements({call.batch, call.value_heads, call.value_depth, call.depth}, "GatedDeltaNet: the states");
    set_inputs(context, call);
    Shape y_shape(context.input(0).shape().begin(), context.input(0).shape().end() - (context.has_input(1) ? 2 : 1));
    y_shape.push_back(call.value_heads);
    y_shape.push_back(call.value_depth);
    check_elements(y_shape, "GatedDeltaNet: output");
    const ConvertedOutput y(context, 0, y_shape, DType::float32);
    call.y = y.data<float>();
    if (context.has_output(1)) {
      call.final = context.output(1, {call.batch, call.value_heads, call.value_depth, call.depth}).data<float>();
    }
    if (context.has_output(2)) {
      const MutableView update = context.output(2, {call.batch, op_.capacity * call.update_row()});
      std::fill_n(update.data<float>(), update.elements(), 0.0f);
      const bool active = !context.has_input(10) || context.input(10).elements() == 0 || context.input(10).data<int32_t>()[0] != 0;
      call.update = active && op_.capacity > 0 ? update.data<float>() : nullptr;
    }
    const double work =
        static_cast<double>(call.tokens) / static_cast<double>(std::max<int64_t>(1, call.batch)) * static_cast<double>(call.state_size());
    context.parallel().for_range(call.batch * call.value_heads, {4 * work, work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) run_head(call, i / call.value_heads, i % call.value_heads);
    });
    y.store(context.parallel());
    return {};
  }

 private:
  template <typename... Args>
  static Status wrong(fmt::format_string<Args...> text, Args&&... args) {
    return error_status(ErrorCode::invalid_argument, "GatedDeltaNet: {}", fmt::format(text, std::forward<Args>(args)...));
  }

  Status set_sizes(const RunContext& context, DeltaCall& call) const {
    const Shape& q = context.input(0).shape();
    const bool packed = !context.has_input(1), has_state = context.has_input(6);
    const int leading = q.rank() - (packed ? 1 : 2);
    if (leading != 1 && leading != 2) return wrong("query has shape {}, expected tokens in one or two dimensions", q.to_string());
    call.tokens = q.product(0, leading);
    if (has_state) {
      const Shape& state = context.input(6).shape();
      if (state.rank() != 4) return wrong("initial_state has shape {}, expected 4 dimensions", state.to_string());
      call.batch = state[0];
      call.value_heads = state[1];
      call.value_depth = state[2];
      call.depth = state[3];
    }
    if (packed) {
      if (!has_state) return wrong("a query that holds key and value needs the input initial_state");
      const int64_t width = q[q.rank() - 1], rest = width - call.value_heads * call.value_depth, pair = 2 * call.depth;
      if (rest < 1 || pair < 1 || rest % pair != 0) return wrong("query has rows of {}, which heads of initial_state do not fill", width);
      call.key_heads = rest / pair;
    } else {
      const Shape& v = context.input(2).shape();
      if (v.rank() != q.rank()) return wrong("value has shape {}, expected as many dimensions as query {}", v.to_string(), q.to_string());
      call.key_heads = q[leading];
      call.depth = q[leading + 1];
      call.value_heads = v[leading];
      call.value_depth = v[leading + 1];
    }
    if (call.key_heads < 1 || call.value_heads < 1 || call.value_heads % call.key_heads != 0) {
      return wrong("there are {} heads of values, expected a positive multiple of {}, the heads of queries", call.value_heads,
                   call.key_heads);
    }
    if (leading == 2) {
      if (context.has_input(3)) return wrong("query has shape {} beside cu_seqlens, expected tokens in one dimension", q.to_string());
      call.batch = q[0];
    } else if (context.has_input(3)) {
      const Shape& begins = context.input(3).shape();
      if (begins.rank() != 1 || begins[0] < 1) return wrong("cu_seqlens has shape {}, expected [requests + 1]", begins.to_string());
      call.batch = begins[0] - 1;
      call.begins = context.input(3).data<int32_t>();
    } else if (!has_state) {
      return wrong("neither cu_seqlens nor initial_state is given, expected one: they say how many requests there are");
    }
    return {};
  }

  Status check_inputs(const RunContext& context, DeltaCall& call) const {
    const Shape& q = context.input(0).shape();
    const bool packed = !context.has_input(1);
    const Shape tokens(q.begin(), q.end() - (packed ? 1 : 2));
    const auto with = [&tokens](std::initializer_list<int64_t> more) {
      Shape shape = tokens;
      for (const int64_t d : more) shape.push_back(d);
      return shape;
    };
    const auto check = [&](int input, const char* name, const Shape& expected) {
      if (!context.has_input(input) || context.input(input).shape() == expected) return Status();
      return wrong("{} has shape {}, expected {}", name, context.input(input).shape().to_string(), expected.to_string());
    };
    if (!packed) {
      RH_RETURN_IF_ERROR(check(1, "key", q));
      RH_RETURN_IF_ERROR(check(2, "value", with({call.value_heads, call.value_depth})));
    }
    if (op_.gated) {
      const bool of_each = context.input(4).rank() == tokens.rank() + 2;
      call.decay = of_each ? call.depth : 1;
      RH_RETURN_IF_ERROR(check(4, "decay", of_each ? with({call.value_heads, call.depth}) : with({call.value_heads})));
    }
    RH_RETURN_IF_ERROR(check(5, "beta", with({call.value_heads})));
    RH_RETURN_IF_ERROR(check(6, "initial_state", {call.batch, call.value_heads, call.value_depth, call.depth}));
    RH_RETURN_IF_ERROR(check(7, "a_log", {call.value_heads}));
    if (op_.gated && op_.gate != ops::GatedDeltaNet::Gate::none) {
      const Shape& bias = context.input(8).shape();
      call.bias = bias == Shape{call.value_heads} ? 1 : call.depth;
      const bool fits = call.bias == 1 || (call.decay == call.depth &&
                                           (bias == Shape{call.value_heads, call.depth} || bias == Shape{call.value_heads * call.depth}));
      if (!fits) return wrong("dt_bias has shape {}, expected [{}] or one number for each of decay", bias.to_string(), call.value_heads);
    }
    return check(9, "capture_count", {call.batch});
  }

  static Status check_begins(const DeltaCall& call) {
    if (!call.begins) {
      const bool fits = call.batch == 0 ? call.tokens == 0 : call.tokens % call.batch == 0;
      if (fits) return {};
      return wrong("there are {} tokens, expected a multiple of {}, the number of requests", call.tokens, call.batch);
    }
    if (call.begins[0] != 0 || call.begins[call.batch] != call.tokens) {
      return wrong("cu_seqlens is from {} to {}, expected 0 to {}, the number of tokens", call.begins[0], call.begins[call.batch],
                   call.tokens);
    }
    for (int64_t i = 0; i < call.batch; ++i) {
      if (call.begins[i] > call.begins[i + 1]) return wrong("cu_seqlens falls from {} to {}", call.begins[i], call.begins[i + 1]);
    }
    return {};
  }

  void set_inputs(RunContext& context, DeltaCall& call) const {
    const auto floats = [&](int input) {
      return context.has_input(input) ? converted(context, context.input(input), DType::float32).data<float>() : nullptr;
    };
    const bool packed = !context.has_input(1);
    const int64_t keys = call.key_heads * call.depth, values = call.value_heads * call.value_depth;
    call.query = floats(0);
    call.key = packed ? call.query + keys : floats(1);
    call.value = packed ? call.query + 2 * keys : floats(2);
    call.query_stride = packed ? 2 * keys + values : keys;
    call.value_stride = packed ? 2 * keys + values : values;
    call.decays = floats(4);
    call.rates = floats(5);
    call.initial = floats(6);
    call.a_log = floats(7);
    call.dt_bias = floats(8);
    if (context.has_input(9)) call.captured = context.input(9).data<int32_t>();
  }

  static constexpr int64_t kTokens = 16;  ///< whose decays are worked out together

  /// All tokens of one head of a request.
  void run_head(const DeltaCall& call, int64_t request, int64_t head) const {
    const int64_t depth = call.depth, width = call.value_depth, item = request * call.value_heads + head;
    const int64_t rows = kTokens * depth, scratch = compute::linear_attention_scratch(depth, 1);
    float* const state = thread_list<float>(ThreadList::first, call.state_size() + 3 * rows + kTokens + width + scratch).data();
    float *const decays = state + call.state_size(), *const keys = decays + rows, *const queries = keys + rows;
    float *const rates = queries + rows, *const change = rates + kTokens;
    if (call.initial) {
      transpose(call.initial + item * call.state_size(), width, depth, state);
    } else {
      std::fill_n(state, call.state_size(), 0.0f);
    }
    compute::LinearTokens some{.depth = depth, .width = width, .decays = decays, .scratch = change + width};
    some.scale = op_.scale == 0 ? 1 / std::sqrt(static_cast<float>(depth)) : op_.scale;
    some.value_stride = call.value_stride;
    some.rate_stride = 1;
    some.key_stride = some.query_stride = op_.normalized ? depth : call.query_stride;
    some.y_stride = call.value_heads * width;
    const int64_t end = call.begin(request + 1), captured = captures(call, request);
    for (int64_t token = call.begin(request); token < end; token += some.count) {
      throw_if_cancelled();
      const int64_t at = token - call.begin(request), first = head / call.group() * depth;
      some.count = at < captured ? 1 : std::min(end - token, kTokens);
      some.key = call.key + token * call.query_stride + first;
      some.query = call.query + token * call.query_stride + first;
      some.value = call.value + token * call.value_stride + head * width;
      some.y = call.y + (token * call.value_heads + head) * width;
      if (op_.normalized) normalize(call, some, keys, queries);
      set_decays(call, token, head, some.count, decays);
      if (op_.delta) some.rate = set_rates(call, token, head, some.count, rates);
      if (at < captured) capture(call, request, head, at, some, state, change);
      compute::linear_attention(some, state);
    }
    if (call.final) transpose(state, depth, width, call.final + item * call.state_size());
  }

  int64_t captures(const DeltaCall& call, int64_t request) const {
    if (!call.update || !call.captured) return 0;
    return std::clamp<int64_t>(call.captured[request], 0, std::min(op_.capacity, call.begin(request + 1) - call.begin(request)));
  }

  void normalize(const DeltaCall& call, compute::LinearTokens& some, float* keys, float* queries) const {
    for (int64_t i = 0; i < some.count; ++i) {
      divide_by_norm(some.key + i * call.query_stride, call.depth, op_.norm_epsilon(), keys + i * call.depth);
      divide_by_norm(some.query + i * call.query_stride, call.depth, op_.norm_epsilon(), queries + i * call.depth);
    }
    some.key = keys;
    some.query = queries;
  }

  /// Factors of the rows of a state for `count` tokens from `token` on.
  void set_decays(const DeltaCall& call, int64_t token, int64_t head, int64_t count, float* decays) const {
    if (!op_.gated) return void(std::fill_n(decays, count * call.depth, 1.0f));
    const float factor = call.a_log ? std::exp(call.a_log[head]) : 1.0f;
    for (int64_t i = 0; i < count; ++i) {
      const float* from = call.decays + ((token + i) * call.value_heads + head) * call.decay;
      float* const to = decays + i * call.depth;
      for (int64_t k = 0; k < call.decay; ++k) {
        const float raw = call.dt_bias ? from[k] + call.dt_bias[head * call.bias + (call.bias == 1 ? 0 : k)] : from[k];
        switch (op_.gate) {
          case ops::GatedDeltaNet::Gate::none: to[k] = raw; break;
          case ops::GatedDeltaNet::Gate::softplus: to[k] = -factor * (std::max(raw, 0.0f) + std::log1p(std::exp(-std::fabs(raw)))); break;
          case ops::GatedDeltaNet::Gate::sigmoid: to[k] = op_.gate_lower_bound / (1 + std::exp(-factor * raw)); break;
        }
      }
      if (call.decay == 1) {
        std::fill_n(to, call.depth, std::exp(*to));
      } else {
        compute::unary(compute::Unary::exp, to, to, call.depth);
      }
    }
  }

  const float* set_rates(const DeltaCall& call, int64_t token, int64_t head, int64_t count, float* rates) const {
    for (int64_t i = 0; i < count; ++i) rates[i] = call.rates[(token + i) * call.value_heads + head];
    if (op_.beta_sigmoid) compute::unary(compute::Unary::sigmoid, rates, rates, count);
    return rates;
  }

  /// What the request's token `at` does to the state, before it does: its decay, key and change.
  void capture(const DeltaCall& call, int64_t request, int64_t head, int64_t at, const compute::LinearTokens& token, const float* state,
               float* change) const {
    float* const row = call.update + request * op_.capacity * call.update_row();
    const int64_t decay = std::max<int64_t>(1, call.decay), keys = call.key_heads * call.depth, width = call.value_depth;
    std::copy_n(token.decays, decay, row + at * call.decay_width() + head * decay);
    float* const all_keys = row + op_.capacity * call.decay_width();
    if (head % call.group() == 0) std::copy_n(token.key, call.depth, all_keys + at * keys + head / call.group() * call.depth);
    std::copy_n(token.value, width, change);
    if (op_.delta) {
      for (int64_t k = 0; k < call.depth; ++k) {
        compute::add_scaled(state + k * width, -token.decays[k] * token.key[k], change, width);
      }
      compute::scale_shift(change, *token.rate, 0.0f, change, width);
    }
    std::copy_n(change, width, all_keys + op_.capacity * keys + (at * call.value_heads + head) * width);
  }

  ops::GatedDeltaNet op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GatedDeltaNetKernel)
