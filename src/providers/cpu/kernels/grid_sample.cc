#include "ops/vision/grid_sample.h"

#include <cmath>
#include <complex>

#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

using ops::GridSample;

/// Elements along one axis that a position is made of; -1 is outside and counts as 0.
struct AxisTaps {
  int count = 0;
  int64_t at[4];
  double weight[4];
};

struct Tap {
  int64_t offset;
  double weight;
};

/// One axis of X.
template <typename G>
class Axis {
 public:
  Axis(const GridSample& op, int64_t size)
      : op_(op),
        size_(size),
        low_(op.align_corners ? G(0) : G(-0.5)),
        high_(static_cast<G>(size - 1) + (op.align_corners ? G(0) : G(0.5))) {}

  AxisTaps taps(G normalized) const {
    const G length = static_cast<G>(size_);
    if (std::isnan(normalized)) normalized = -1;
    G x = op_.align_corners ? (normalized + 1) / 2 * (length - 1) : ((normalized + 1) * length - 1) / 2;
    if (op_.mode == GridSample::Mode::nearest) x = std::nearbyint(x);
    if (!(x >= low_ && x <= high_)) x = placed(x);
    AxisTaps taps;
    const G floor = std::floor(x), t = x - floor;
    const int64_t first = static_cast<int64_t>(floor);
    if (op_.mode == GridSample::Mode::nearest) {
      add(taps, first, 1);
    } else if (op_.mode == GridSample::Mode::linear) {
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
    if (op_.padding == GridSample::Padding::reflection) return std::isfinite(x) ? reflected(x) : G(0);
    if (op_.padding == GridSample::Padding::border && op_.mode != GridSample::Mode::cubic)
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
      if (op_.padding == GridSample::Padding::zeros) at = -1;
      if (op_.padding == GridSample::Padding::border) at = std::clamp<int64_t>(at, 0, size_ - 1);
      if (op_.padding == GridSample::Padding::reflection)
        at = std::clamp<int64_t>(static_cast<int64_t>(reflected(static_cast<G>(at))), 0, size_ - 1);
    }
    taps.at[taps.count] = at;
    taps.weight[taps.count++] = static_cast<double>(weight);
  }

  const GridSample& op_;
  int64_t size_;
  G low_, high_;
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
    if (x.dtype() == DType::string) return run_strings(context, result);
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
    for_positions(context, x.shape(), y.shape(), [&](int64_t n, int64_t position, const std::vector<Tap>& taps) {
      const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank()), outputs = y.shape().product(2, y.rank());
      for (int64_t c = n * channels; c < (n + 1) * channels; ++c) {
        const T* from = x.data<T>() + c * inner;
        T sum{};
        for (const Tap& tap : taps) sum += from[tap.offset] * weight_of<T>(tap.weight);
        y.data<T>()[c * outputs + position] = sum;
      }
    });
    return {};
  }

  template <typename T>
  static auto weight_of(double weight) {
    if constexpr (std::is_same_v<T, std::complex<float>>)
      return static_cast<float>(weight);
    else if constexpr (std::is_same_v<T, std::complex<double>>)
      return weight;
    else
      return static_cast<T>(weight);
  }

  Status run_strings(RunContext& context, const Shape& shape) const {
    if (op_.mode != GridSample::Mode::nearest)
      return error_status(ErrorCode::invalid_argument, "GridSample: X has strings, which only mode 'nearest' takes");
    const TensorView x = context.input(0);
    const MutableView y = context.output(0, shape);
    for_positions(context, x.shape(), shape, [&](int64_t n, int64_t position, const std::vector<Tap>& taps) {
      const int64_t channels = shape[1], inner = x.shape().product(2, x.rank()), outputs = shape.product(2, shape.rank());
      for (int64_t c = n * channels; c < (n + 1) * channels; ++c) {
        y.data<std::string>()[c * outputs + position] = taps.empty() ? std::string() : x.data<std::string>()[c * inner + taps[0].offset];
      }
    });
    return {};
  }

  /// Calls use(n, position, taps) for every position of the output, with the elements of a channel of X that make it.
  template <typename F>
  void for_positions(RunContext& context, const Shape& x, const Shape& y, F use) const {
    const int64_t positions = y.product(2, y.rank());
    if (y.elements() == 0) return;
    if (context.input(1).dtype() == DType::float64) return for_positions_in<double>(context, x, positions, use);
    for_positions_in<float>(context, x, positions, use);
  }

  template <typename G, typename F>
  void for_positions_in(RunContext& context, const Shape& x, int64_t positions, F use) const {
    const G* grid = converted(context, context.input(1), dtype_of<G>).template data<G>();
    const int rank = x.rank() - 2;
    std::vector<Axis<G>> axes;
    double taps_each = 1;
    for (int i = 0; i < rank; ++i) {
      axes.emplace_back(op_, x[i + 2]);
      taps_each *= op_.mode == GridSample::Mode::cubic ? 4 : 2;
    }
    const double work = taps_each * (8 + 2 * static_cast<double>(x[1]));
    context.parallel().for_range(x[0] * positions, {4 * work, work}, [&](Range part) {
      std::vector<Tap> taps, outer;
      for (int64_t i = part.begin; i < part.end; ++i) {
        taps.assign(1, {0, 1});
        for (int axis = 0; axis < rank; ++axis) {
          const AxisTaps more = axes[static_cast<size_t>(axis)].taps(grid[i * rank + rank - 1 - axis]);
          std::swap(taps, outer);
          taps.clear();
          for (const Tap& tap : outer) {
            for (int k = 0; k < more.count; ++k) {
              if (more.at[k] >= 0) taps.push_back({tap.offset * x[axis + 2] + more.at[k], tap.weight * more.weight[k]});
            }
          }
        }
        use(i / positions, i % positions, taps);
      }
    });
  }

  ops::GridSample op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GridSampleKernel)
