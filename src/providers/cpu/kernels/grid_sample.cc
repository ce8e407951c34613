#include "ops/vision/grid_sample.h"

#include <cmath>
#include <complex>

#include "compute/move/transpose.h"
#include "compute/move/transpose_words.h"
#include "compute/reduce/weighted_rows.h"
#include "compute/scratch.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

namespace {

using ops::GridSample;

/// Elements along one axis that a position is made of; -1 is outside and counts as 0.
struct AxisTaps {
  int count = 0;
  int64_t at[4];
  double weight[4];
};

/// An element of a channel, and how much of it counts.
template <typename W>
struct Tap {
  int64_t row;
  W weight;
};
template <typename W>
using TapOf = std::conditional_t<std::is_same_v<W, float>, compute::WeightedRow, Tap<W>>;

/// Positions of the output one after the other: those of position i are taps[ends[i - 1]] to taps[ends[i]].
template <typename W>
struct Block {
  int64_t image = 0, first = 0;
  BoundedList<size_t> ends;
  BoundedList<TapOf<W>> taps;
};

constexpr int64_t kPositions = 64;  // of a block

/// The type of weights for elements of T.
template <typename T>
struct WeightOf {
  using type = T;
};
template <typename T>
struct WeightOf<std::complex<T>> {
  using type = T;
};
template <>
struct WeightOf<std::string> {
  using type = float;
};

/// One axis of X.
template <typename G>
class Axis {
 public:
  Axis() = default;
  Axis(const GridSample& op, int64_t size)
      : op_(&op),
        size_(size),
        low_(op.align_corners ? G(0) : G(-0.5)),
        high_(static_cast<G>(size - 1) + (op.align_corners ? G(0) : G(0.5))) {}

  AxisTaps taps(G normalized) const {
    const G length = static_cast<G>(size_);
    if (std::isnan(normalized)) normalized = -1;
    G x = op_->align_corners ? (normalized + 1) / 2 * (length - 1) : ((normalized + 1) * length - 1) / 2;
    if (op_->mode == GridSample::Mode::nearest) x = std::nearbyint(x);
    if (!(x >= low_ && x <= high_)) x = placed(x);
    AxisTaps taps;
    const G floor = std::floor(x), t = x - floor;
    const int64_t first = static_cast<int64_t>(floor);
    if (op_->mode == GridSample::Mode::nearest) {
      add(taps, first, 1);
    } else if (op_->mode == GridSample::Mode::linear) {
      add(taps, first, 1 - t);
      add(taps, first + 1, t);
    } else {
      const G weights[4] = {outer_weight(t + 1), inner_weight(t), inner_weight(1 - t), outer_weight(2 - t)};
      for (int i = 0; i < 4; ++i) add(taps, first - 1 + i, weights[i]);
    }
    return taps;
  }

 private:
  static constexpr G kCubic = G(-0.75);

  // Convolution by Keys: the weights of elements up to one and up to two away.
  static G inner_weight(G t) { return ((kCubic + 2) * t - (kCubic + 3)) * t * t + 1; }
  static G outer_weight(G t) { return ((kCubic * t - 5 * kCubic) * t + 8 * kCubic) * t - 4 * kCubic; }

  /// A position beyond the borders as one near them.
  G placed(G x) const {
    if (op_->padding == GridSample::Padding::reflection) return std::isfinite(x) ? reflected(x) : G(0);
    if (op_->padding == GridSample::Padding::border && op_->mode != GridSample::Mode::cubic)
      return x >= 0 ? std::min(x, static_cast<G>(size_ - 1)) : G(0);
    return x >= -4 ? std::min(x, static_cast<G>(size_ + 4))
                   : G(-4);  // no element is as near; cubic weights take the border for each of those outside
  }

  G reflected(G x) const {
    const G range = high_ - low_;
    if (!(range > 0)) return 0;
    const G away = x < low_ ? low_ - x : x > high_ ? x - high_ : G(-1);
    if (away < 0) return x;
    const G rest = std::fmod(away, range);
    const bool is_odd = std::fmod(std::trunc(away / range), G(2)) != 0;
    return (x < low_) != is_odd ? low_ + rest : high_ - rest;
  }

