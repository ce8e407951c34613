#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "compute/elementwise/double_math.h"
#include "compute/elementwise/narrow_floats.h"
#include "compute/elementwise/vector_math.h"
#include "compute/scratch.h"
#include "ops/nn/block_channels.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/float_rows.h"
#include "providers/cpu/fused_activation.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

using ops::kChannelBlock;

constexpr int64_t kPiece = 2048;  // values that stay in the first-level cache while all is done to them: whole blocks

/// x as [batch, channels, inner], or [batch, blocks of channels, inner, channels of a block]. Where each element of an image has parameters
/// of its own all are channels.
struct Sizes {
  int64_t batch, channels, inner;
  bool blocked;

  Sizes(const Shape& x, bool blocked, bool spatial)
      : batch(x.rank() > 0 ? x[0] : 1),
        channels(x.rank() > 1 ? x[1] : 1),
        inner(x.product(std::min(2, x.rank()), x.rank())),
        blocked(blocked) {
    if (!spatial) {
      channels *= inner;
      inner = 1;
    }
    if (!blocked) return;
    channels *= kChannelBlock;
    inner /= kChannelBlock;
  }
  /// Whether x has so many channels: the last block may have fewer than it has room for.
  bool has(int64_t count) const { return blocked ? count <= channels && count > channels - kChannelBlock : count == channels; }
};

/// y = scale x + shift, a pair for each channel.
struct ChannelFactors {
  std::span<double> scale, shift;
  std::span<float> float_scale, float_shift;  ///< for all types but double

  /// From a factor and an offset, which are in `scale` and `shift`.
  void fill(std::span<const double> mean, std::span<const double> variance, double epsilon) const {
    for (size_t c = 0; c < scale.size(); ++c) {
      scale[c] /= std::sqrt(variance[c] + epsilon);
      shift[c] -= mean[c] * scale[c];
    }
    std::ranges::transform(scale, float_scale.begin(), [](double value) { return static_cast<float>(value); });
    std::ranges::transform(shift, float_shift.begin(), [](double value) { return static_cast<float>(value); });
  }
};

/// What follows the scale and the shift.
template <typename T>
struct Extras {
  compute::Activation activation;
  const T* sum = nullptr;  ///< added before the activation
  bool sum_first = false;  ///< before the scale

  bool any() const { return sum || activation.kind != compute::ActivationKind::none; }
};

/// The values of rows that follow each other, in memory as well: of the first row those from `begin` on, `length` of each.
struct Piece {
  int64_t channel, begin, rows, length;

  int64_t values() const { return rows * length; }
};

/// Values in rows: of one channel each, of one value of each channel, or of pixels of a block.
class Rows {
 public:
  Rows(const Sizes& sizes, const ChannelFactors& factors, const compute::Activation& activation)
      : factors_(factors), activation_(activation), blocked_(sizes.blocked), of_all_(sizes.inner == 1 && !sizes.blocked) {
    length_ = blocked_ ? sizes.inner * kChannelBlock : of_all_ ? sizes.channels : sizes.inner;
    of_an_image_ = blocked_ ? sizes.channels / kChannelBlock : of_all_ ? 1 : sizes.channels;
    count_ = sizes.batch * of_an_image_;
  }

  int64_t count() const { return count_; }
  int64_t length() const { return length_; }

  /// Calls body(first value, piece) for pieces of at most kPiece values that cover the rows.
  template <typename F>
  void for_pieces(Range rows, F body) const {
    const int64_t together = blocked_ ? 1 : std::max<int64_t>(1, kPiece / length_);
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t channel = row % of_an_image_, left = of_all_ ? together : of_an_image_ - channel;
      const int64_t count = std::min({together, left, rows.end - row});
      for (int64_t at = 0; at < length_; at += kPiece) body(row * length_ + at, Piece{channel, at, count, std::min(kPiece, length_ - at)});
      row += count;
    }
  }

  void scale(const float* x, const Piece& piece, float* y) const {
    const float *scale = factors_.float_scale.data(), *shift = factors_.float_shift.data();
    const int64_t channel = piece.channel, block = channel * kChannelBlock;
    if (blocked_) return compute::scale_shift_columns(x, scale + block, shift + block, y, piece.values() / kChannelBlock, kChannelBlock);
    if (of_all_) return compute::scale_shift_columns(x, scale + piece.begin, shift + piece.begin, y, piece.rows, piece.length);
    compute::scale_shift_rows(x, scale + channel, shift + channel, y, piece.rows, piece.length);
  }

  void activate(const Piece& piece, float* y) const {
    if (of_all_) return compute::activate_pixels(activation_, piece.begin, y, piece.rows, piece.length, piece.length);
    compute::activate_channels(activation_, piece.channel, y, piece.rows, piece.length, piece.length);
  }

  /// All at once, where there are loops for it.
  bool scale_and_activate(const float* x, const Piece& piece, float* y) const {
    if (blocked_ || of_all_ || activation_.kind != compute::ActivationKind::relu) return false;
    const float *scale = factors_.float_scale.data() + piece.channel, *shift = factors_.float_shift.data() + piece.channel;
    compute::relu_scaled_rows(x, piece.length, scale, shift, y, piece.length, piece.rows, piece.length);
    return true;
  }

 private:
  const ChannelFactors& factors_;
  const compute::Activation& activation_;
  bool blocked_, of_all_;
  int64_t length_ = 0, of_an_image_ = 0, count_ = 0;
};

