#include "ops/nn/varlen_causal_conv_with_state.h"

#include <algorithm>

#include "compute/elementwise/vector_math.h"
#include "compute/scratch.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class VarlenCausalConvWithStateKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit VarlenCausalConvWithStateKernel(const KernelInfo& info) : op_(info.attributes<ops::VarlenCausalConvWithState>()) {}

  Status run(RunContext& context) const override {
    Call call;
    RH_RETURN_IF_ERROR(set_call(context, call));
    const MutableView y = context.output(0, context.input(0).shape()), state = context.output(1, context.input(4).shape());
    const bool captures = context.has_output(2);
    const MutableView update = captures ? context.output(2, {call.requests, op_.capacity, call.channels}) : MutableView();
    float* const weight = context.scratch_array<float>(call.taps * call.channels);  // [taps, channels]
    const float* const floats = converted(context, context.input(1), DType::float32).data<float>();
    for (int64_t c = 0; c < call.channels; ++c) {
      for (int64_t i = 0; i < call.taps; ++i) weight[i * call.channels + c] = floats[c * call.taps + i];
    }
    const float* bias = context.has_input(3) ? converted(context, context.input(3), DType::float32).data<float>() : nullptr;
    return dispatch<Types>(context.input(0).dtype(), "VarlenCausalConvWithState", [&]<typename T>() {
      const Data<T> data{context.input(0).data<T>(), context.input(4).data<T>(), y.data<T>(), state.data<T>()};
      run_tokens(context, call, data, weight, bias);
      run_states(context, call, data);
      if (captures) run_captures(call, data.x, context.input(5).data<int32_t>(), update.data<T>());
    });
  }

 private:
  struct Call {
    int64_t tokens = 0, channels = 0, taps = 0, requests = 0;
    int64_t before = 0;  ///< positions that a state holds
    const int32_t* begins = nullptr;
  };

  template <typename T>
  struct Data {
    const T *x, *past;
    T *y, *state;
  };

  template <typename... Args>
  static Status wrong(fmt::format_string<Args...> text, Args&&... args) {
    return error_status(ErrorCode::invalid_argument, "VarlenCausalConvWithState: {}", fmt::format(text, std::forward<Args>(args)...));
  }

  Status set_call(const RunContext& context, Call& call) const {
    const Shape &x = context.input(0).shape(), &weight = context.input(1).shape(), &begins = context.input(2).shape();
    if (x.rank() != 2 || weight.rank() != 3 || weight[0] != x[1] || weight[1] != 1 || weight[2] < 1) {
      return wrong("input has shape {} and weight {}, expected [tokens, channels] and [channels, 1, k]", x.to_string(), weight.to_string());
    }
    if (begins.rank() != 1 || begins[0] < 1) {
      return wrong("cumulative_sequence_length has shape {}, expected [requests + 1]", begins.to_string());
    }
    call = {.tokens = x[0], .channels = x[1], .taps = weight[2], .requests = begins[0] - 1, .begins = context.input(2).data<int32_t>()};
    call.before = checked_product(call.taps - 1, op_.dilation, "VarlenCausalConvWithState: the state's length");
    const auto check = [&](int input, const char* name, const Shape& expected) {
      if (!context.has_input(input) || context.input(input).shape() == expected) return Status();
      return wrong("{} has shape {}, expected {}", name, context.input(input).shape().to_string(), expected.to_string());
    };
    RH_RETURN_IF_ERROR(check(3, "bias", {call.channels}));
    RH_RETURN_IF_ERROR(check(4, "initial_state", {call.requests, call.channels, call.before}));
    RH_RETURN_IF_ERROR(check(5, "capture_count", {call.requests}));
    if (call.begins[0] != 0 || call.begins[call.requests] != call.tokens) {
      return wrong("cumulative_sequence_length is from {} to {}, expected 0 to {}, the number of tokens", call.begins[0],
                   call.begins[call.requests], call.tokens);
    }
    for (int64_t i = 0; i < call.requests; ++i) {
      if (call.begins[i] > call.begins[i + 1]) {
        return wrong("cumulative_sequence_length falls from {} to {}", call.begins[i], call.begins[i + 1]);
      }
    }
    return {};
  }

  template <typename T>
  void run_tokens(const RunContext& context, const Call& call, const Data<T>& data, const float* weight, const float* bias) const {
    const int64_t channels = call.channels;
    const double size = static_cast<double>(channels), work = size * static_cast<double>(call.taps);
    context.parallel().for_range(call.tokens, {2.0 * sizeof(T) * size, work}, [&](Range part) {
      auto* const sums =
          static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(channels) * sizeof(float)));
      int64_t request = std::upper_bound(call.begins, call.begins + call.requests, part.begin) - call.begins - 1;
      for (int64_t token = part.begin; token < part.end; ++token) {
        while (call.begins[request + 1] <= token) ++request;
        bias ? void(std::copy_n(bias, channels, sums)) : void(std::fill_n(sums, channels, 0.0f));
        for (int64_t i = 0; i < call.taps; ++i) {
          const int64_t at = token - call.begins[request] - (call.taps - 1 - i) * op_.dilation;  // of the request's tokens
          const float* w = weight + i * channels;
          const T* x =
              at >= 0 ? data.x + (call.begins[request] + at) * channels : data.past + request * channels * call.before + call.before + at;
          const int64_t step = at >= 0 ? 1 : call.before;
          for (int64_t c = 0; c < channels; ++c) sums[c] += w[c] * static_cast<float>(x[c * step]);
        }
        if (op_.silu) compute::unary(compute::Unary::silu, sums, sums, channels);
        for (int64_t c = 0; c < channels; ++c) data.y[token * channels + c] = static_cast<T>(sums[c]);
      }
    });
  }

  /// The last positions of each request, those of its past among them where it has few tokens.
  template <typename T>
  static void run_states(const RunContext& context, const Call& call, const Data<T>& data) {
    const double bytes = 2.0 * sizeof(T) * static_cast<double>(call.before);
    context.parallel().for_range(call.requests * call.channels, {bytes, 0}, [&](Range part) {
      for (int64_t row = part.begin; row < part.end; ++row) {
        const int64_t request = row / call.channels, channel = row % call.channels;
        const int64_t begin = call.begins[request], length = call.begins[request + 1] - begin;
        for (int64_t i = 0; i < call.before; ++i) {
          const int64_t at = length - call.before + i;
          data.state[row * call.before + i] =
              at >= 0 ? data.x[(begin + at) * call.channels + channel] : data.past[row * call.before + call.before + at];
        }
      }
    });
  }

  template <typename T>
  void run_captures(const Call& call, const T* x, const int32_t* counts, T* update) const {
    std::fill_n(update, call.requests * op_.capacity * call.channels, T(0));
    for (int64_t i = 0; i < call.requests; ++i) {
      const int64_t length = call.begins[i + 1] - call.begins[i];
      const int64_t count = std::clamp<int64_t>(counts[i], 0, std::min(op_.capacity, length));
      std::copy_n(x + call.begins[i] * call.channels, count * call.channels, update + i * op_.capacity * call.channels);
    }
  }

  ops::VarlenCausalConvWithState op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(VarlenCausalConvWithStateKernel)