  void add(AxisTaps& taps, int64_t at, G weight) const {
    if (at < 0 || at >= size_) {
      if (op_->padding == GridSample::Padding::zeros) at = -1;
      if (op_->padding == GridSample::Padding::border) at = std::clamp<int64_t>(at, 0, size_ - 1);
      if (op_->padding == GridSample::Padding::reflection)
        at = std::clamp<int64_t>(static_cast<int64_t>(reflected(static_cast<G>(at))), 0, size_ - 1);
    }
    taps.at[taps.count] = at;
    taps.weight[taps.count++] = static_cast<double>(weight);
  }

  const GridSample* op_ = nullptr;
  int64_t size_ = 0;
  G low_ = 0, high_ = 0;
};

}  // namespace

/// Half types go through float, integers and booleans through double; strings are only taken as they are.
class GridSampleKernel final : public Kernel {
 public:
  using Types = Concat<Concat<NumericTypes, rh::Types<bool>>, rh::Types<std::string, std::complex<float>, std::complex<double>>>;

  explicit GridSampleKernel(const KernelInfo& info) : op_(info.attributes<ops::GridSample>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Shape &shape = x.shape(), &grid = context.input(1).shape();
    const int rank = shape.rank();
    if (rank < 3 || grid.rank() != rank || grid[0] != shape[0] || grid[rank - 1] != rank - 2) {
      return error_status(ErrorCode::invalid_argument,
                          "GridSample: X has shape {} and the grid {}, expected [N, C, spatial...] and [N, output..., {}]",
                          shape.to_string(), grid.to_string(), std::max(1, rank - 2));
    }
    Shape result{shape[0], shape[1]};
    for (int i = 1; i < rank - 1; ++i) result.push_back(grid[i]);
    check_elements(result, "GridSample: output");
    if (shape.product(2, rank) == 0 && result.elements() > 0)
      return error_status(ErrorCode::invalid_argument, "GridSample: X has shape {}, of which nothing can be taken", shape.to_string());
    if (x.dtype() == DType::string && op_.mode != GridSample::Mode::nearest)
      return error_status(ErrorCode::invalid_argument, "GridSample: X has strings, which only mode 'nearest' takes");
    if (x.dtype() == DType::string) return run_as<std::string>(context, x, context.output(0, result));
    if (x.dtype() == DType::complex64) return run_as<std::complex<float>>(context, x, context.output(0, result));
    if (x.dtype() == DType::complex128) return run_as<std::complex<double>>(context, x, context.output(0, result));
    const DType type = is_floating(x.dtype()) ? compute_type(x.dtype()) : DType::float64;
    const ConvertedOutput y(context, 0, result, type);
    const TensorView wide = converted(context, x, type);
    RH_RETURN_IF_ERROR(type == DType::float64 ? run_as<double>(context, wide, y.view()) : run_as<float>(context, wide, y.view()));
    y.store(context.parallel());
    return {};
  }

