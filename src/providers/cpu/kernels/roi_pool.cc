#include "ops/vision/roi_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

/// Half types go through float.
class RoiPoolKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit RoiPoolKernel(const KernelInfo& info) : op_(info.attributes<ops::RoiPool>()) {}

  Status run(RunContext& context) const override {
    return compute_type(context.input(0).dtype()) == DType::float64 ? run_as<double>(context) : run_as<float>(context);
  }

 private:
  template <typename T>
  struct Map {
    int64_t channels, height, width;
    const T* data;  ///< of one image
  };

  const char* name() const { return op_.aligned ? "RoiAlign" : "MaxRoiPool"; }

  template <typename T>
  Status run_as(RunContext& context) const {
    const Shape &x = context.input(0).shape(), &rois = context.input(1).shape();
    const int64_t columns = op_.aligned ? 4 : 5;
    const bool fits =
        x.rank() == 4 && rois.rank() == 2 && rois[1] == columns && (!op_.aligned || context.input(2).shape() == Shape{rois[0]});
    if (!fits) {
      return error_status(ErrorCode::invalid_argument, "{}: X has shape {} and rois {}{}, expected [N, C, H, W] and [regions, {}]", name(),
                          x.to_string(), rois.to_string(), op_.aligned ? " with batch_indices " + context.input(2).shape().to_string() : "",
                          columns);
    }
    const Shape shape{rois[0], x[1], op_.height, op_.width};
    check_elements(shape, "regions");
    const T* data = converted(context, context.input(0), dtype_of<T>).template data<T>();
    const T* regions = converted(context, context.input(1), dtype_of<T>).template data<T>();
    const int64_t* batches = op_.aligned ? indices_of(context, 2) : nullptr;
    const ConvertedOutput y(context, 0, shape, dtype_of<T>);
    const int64_t output = shape.product(1, 4), image = x.product(1, 4);
    const double work = 16.0 * static_cast<double>(output);
    context.parallel().for_range(rois[0], {work, work}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const T* region = regions + i * columns;
        const int64_t batch = batch_of(batches ? static_cast<double>(batches[i]) : static_cast<double>(region[0]), x[0]);
        const Map<T> map{x[1], x[2], x[3], data + batch * image};
        if (op_.aligned) {
          align(map, region, y.template data<T>() + i * output);
        } else {
          pool(map, region + 1, y.template data<T>() + i * output);
        }
      }
    });
    y.store(context.parallel());
    return {};
  }

  int64_t batch_of(double index, int64_t batches) const {
    if (!(index >= 0 && index < static_cast<double>(batches)))
      fail(ErrorCode::invalid_argument, "{}: a region is of batch {}, expected one in [0, {})", name(), index, batches);
    return static_cast<int64_t>(index);
  }

  /// One of the four neighbours of a sample, and how much of it counts.
  template <typename T>
  struct Corner {
    int64_t offset;
    T weight;
  };

  /// Appends the neighbours of a sample; one that is outside has no weights.
  template <typename T>
  static void sample(const Map<T>& map, T y, T x, std::vector<Corner<T>>& corners) {
    if (!(y >= -1 && y <= static_cast<T>(map.height) && x >= -1 && x <= static_cast<T>(map.width)) || map.height == 0 || map.width == 0) {
      corners.insert(corners.end(), 4, {0, 0});
      return;
    }
    const auto split = [](T at, int64_t size, int64_t& low, int64_t& high, T& rest) {
      at = std::max(at, T(0));
      low = std::min(static_cast<int64_t>(at), size - 1);
      high = std::min(low + 1, size - 1);
      rest = low == size - 1 ? T(0) : at - static_cast<T>(low);
    };
    int64_t top, bottom, left, right;
    T down, across;
    split(y, map.height, top, bottom, down);
    split(x, map.width, left, right, across);
    corners.push_back({top * map.width + left, (1 - down) * (1 - across)});
    corners.push_back({top * map.width + right, (1 - down) * across});
    corners.push_back({bottom * map.width + left, down * (1 - across)});
    corners.push_back({bottom * map.width + right, down * across});
  }

  /// Samples along a bin's side.
  template <typename T>
  int64_t samples(T bin) const {
    constexpr int64_t kMost = 1 << 14;
    if (op_.sampling_ratio > 0) return op_.sampling_ratio;
    if (!(bin <= static_cast<T>(kMost)))
      fail(ErrorCode::invalid_argument, "RoiAlign: a region has bins of {} elements, expected at most {}", bin, kMost);
    return std::max<int64_t>(0, static_cast<int64_t>(std::ceil(std::max(bin, T(-1)))));
  }

  template <typename T>
  void align(const Map<T>& map, const T* region, T* y) const {
    const T offset = op_.half_pixel ? T(0.5) : T(0), scale = static_cast<T>(op_.spatial_scale);
    const T left = region[0] * scale - offset, top = region[1] * scale - offset;
    T width = region[2] * scale - offset - left, height = region[3] * scale - offset - top;
    if (!op_.half_pixel) {
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    const T bin_height = height / static_cast<T>(op_.height), bin_width = width / static_cast<T>(op_.width);
    const int64_t rows = samples(bin_height), columns = samples(bin_width);
    // Of a row of bins at a time, so that channels are walked one after the other and not too much is kept.
    std::vector<Corner<T>> corners;
    const int64_t each = rows * columns * 4;
    for (int64_t bin_row = 0; bin_row < op_.height; ++bin_row) {
      corners.clear();
      for (int64_t i = 0; i < op_.width * rows * columns; ++i) {
        const int64_t bin = i / (rows * columns), at = i % (rows * columns);
        const T row = static_cast<T>(at / columns) + T(0.5), column = static_cast<T>(at % columns) + T(0.5);
        sample(map, top + static_cast<T>(bin_row) * bin_height + row * bin_height / static_cast<T>(rows),
               left + static_cast<T>(bin) * bin_width + column * bin_width / static_cast<T>(columns), corners);
      }
      for (int64_t c = 0; c < map.channels; ++c) {
        const T* channel = map.data + c * map.height * map.width;
        for (int64_t bin = 0; bin < op_.width; ++bin) {
          const std::span<const Corner<T>> own(corners.data() + bin * each, static_cast<size_t>(each));
          y[(c * op_.height + bin_row) * op_.width + bin] = op_.takes_max ? largest(channel, own) : mean(channel, own);
        }
      }
    }
  }

  template <typename T>
  static T mean(const T* channel, std::span<const Corner<T>> corners) {
    T sum = 0;
    for (const Corner<T>& corner : corners) sum += corner.weight * channel[corner.offset];
    return corners.empty() ? T(0) : sum / static_cast<T>(corners.size() / 4);
  }

  /// Of the weighted neighbours one by one, as the standard's reference has it.
  template <typename T>
  static T largest(const T* channel, std::span<const Corner<T>> corners) {
    T most = corners.empty() ? T(0) : -std::numeric_limits<T>::infinity();
    for (const Corner<T>& corner : corners) most = std::max(most, corner.weight * channel[corner.offset]);
    return most;
  }

  /// The first element, and one past the last, of bin `index` of `bins` between the rounded ends of a region.
  template <typename T>
  static Range bin_range(T from, T to, int64_t bins, int64_t index, int64_t size) {
    const T limit = static_cast<T>(size) + 1;
    const T begin = std::round(from), length = std::max(std::round(to) - begin + 1, T(1)), bin = length / static_cast<T>(bins);
    const auto bounded = [&](T value) { return static_cast<int64_t>(value >= 0 ? std::min(value, limit) : T(0)); };
    return {std::min(bounded(std::floor(static_cast<T>(index) * bin) + begin), size),
            std::min(bounded(std::ceil(static_cast<T>(index + 1) * bin) + begin), size)};
  }

  template <typename T>
  void pool(const Map<T>& map, const T* region, T* y) const {
    const T scale = static_cast<T>(op_.spatial_scale);
    for (int64_t bin = 0; bin < op_.height * op_.width; ++bin) {
      const Range rows = bin_range(region[1] * scale, region[3] * scale, op_.height, bin / op_.width, map.height);
      const Range columns = bin_range(region[0] * scale, region[2] * scale, op_.width, bin % op_.width, map.width);
      for (int64_t c = 0; c < map.channels; ++c) {
        const bool empty = rows.size() <= 0 || columns.size() <= 0;
        T most = empty ? T(0) : std::numeric_limits<T>::lowest();
        for (int64_t row = rows.begin; row < rows.end; ++row) {
          for (int64_t column = columns.begin; column < columns.end; ++column) {
            most = std::max(most, map.data[(c * map.height + row) * map.width + column]);
          }
        }
        y[c * op_.height * op_.width + bin] = most;
      }
    }
  }

  ops::RoiPool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RoiPoolKernel)