void fuse_piece(const Rows& rows, const Piece& piece, const float* x, const float* sum, bool sum_first, float* y) {
  if (sum && sum_first) {
    float* const both = compute::scratch_floats(compute::ScratchSlot::row, kPiece);
    compute::binary(compute::Binary::add, x, sum, both, piece.values());
    return fuse_piece(rows, piece, both, nullptr, false, y);
  }
  if (!sum && rows.scale_and_activate(x, piece, y)) return;
  // The sum may lie where y does.
  float* scaled = sum ? compute::scratch_floats(compute::ScratchSlot::row, kPiece) : y;
  rows.scale(x, piece, scaled);
  if (sum) compute::binary(compute::Binary::add, scaled, sum, y, piece.values());
  rows.activate(piece, y);
}

/// Of a half type.
template <typename T>
void fuse_piece(const Rows& rows, const Piece& piece, const T* x, const T* sum, bool sum_first, T* y) {
  float *wide = compute::scratch_floats(compute::ScratchSlot::row, 2 * kPiece), *wide_sum = wide + kPiece;
  compute::widen(x, wide, piece.values());
  if (sum) compute::widen(sum, wide_sum, piece.values());
  const auto add = [&] { compute::binary(compute::Binary::add, wide, wide_sum, wide, piece.values()); };
  if (sum && sum_first) add();
  rows.scale(wide, piece, wide);
  if (sum && !sum_first) add();
  rows.activate(piece, wide);
  compute::narrow(wide, y, piece.values());
}

template <typename T>
void fuse(const T* x, T* y, const Sizes& sizes, const ChannelFactors& factors, const Extras<T>& extras, const Parallel& parallel) {
  const Rows rows(sizes, factors, extras.activation);
  const double values = static_cast<double>(rows.length());
  const double operations = extras.activation.kind == compute::ActivationKind::none ? 3 : 23;
  parallel.for_range(rows.count(), {(extras.sum ? 3 : 2) * sizeof(T) * values, operations * values}, [&](Range part) {
    rows.for_pieces(part, [&](int64_t first, const Piece& piece) {
      fuse_piece(rows, piece, x + first, extras.sum ? extras.sum + first : nullptr, extras.sum_first, y + first);
    });
  });
}

void fuse(const double* x, double* y, const Sizes& sizes, const ChannelFactors& factors, const Extras<double>& extras,
          const Parallel& parallel) {
  const int64_t inner = sizes.inner;
  parallel.for_range(sizes.batch * sizes.channels, {3.0 * sizeof(double) * inner, 20.0 * inner}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const size_t c = static_cast<size_t>(i % sizes.channels);
      const compute::Activation activation = extras.activation.of_channel(i % sizes.channels);
      for (int64_t k = i * inner; k < (i + 1) * inner; ++k) {
        const double sum = extras.sum ? extras.sum[k] : 0, value = extras.sum_first ? x[k] + sum : x[k];
        const double scaled = value * factors.scale[c] + factors.shift[c];
        y[k] = compute::activated(activation, extras.sum_first ? scaled : scaled + sum);
      }
    }
  });
}

void scale_doubles(const TensorView& x, const MutableView& y, const Sizes& sizes, const ChannelFactors& factors, const Parallel& parallel) {
  const int64_t inner = sizes.inner, channels = sizes.channels;
  const double *const from = x.data<double>(), *const scale = factors.scale.data(), *const shift = factors.shift.data();
  double* const to = y.data<double>();
  if (inner == 1) {
    return parallel.for_range(sizes.batch, {2.0 * sizeof(double) * channels, 2.0 * channels}, [&](Range part) {
      const int64_t at = part.begin * channels;
      compute::scale_shift_columns(from + at, scale, shift, to + at, part.size(), channels);
    });
  }
  parallel.for_range(sizes.batch * channels, {2.0 * sizeof(double) * inner, 2.0 * inner}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t c = i % channels;
      compute::scale_shift(from + i * inner, scale[c], shift[c], to + i * inner, inner);
    }
  });
}

