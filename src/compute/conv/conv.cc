#include "compute/conv/conv.h"

#include <limits>

#include "base/cpu_features.h"
#include "compute/conv/conv_impl.h"
#include "compute/conv/conv_variants.h"
#include "compute/elementwise/vector_math.h"
#include "compute/gemm/gemm_fip.h"
#include "compute/move/bring_near.h"
#include "compute/quant/quantize.h"

namespace rh::compute {
namespace {

const ConvTable& conv_table() {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  if (cpu.avx512) return kAvx512Conv;
  if (cpu.avx2) return kAvx2Conv;
#endif
  return kGenericConv;
}

template <typename S>
const ConvKernels<Computed<S>, Code<S>>& kernels_of(const ConvTable& table) {
  if constexpr (std::is_same_v<S, float>) return table.of_float;
  if constexpr (std::is_same_v<S, double>) return table.of_double;
  if constexpr (std::is_same_v<S, Float16>) return table.of_half;
  if constexpr (std::is_same_v<S, BFloat16>) return table.of_bfloat;
}

}  // namespace

template <typename S>
const ConvKernels<Computed<S>, Code<S>>& conv_kernels() {
  return kernels_of<S>(conv_table());
}

template <typename S>
const ConvKernels<Computed<S>, Code<S>>& conv_kernels_for_width([[maybe_unused]] int64_t columns) {
#if defined(__x86_64__) || defined(_M_X64)
  if (columns == 2 * kernels_of<S>(kAvx512Conv).lanes) return kernels_of<S>(kAvx512Conv);
  if (columns == 2 * kernels_of<S>(kAvx2Conv).lanes) return kernels_of<S>(kAvx2Conv);
#endif
  return kernels_of<S>(kGenericConv);
}

const WinogradKernels& winograd_kernels_for_width([[maybe_unused]] int64_t columns) {
#if defined(__x86_64__) || defined(_M_X64)
  if (columns == 2 * kAvx512Conv.of_float.lanes) return kAvx512Winograd;
  if (columns == 2 * kAvx2Conv.of_float.lanes) return kAvx2Winograd;
#endif
  return kGenericWinograd;
}

bool (*conv_add_rows())(const AddedRows& args) { return conv_table().add_rows; }
void (*conv_channel_row())(const ChannelRow& args) { return conv_table().channel_row; }
const TapKernels& conv_tap_kernels() { return conv_table().taps; }

template <typename T>
void activate_and_add(bool activates, const Activation& activation, int64_t channel, T* y, int64_t rows, int64_t columns, int64_t stride,
                      const T* addend) {
  constexpr int64_t kNear = 8192, kBytes = sizeof(T);
  if (rows > 1 && rows * columns > kNear) {
    for (int64_t row = 0; row < rows; ++row)
      activate_and_add(activates, activation, channel + row, y + row * stride, 1, columns, columns, addend + row * stride);
    return;
  }
  for (; columns > kNear; columns -= kNear, y += kNear, addend += kNear)
    activate_and_add(activates, activation, channel, y, 1, kNear, kNear, addend);
  bring_near(addend, rows, columns * kBytes, stride * kBytes);
  if constexpr (std::is_same_v<T, float>) {
    if (activates && activation.kind == ActivationKind::silu && activation.alpha == 1)
      return add_to_silu_rows(addend, stride, y, stride, rows, columns);
    if (activates) activate_channels(activation, channel, y, rows, columns, stride);
    add_rows(addend, stride, y, stride, rows, columns);
  } else {
    if (activates) activate_channels(activation, channel, y, rows, columns, stride);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t i = row * stride; i < row * stride + columns; ++i) y[i] += addend[i];
  }
}
template void activate_and_add(bool, const Activation&, int64_t, float*, int64_t, int64_t, int64_t, const float*);
template void activate_and_add(bool, const Activation&, int64_t, double*, int64_t, int64_t, int64_t, const double*);

Clamp::Clamp(const Activation& activation) : low(-std::numeric_limits<float>::infinity()), high(std::numeric_limits<float>::infinity()) {
  switch (activation.kind) {
    case ActivationKind::none: break;
    case ActivationKind::relu: low = 0; break;
    case ActivationKind::clip:
      low = activation.alpha;
      high = activation.beta;
      break;
    default: activates = true;
  }
}

namespace {

/// Whether sums of some of the weights, which Winograd and the like keep in place of them, stay far from the end of the range of floats.
bool can_be_summed(const float* weights, int64_t count) {
  constexpr float kMost = 0x1p120f;
  const MinMax range = min_max(weights, count);
  return count == 0 || (range.low >= -kMost && range.high <= kMost);
}

}  // namespace

template <typename T>
Convolution<T>::Convolution(const ConvChannels& channels, std::span<const Window> windows, const T* weights, const T* bias,
                            const Activation& activation, std::string_view variant, ConvAccuracy accuracy, bool lean) {
  const Window& window = windows.front();
  const ConvVariant<T>* chosen = nullptr;
  const auto choose = [&](bool without_sums) { chosen = &choose_conv_variant<T>(channels, windows, accuracy, without_sums, variant); };
  choose(lean);
  if constexpr (std::is_same_v<T, float>) {
    const int64_t of_output = channels.in / channels.groups * window.kernel_size();
    const bool keeps_sums = chosen->grows && chosen->name != "amx";
    const bool without_sums = lean || (keeps_sums && !can_be_summed(weights, channels.out * of_output));
    if (without_sums != lean) choose(without_sums);
    if (chosen->accuracy == ConvAccuracy::usual && has_many_zeros(weights, channels.out, of_output, of_output, 1)) {
      accuracy = ConvAccuracy::strict;
      choose(without_sums || !can_be_summed(weights, channels.out * of_output));
    }
  }
  impl_ = chosen->make(channels, window, weights, bias, activation);
  variant_ = chosen->name;
}

template <typename T>
Convolution<T>::~Convolution() = default;
template <typename T>
Convolution<T>::Convolution(Convolution&&) noexcept = default;
template <typename T>
Convolution<T>& Convolution<T>::operator=(Convolution&&) noexcept = default;

template <typename T>
void Convolution<T>::run(const Window& window, int64_t batch, const T* x, const T* residual, T* y, const Parallel& parallel,
                         const InputScale& input, const T* addend) const {
  if (batch <= 0 || window.output_size() <= 0) return;
  impl_->run({window, batch, x, residual, y, input, addend}, parallel);
}

template <typename T>
size_t Convolution<T>::weight_bytes() const {
  return impl_->weight_bytes();
}
template <typename T>
bool Convolution<T>::adds_residual_last() const {
  return impl_->adds_residual_last();
}
template <typename T>
bool Convolution<T>::scales_input() const {
  return impl_->scales_input();
}
template <typename T>
std::vector<std::string_view> Convolution<T>::variants(const ConvChannels& channels, const Window& window, ConvAccuracy accuracy,
                                                       bool lean) {
  std::vector<std::string_view> names;
  for (const ConvVariant<T>& variant : conv_variants<T>()) {
    if (may_take(variant, channels, window, accuracy, lean)) names.push_back(variant.name);
  }
  return names;
}

#define RH_INSTANTIATE(T)                                                               \
  template const ConvKernels<Computed<T>, Code<T>>& conv_kernels<T>();                  \
  template const ConvKernels<Computed<T>, Code<T>>& conv_kernels_for_width<T>(int64_t); \
  template class Convolution<T>;
RH_INSTANTIATE(float)
RH_INSTANTIATE(double)
RH_INSTANTIATE(Float16)
RH_INSTANTIATE(BFloat16)
#undef RH_INSTANTIATE

}  // namespace rh::compute