 private:
  template <typename T>
  Status run_as(RunContext& context, const TensorView& x, const MutableView& y) const {
    using W = typename WeightOf<T>::type;
    const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank()), outputs = y.shape().product(2, y.rank());
    if constexpr (std::is_same_v<T, float>) {
      if (channels >= kVectorChannels && 2 * outputs >= inner) return run_channels_last(context, x, y);
    }
    for_blocks<W>(context, x.shape(), y.shape(), [&](const Block<W>& block) {
      for (int64_t c = block.image * channels; c < (block.image + 1) * channels; ++c) {
        const T* from = x.data<T>() + c * inner;
        T* to = y.data<T>() + c * outputs + block.first;
        for (size_t i = 0, tap = 0; i < block.ends.size(); ++i) {
          T sum{};
          for (; tap < block.ends[i]; ++tap) {
            if constexpr (std::is_same_v<T, std::string>)
              sum = from[block.taps[tap].row];
            else
              sum += from[block.taps[tap].row] * block.taps[tap].weight;
          }
          to[i] = std::move(sum);
        }
      }
    });
    return {};
  }

  static constexpr int64_t kVectorChannels = 8;  ///< from which on channels are taken side by side

  /// With the channels of an element next to each other, so that a position takes all of them at once.
  Status run_channels_last(RunContext& context, const TensorView& x, const MutableView& y) const {
    const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank()), outputs = y.shape().product(2, y.rank());
    float* last = context.scratch_array<float>(x.elements());
    const int64_t dims[] = {x.shape()[0], channels, inner}, permutation[] = {0, 2, 1};
    compute::transpose(x.raw(), dims, permutation, sizeof(float), last, context.parallel());
    for_blocks<float>(context, x.shape(), y.shape(), [&](const Block<float>& block) {
      const int64_t count = static_cast<int64_t>(block.ends.size());
      float* sums = static_cast<float*>(
          compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(kPositions * channels) * sizeof(float)));
      compute::sum_rows(last + block.image * inner * channels, channels, channels, block.taps.data(), block.ends.data(), count, sums,
                        channels);
      float* to = y.data<float>() + block.image * channels * outputs + block.first;
      compute::transpose_words(reinterpret_cast<const uint32_t*>(sums), channels, reinterpret_cast<uint32_t*>(to), outputs, channels,
                               count);
    });
    return {};
  }

  /// Calls use(block) for blocks that cover all positions of the output.
  template <typename W, typename F>
  void for_blocks(RunContext& context, const Shape& x, const Shape& y, F use) const {
    if (y.elements() == 0) return;
    const int64_t positions = y.product(2, y.rank());
    if (context.input(1).dtype() == DType::float64) return for_blocks_in<double, W>(context, x, positions, use);
    for_blocks_in<float, W>(context, x, positions, use);
  }

  template <typename G, typename W, typename F>
  void for_blocks_in(RunContext& context, const Shape& x, int64_t positions, F use) const {
    const G* grid = converted(context, context.input(1), dtype_of<G>).template data<G>();
    const int rank = x.rank() - 2;
    InlineVector<Axis<G>, 8> axes;
    int64_t taps_each = 1;
    for (int i = 0; i < rank; ++i) {
      axes.push_back(Axis<G>(op_, x[i + 2]));
      taps_each = checked_product(taps_each, op_.mode == GridSample::Mode::cubic ? 4 : 2, "GridSample: neighbours");
    }
    // A position has its neighbours, and while they are found those along the axes before.
    const int64_t room = checked_product(taps_each, kPositions + 1, "GridSample: neighbours");
    const int64_t blocks = (positions + kPositions - 1) / kPositions;
    const double work = kPositions * static_cast<double>(taps_each) * (8 + 2 * static_cast<double>(x[1]));
    context.parallel().for_range(x[0] * blocks, {4 * work, work}, [&](Range part) {
      Block<W> block{.ends = BoundedList(thread_list<size_t>(ThreadList::first, kPositions)),
                     .taps = BoundedList(thread_list<TapOf<W>>(ThreadList::second, room))};
      for (int64_t i = part.begin; i < part.end; ++i) {
        block.image = i / blocks;
        block.first = i % blocks * kPositions;
        block.ends.clear();
        block.taps.clear();
        for (int64_t position = block.first; position < std::min(block.first + kPositions, positions); ++position) {
          add_position<G>(x, axes, grid + (block.image * positions + position) * rank, block);
        }
        use(block);
      }
    });
  }

  template <typename G, typename W>
  static void add_position(const Shape& x, std::span<const Axis<G>> axes, const G* at, Block<W>& block) {
    if (axes.size() == 2) {
      const AxisTaps down = axes[0].taps(at[1]), across = axes[1].taps(at[0]);
      for (int i = 0; i < down.count; ++i) {
        for (int k = 0; k < across.count && down.at[i] >= 0; ++k) {
          if (across.at[k] < 0) continue;
          block.taps.push_back({down.at[i] * x[3] + across.at[k], static_cast<W>(down.weight[i]) * static_cast<W>(across.weight[k])});
        }
      }
      block.ends.push_back(block.taps.size());
      return;
    }
    const size_t begin = block.taps.size();
    block.taps.push_back({0, 1});
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      const AxisTaps more = axes[axis].taps(at[axes.size() - 1 - axis]);
      // Each tap so far becomes one for each element along this axis; they are made behind the old ones, which are then dropped.
      const size_t end = block.taps.size();
      for (size_t i = begin; i < end; ++i) {
        const TapOf<W> tap = block.taps[i];
        for (int k = 0; k < more.count; ++k) {
          if (more.at[k] >= 0) block.taps.push_back({tap.row * x[axis + 2] + more.at[k], tap.weight * static_cast<W>(more.weight[k])});
        }
      }
      block.taps.erase(begin, end);
    }
    block.ends.push_back(block.taps.size());
  }

  ops::GridSample op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GridSampleKernel)