/// Of floats and half types.
void scale_floats(const TensorView& x, const MutableView& y, const Sizes& sizes, const ChannelFactors& factors, const Parallel& parallel) {
  const float *scale = factors.float_scale.data(), *shift = factors.float_shift.data();
  const double width = bits_of(x.dtype()) / 8.0;
  if (sizes.inner == 1) {
    const Cost cost{2 * width * sizes.channels, 2.0 * sizes.channels};
    return for_float_rows(parallel, x, y, sizes.batch, sizes.channels, cost, [&](const float* from, float* to, Range rows) {
      compute::scale_shift_columns(from, scale, shift, to, rows.size(), sizes.channels);
    });
  }
  const Cost cost{2 * width * sizes.inner, 2.0 * sizes.inner};
  for_float_rows(parallel, x, y, sizes.batch * sizes.channels, sizes.inner, cost, [&](const float* from, float* to, Range rows) {
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t c = row % sizes.channels, count = std::min(rows.end - row, sizes.channels - c), at = (row - rows.begin) * sizes.inner;
      compute::scale_shift_rows(from + at, scale + c, shift + c, to + at, count, sizes.inner);
      row += count;
    }
  });
}

template <typename T>
void channel_statistics(const T* x, const Sizes& sizes, std::span<double> mean, std::span<double> variance) {
  std::ranges::fill(mean, 0.0);
  std::ranges::fill(variance, 0.0);
  const double count = static_cast<double>(sizes.batch * sizes.inner);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t i = 0; i < sizes.batch * sizes.channels; ++i) {
      const size_t c = static_cast<size_t>(i % sizes.channels);
      double sum = 0;
      for (int64_t k = i * sizes.inner; k < (i + 1) * sizes.inner; ++k) {
        const double value = static_cast<double>(x[k]);
        sum += pass == 0 ? value : (value - mean[c]) * (value - mean[c]);
      }
      (pass == 0 ? mean : variance)[c] += sum / count;
    }
  }
}

}  // namespace

