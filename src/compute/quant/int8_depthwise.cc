#include "compute/quant/int8_depthwise.h"

#include <algorithm>
#include <cstring>

#include "base/cpu_features.h"

namespace rh::compute {
namespace {

constexpr int64_t kLeastChannels = 4;

/// Those that take weights of any 9 bits.
const Int8DepthwiseKernels& wide_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  const CpuFeatures& cpu = cpu_features();
  if (cpu.avx512) return kAvx512Int8Depthwise;
  if (cpu.avx2) return kAvx2Int8Depthwise;
#endif
  return kGenericInt8Depthwise;
}

/// Those for signed bytes.
const Int8DepthwiseKernels& byte_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  if (cpu_features().avx512_vnni) return kAvx512VnniInt8Depthwise;
#endif
  return wide_kernels();
}

}  // namespace

bool Int8DepthwisePlan::fits(const ConvChannels& channels, const Window& window) {
  return kGenericInt8Depthwise.lanes > 0 && channels.groups == channels.in && channels.in == channels.out &&
         channels.in >= kLeastChannels && window.kernel[0] == 1 && window.stride[0] == 1;
}

Int8DepthwisePlan::Int8DepthwisePlan(const Int8DepthwiseKernels& kernels, int64_t channels, const Window& window)
    : kernels_(&kernels), channels_(channels), window_(window), along_rows_(window.kernel[1] == 1) {
  across_ = along_rows_ ? (window.kernel[2] + kernels.taps - 1) / kernels.taps : window.kernel[2];
  double least = choose_rows(1);
  if (along_rows_ || window.dilation[1] > 1) return;
  int64_t best = 1;
  for (int64_t rows = 2; rows <= kMostRows; ++rows) {
    const double cost = choose_rows(rows);
    if (cost >= least) continue;
    least = cost;
    best = rows;
  }
  choose_rows(best);
}

/// What a vector of outputs costs.
double Int8DepthwisePlan::choose_rows(int64_t rows) {
  rows_ = rows;
  const int64_t taps = kernels_->taps, down = along_rows_ ? 1 : window_.kernel[1];
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row * window_.stride[1];
    groups_[row] = {first / taps, (first + down - 1) / taps + 1};
  }
  const int64_t made = groups_[rows - 1].end * window_.stride[2];
  return (kernels_->word * static_cast<double>(made) + kernels_->taken * static_cast<double>(words_of_channel(rows))) /
         static_cast<double>(rows);
}

Int8DepthwisePlan Int8DepthwisePlan::of(int64_t channels, const Window& window, const int16_t* values) {
  const bool are_bytes = std::all_of(values, values + channels * window.kernel_size(), [](int16_t x) { return x >= -128 && x <= 127; });
  return {are_bytes ? byte_kernels() : wide_kernels(), channels, window};
}

int64_t Int8DepthwisePlan::most_words(int64_t channels, const Window& window) {
  return std::max(Int8DepthwisePlan(byte_kernels(), channels, window).words(), Int8DepthwisePlan(wide_kernels(), channels, window).words());
}

int64_t Int8DepthwisePlan::words_of_channel(int64_t rows) const {
  int64_t count = 0;
  for (int64_t row = 0; row < rows; ++row) count += groups_[row].size() * across_;
  return count;
}

int64_t Int8DepthwisePlan::words_at(int64_t unit, int64_t row) const {
  return unit * kernels_->unit() * words_of_channel(rows_) + kernels_->unit(unit_channels(unit)) * words_of_channel(row);
}

int64_t Int8DepthwisePlan::words() const {
  const int64_t last = units() - 1;
  return (last * kernels_->unit() + kernels_->unit(unit_channels(last))) * words_of_channel(rows_);
}

void Int8DepthwisePlan::write_words(const int16_t* values, uint32_t* words) const {
  const int64_t kernel = window_.kernel_size();
  for (int64_t unit = 0; unit < units(); ++unit) {
    const int64_t first = unit * kernels_->unit(), live = unit_channels(unit), width = kernels_->unit(live);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t group = groups_[row].begin; group < groups_[row].end; ++group) {
        for (int64_t across = 0; across < across_; ++across) {
          for (int64_t i = 0; i < width; ++i) {
            const int64_t channel = int8_channel_of_four(width, i / 4) + i % 4;
            *words++ = channel < live ? word(values + (first + channel) * kernel, row, group, across) : 0;
          }
        }
      }
    }
  }
}

/// Weights of a channel that a row of outputs takes of a word; 0 for what it does not.
uint32_t Int8DepthwisePlan::word(const int16_t* taps, int64_t row, int64_t group, int64_t across) const {
  const int64_t count = kernels_->taps, bits = 32 / count;
  uint32_t result = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t down = along_rows_ ? 0 : group * count + i - row * window_.stride[1];
    const int64_t at = along_rows_ ? across * count + i : across;
    if (down < 0 || down >= window_.kernel[1] || at >= window_.kernel[2]) continue;
    const auto value = static_cast<uint32_t>(static_cast<uint16_t>(taps[down * window_.kernel[2] + at]));
    result |= (bits == 8 ? value & 0xff : value) << (i * bits);
  }
  return result;
}

void Int8DepthwisePlan::write_sums(const int16_t* values, int32_t* sums) const {
  const int64_t kernel = window_.kernel_size();
  for (int64_t channel = 0; channel < channels_; ++channel) {
    int32_t sum = 0;
    for (int64_t i = 0; i < kernel; ++i) sum += values[channel * kernel + i];
    sums[channel] = sum;
  }
}

}  // namespace rh::compute
