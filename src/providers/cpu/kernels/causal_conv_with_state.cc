#include "ops/nn/causal_conv_with_state.h"

#include <algorithm>

#include "compute/elementwise/vector_math.h"
#include "compute/scratch.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class CausalConvWithStateKernel final : public Kernel {
 public:
  using Types = rh::Types<float, Float16, BFloat16>;

  explicit CausalConvWithStateKernel(const KernelInfo& info) : op_(info.attributes<ops::CausalConvWithState>()) {}

  Status run(RunContext& context) const override {
    const Shape &x = context.input(0).shape(), &weight = context.input(1).shape();
    const int64_t channels = op_.channels_last ? x.product(std::min(2, x.rank()), x.rank()) : x.rank() == 3 ? x[1] : 0;
    const bool fits = op_.channels_last ? x.rank() >= 3 : x.rank() == 3;
    if (!fits || weight.rank() != 3 || weight[0] != channels || weight[1] != 1 || weight[2] < 1) {
      return error_status(ErrorCode::invalid_argument,
                          "CausalConvWithState: input has shape {} and weight {}, expected [batch, {}] and [channels, 1, k]", x.to_string(),
                          weight.to_string(), op_.channels_last ? "length, channels..." : "channels, length");
    }
    Call call{.batch = x[0], .channels = channels, .length = x[op_.channels_last ? 1 : 2], .taps = weight[2]};
    call.before = checked_product(call.taps - 1, op_.dilation, "CausalConvWithState: the state's length");
    Shape state;
    if (op_.window > 0) state.push_back(op_.window);
    for (int64_t d : x) state.push_back(d);
    state[state.rank() - x.rank() + (op_.channels_last ? 1 : 2)] = call.before;
    check_elements(state, "CausalConvWithState: the state");
    RH_RETURN_IF_ERROR(check(context, 2, {channels}, "bias"));
    RH_RETURN_IF_ERROR(check(context, 3, state, "past_state"));
    const MutableView y = context.output(0, x), present = context.output(1, state);
    const int64_t one_state = call.batch * channels * call.before, older = std::max<int64_t>(0, op_.window - 1);
    return dispatch<Types>(context.input(0).dtype(), "CausalConvWithState", [&]<typename T>() {
      const Data<T> data{context.input(0).data<T>(),
                         context.input(1).data<T>(),
                         floats_of_bias(context),
                         context.has_input(3) ? context.input(3).data<T>() + older * one_state : nullptr,
                         y.data<T>(),
                         present.data<T>() + older * one_state};
      if (older > 0) std::fill_n(present.data<T>(), older * one_state, T(0));
      op_.channels_last ? run_positions(context, call, data) : run_channels(context, call, data);
    });
  }

 private:
  struct Call {
    int64_t batch, channels, length, taps;
    int64_t before = 0;  ///< positions that the state holds
  };

  /// States are those after the last position; older ones lie before them.
  template <typename T>
  struct Data {
    const T *x, *weight;
    const float* bias;
    const T* past;
    T *y, *present;
  };

  static Status check(const RunContext& context, int input, const Shape& expected, const char* name) {
    if (!context.has_input(input) || context.input(input).shape() == expected) return {};
    return error_status(ErrorCode::invalid_argument, "CausalConvWithState: {} has shape {}, expected {}", name,
                        context.input(input).shape().to_string(), expected.to_string());
  }

  static const float* floats_of_bias(RunContext& context) {
    return context.has_input(2) ? converted(context, context.input(2), DType::float32).data<float>() : nullptr;
  }

  template <typename T>
  void run_channels(const RunContext& context, const Call& call, const Data<T>& data) const {
    const double work = static_cast<double>(call.length) * static_cast<double>(call.taps);
    context.parallel().for_range(call.batch * call.channels, {2.0 * sizeof(T) * static_cast<double>(call.length), work}, [&](Range part) {
      if (call.length <= kFewPositions) return run_short_channels(call, part, data);
      for (int64_t row = part.begin; row < part.end; ++row) run_channel(call, row, data);
    });
  }

  static constexpr int64_t kFewPositions = 4;  // of a row, for which calls of functions of rows take longer than the work

  template <typename T>
  void run_short_channels(const Call& call, Range part, const Data<T>& data) const {
    const int64_t length = call.length, before = call.before;
    auto* const sums =
        static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(part.size() * length) * sizeof(float)));
    for (int64_t row = part.begin; row < part.end; ++row) {
      const T *x = data.x + row * length, *past = data.past ? data.past + row * before : nullptr;
      const auto at = [&](int64_t i) { return i >= before ? x[i - before] : past ? past[i] : T(0); };
      const T* weight = data.weight + row % call.channels * call.taps;
      for (int64_t j = 0; j < length; ++j) {
        float sum = data.bias ? data.bias[row % call.channels] : 0.0f;
        for (int64_t i = 0; i < call.taps; ++i) sum += static_cast<float>(weight[i]) * static_cast<float>(at(j + i * op_.dilation));
        sums[(row - part.begin) * length + j] = sum;
      }
      for (int64_t later = states(length) - 1; later >= 0; --later) {  // the last may lie where the past does
        T* present = data.present - later * call.batch * call.channels * before + row * before;
        for (int64_t i = 0; i < before; ++i) present[i] = at(length - later + i);
      }
    }
    if (op_.silu) compute::unary(compute::Unary::silu, sums, sums, part.size() * length);
    for (int64_t i = 0; i < part.size() * length; ++i) data.y[part.begin * length + i] = static_cast<T>(sums[i]);
  }

  template <typename T>
  void run_channel(const Call& call, int64_t row, const Data<T>& data) const {
    const int64_t length = call.length, before = call.before, channel = row % call.channels;
    float* x =
        static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(before + 2 * length) * sizeof(float)));
    float* sums = x + before + length;
    const auto widen = [](const T* from, int64_t count, float* to) {
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    };
    if (data.past) {
      widen(data.past + row * before, before, x);
    } else {
      std::fill_n(x, before, 0.0f);
    }
    widen(data.x + row * length, length, x + before);
    std::fill_n(sums, length, data.bias ? data.bias[channel] : 0.0f);
    const T* weight = data.weight + channel * call.taps;
    for (int64_t i = 0; i < call.taps; ++i) compute::add_scaled(x + i * op_.dilation, static_cast<float>(weight[i]), sums, length);
    if (op_.silu) compute::unary(compute::Unary::silu, sums, sums, length);
    for (int64_t i = 0; i < length; ++i) data.y[row * length + i] = static_cast<T>(sums[i]);
    for (int64_t later = 0; later < states(length); ++later) {
      T* present = data.present - later * call.batch * call.channels * before + row * before;
      for (int64_t i = 0; i < before; ++i) present[i] = static_cast<T>(x[length - later + i]);
    }
  }

  /// How many states this call's positions give.
  int64_t states(int64_t length) const { return std::max<int64_t>(1, std::min(op_.window, length)); }

  template <typename T>
  void run_positions(RunContext& context, const Call& call, const Data<T>& data) const {
    const int64_t channels = call.channels, length = call.length;
    float* weight = context.scratch_array<float>(call.taps * channels);  // [taps, channels]
    for (int64_t i = 0; i < call.taps * channels; ++i) weight[i] = static_cast<float>(data.weight[i % channels * call.taps + i / channels]);
    const double size = static_cast<double>(channels), work = size * static_cast<double>(call.taps);
    context.parallel().for_range(call.batch * length, {2.0 * sizeof(T) * size, work}, [&](Range part) {
      for (int64_t token = part.begin; token < part.end; ++token) {
        float* sums =
            static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(channels) * sizeof(float)));
        data.bias ? void(std::copy_n(data.bias, channels, sums)) : void(std::fill_n(sums, channels, 0.0f));
        for (int64_t i = 0; i < call.taps; ++i) {
          const T* x = row_of(call, data, token / length, token % length + i * op_.dilation);
          const float* w = weight + i * channels;
          for (int64_t c = 0; x && c < channels; ++c) sums[c] += w[c] * static_cast<float>(x[c]);
        }
        if (op_.silu) compute::unary(compute::Unary::silu, sums, sums, channels);
        for (int64_t c = 0; c < channels; ++c) data.y[token * channels + c] = static_cast<T>(sums[c]);
      }
    });
    for (int64_t later = 0; later < states(length); ++later) {
      for (int64_t i = 0; i < call.batch * call.before; ++i) {
        const T* x = row_of(call, data, i / call.before, length - later + i % call.before);
        T* present = data.present - later * call.batch * channels * call.before + i * channels;
        x ? void(std::copy_n(x, channels, present)) : void(std::fill_n(present, channels, T(0)));
      }
    }
  }

  /// The channels of a position, counted from the first one that the state holds; null where they are zeros.
  template <typename T>
  static const T* row_of(const Call& call, const Data<T>& data, int64_t batch, int64_t position) {
    if (position >= call.before) return data.x + (batch * call.length + position - call.before) * call.channels;
    return data.past ? data.past + (batch * call.before + position) * call.channels : nullptr;
  }

  ops::CausalConvWithState op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CausalConvWithStateKernel)