/// BatchNormalization and FusedBatchNormalization. The parameters may have another float type than the data. Where they are constant,
/// factors are computed once.
class BatchNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit BatchNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::BatchNormalization>()) {
    const Tensor* parts[4];
    for (int i = 0; i < 4; ++i) parts[i] = info.constant_input(i + 1);
    const auto fits = [&](const Tensor* part) {
      return part && Types::set.contains(part->dtype()) && part->elements() == parts[0]->elements();
    };
    if (op_.training || !std::ranges::all_of(parts, fits)) return;
    const auto numbers = [&](int i) { return as_doubles(parts[i]->view()); };
    scale_ = numbers(0);
    shift_ = numbers(1);
    float_scale_.resize(scale_.size());
    float_shift_.resize(scale_.size());
    factors_ = {scale_, shift_, float_scale_, float_shift_};
    factors_->fill(numbers(2), numbers(3), static_cast<double>(op_.epsilon));
    if (!op_.blocked) return;
    for (std::vector<float>* list : {&float_scale_, &float_shift_}) list->resize(room_of(list->size()));
    factors_->float_scale = float_scale_;
    factors_->float_shift = float_shift_;
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}, {0, kSum, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (op_.blocked && (x.rank() < 3 || x.shape()[x.rank() - 1] != kChannelBlock || x.dtype() == DType::float64)) {
      return error_status(ErrorCode::invalid_argument, "FusedBatchNormalization: input is {} {}, expected blocks of {} channels",
                          to_string(x.dtype()), x.shape().to_string(), kChannelBlock);
    }
    const Sizes sizes(x.shape(), op_.blocked, op_.spatial);
    for (int i = 1; i < 5; ++i) {
      if (!sizes.has(context.input(i).elements())) {
        return error_status(ErrorCode::invalid_argument, "BatchNormalization: input {} has shape {}, expected {} values, one {}", i,
                            context.input(i).shape().to_string(), sizes.channels, op_.spatial ? "a channel" : "an element of an image");
      }
    }
    RH_RETURN_IF_ERROR(check_slopes(op_.activation, sizes.channels));
    if (context.has_input(kSum) && (context.input(kSum).dtype() != x.dtype() || !(context.input(kSum).shape() == x.shape()))) {
      return error_status(ErrorCode::invalid_argument, "FusedBatchNormalization: the sum is {} {}, expected {} {} as the input",
                          to_string(context.input(kSum).dtype()), context.input(kSum).shape().to_string(), to_string(x.dtype()),
                          x.shape().to_string());
    }
    if (!factors_) return run_with(context, x, sizes, factors(context, x, sizes));
    return run_with(context, x, sizes, *factors_);
  }

 private:
  static constexpr int kSum = 5;

  /// Numbers that loops over whole blocks read.
  size_t room_of(size_t channels) const {
    constexpr size_t kBlock = kChannelBlock;
    return op_.blocked ? (channels + kBlock - 1) / kBlock * kBlock : channels;
  }

  Status run_with(RunContext& context, const TensorView& x, const Sizes& sizes, const ChannelFactors& factors) const {
    const MutableView y = context.output(0, x.shape());
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "BatchNormalization", [&]<typename T>() {
      const Extras<T> extras{compute_activation(op_.activation), context.has_input(kSum) ? context.input(kSum).data<T>() : nullptr,
                             op_.sum_first};
      if (extras.any() || op_.blocked) return fuse(x.data<T>(), y.data<T>(), sizes, factors, extras, context.parallel());
      const auto scale = std::is_same_v<T, double> ? scale_doubles : scale_floats;
      scale(x, y, sizes, factors, context.parallel());
    });
  }

  ChannelFactors factors(RunContext& context, const TensorView& x, const Sizes& sizes) const {
    std::span<const double> mean = as_doubles(context, context.input(3)), variance = as_doubles(context, context.input(4));
    const auto numbers = [&]() -> std::span<double> {
      return {context.scratch_array<double>(static_cast<int64_t>(mean.size())), mean.size()};
    };
    const auto floats = [&]() -> std::span<float> {
      const std::span<float> room{context.scratch_array<float>(sizes.channels), static_cast<size_t>(sizes.channels)};
      std::ranges::fill(room, 0.0f);
      return room;
    };
    if (op_.training) {
      const std::span<double> batch_mean = numbers(), batch_variance = numbers();
      dispatch_or_throw<Types>(x.dtype(), "BatchNormalization",
                               [&]<typename T>() { channel_statistics(x.data<T>(), sizes, batch_mean, batch_variance); });
      store_running(context, 1, mean, batch_mean);
      store_running(context, 2, variance, batch_variance);
      // Before opset 14, for a backward pass: the batch's own, the variance as ONNX Runtime gives it.
      store(context, 3, batch_mean, [](double value) { return value; });
      store(context, 4, batch_variance, [&](double value) { return 1 / std::sqrt(value + static_cast<double>(op_.epsilon)); });
      mean = batch_mean;
      variance = batch_variance;
    }
    const ChannelFactors made{numbers(), numbers(), floats(), floats()};
    std::ranges::copy(as_doubles(context, context.input(1)), made.scale.begin());
    std::ranges::copy(as_doubles(context, context.input(2)), made.shift.begin());
    made.fill(mean, variance, static_cast<double>(op_.epsilon));
    return made;
  }

  // Running statistics: the old ones weighted by the momentum, the batch's by the rest.
  void store_running(RunContext& context, int output, std::span<const double> old, std::span<const double> batch) const {
    if (!context.has_output(output)) return;
    const TensorView like = context.input(output + 2);
    const MutableView y = context.output(output, like.dtype(), like.shape());
    const double m = op_.momentum;
    dispatch_or_throw<Types>(y.dtype(), "BatchNormalization", [&]<typename T>() {
      for (size_t c = 0; c < old.size(); ++c) y.data<T>()[c] = narrowed<T>(old[c] * m + batch[c] * (1 - m));
    });
  }

  template <typename F>
  static void store(RunContext& context, int output, std::span<const double> values, F function) {
    if (!context.has_output(output)) return;
    const TensorView like = context.input(output);
    const MutableView y = context.output(output, like.dtype(), like.shape());
    dispatch_or_throw<Types>(y.dtype(), "BatchNormalization", [&]<typename T>() {
      for (size_t c = 0; c < values.size(); ++c) y.data<T>()[c] = narrowed<T>(function(values[c]));
    });
  }

  ops::BatchNormalization op_;
  std::optional<ChannelFactors> factors_;  ///< of constant parameters, in what follows
  std::vector<double> scale_, shift_;
  std::vector<float> float_scale_, float_shift_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BatchNormalizationKernel)
