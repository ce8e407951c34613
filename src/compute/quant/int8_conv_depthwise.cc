#include <vector>

#include "compute/move/transpose_words.h"
#include "compute/quant/int8_conv_impl.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kBlock = 16;  // elements of loops of a known length, which compilers vectorise

}  // namespace

/// Sums of a whole plane, kernel position by kernel position.
void Int8DepthwiseCall::run(const Parallel& parallel) const {
  const int64_t in = conv_.channels_.in, out = conv_.channels_.out, input = w_.input_size();
  const auto* x = static_cast<const uint8_t*>(x_.bytes.data);
  if (x_.channels_last) {
    auto* planes = static_cast<uint8_t*>(thread_scratch(ScratchSlot::image, static_cast<size_t>(batch_ * in * input)));
    for (int64_t image = 0; image < batch_; ++image) {
      transpose_bytes(x + image * in * input, in, planes + image * in * input, input, in, input);
    }
    x = planes;
  }
  const double work = static_cast<double>(pixels_ * conv_.k_);
  const int64_t width = y_.factors ? 1 : sizeof(int32_t);
  auto* y = static_cast<uint8_t*>(y_.data);
  if (y_.channels_last) {
    y = static_cast<uint8_t*>(thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(batch_ * out * pixels_ * width)));
  }
  parallel.for_range(batch_ * out, {.bytes = 0, .operations = work}, [&](Range range) {
    auto* sums = static_cast<int32_t*>(thread_scratch(ScratchSlot::row, static_cast<size_t>(pixels_) * sizeof(int32_t)));
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t image = i / out, channel = i % out;
      const uint8_t* plane = x + (image * in + channel / conv_.out_) * input;
      std::fill_n(sums, pixels_, conv_.bias_.empty() ? 0 : conv_.bias_[static_cast<size_t>(channel)]);
      for (int64_t tap = 0; tap < conv_.k_; ++tap) {
        add_tap(plane, tap_at(conv_.window_, tap), conv_.values_[static_cast<size_t>(channel * conv_.k_ + tap)], sums);
      }
      if (y_.factors) {
        requantize(sums, y_.factors + channel, false, y_.range, y + i * pixels_, pixels_);
      } else {
        std::copy_n(sums, pixels_, reinterpret_cast<int32_t*>(y) + i * pixels_);
      }
    }
  });
  for (int64_t image = 0; y_.channels_last && image < batch_; ++image) {
    const int64_t at = image * out * pixels_;
    if (y_.factors) {
      transpose_bytes(y + at, pixels_, static_cast<uint8_t*>(y_.data) + at, out, pixels_, out);
    } else {
      transpose_words(reinterpret_cast<const uint32_t*>(y) + at, pixels_, static_cast<uint32_t*>(y_.data) + at, out, pixels_, out);
    }
  }
}

void Int8DepthwiseCall::add_tap(const uint8_t* plane, const Tap& tap, int32_t weight, int32_t* sums) const {
  const Window& w = conv_.window_;
  const int64_t starts[3] = {tap.shift[0] - w_.pad_begin[0], tap.shift[1] - w_.pad_begin[1], tap.shift[2] - w_.pad_begin[2]};
  const Range depth = reach(starts[0], w.stride[0], w_.input[0], w_.output[0]),
              height = reach(starts[1], w.stride[1], w_.input[1], w_.output[1]),
              across = reach(starts[2], w.stride[2], w_.input[2], w_.output[2]);
  for (int64_t od = depth.begin; od < depth.end; ++od) {
    for (int64_t oh = height.begin; oh < height.end; ++oh) {
      const uint8_t* x = plane + ((starts[0] + od * w.stride[0]) * w_.input[1] + starts[1] + oh * w.stride[1]) * w_.input[2] + starts[2];
      int32_t* out = sums + (od * w_.output[1] + oh) * w_.output[2];
      const auto add = [&]<typename T>(const T* from, int64_t stride) {
        const auto one = [&](int64_t ow) {
          out[ow] =
              static_cast<int32_t>(static_cast<uint32_t>(out[ow]) + static_cast<uint32_t>((from[ow * stride] - x_.zero_point) * weight));
        };
        int64_t ow = across.begin;
        for (; ow + kBlock <= across.end; ow += kBlock) {
          for (int64_t i = 0; i < kBlock; ++i) one(ow + i);
        }
        for (; ow < across.end; ++ow) one(ow);
      };
      if (x_.bytes.is_signed) {
        w.stride[2] == 1 ? add(reinterpret_cast<const int8_t*>(x), 1) : add(reinterpret_cast<const int8_t*>(x), w.stride[2]);
      } else {
        w.stride[2] == 1 ? add(x, 1) : add(x, w.stride[2]);
      }
    }
  }
}

}  // namespace rh::compute
