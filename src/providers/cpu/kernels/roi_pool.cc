#include "ops/vision/roi_pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "base/cancellation.h"
#include "compute/move/transpose.h"
#include "compute/move/transpose_words.h"
#include "compute/reduce/weighted_rows.h"
#include "compute/scratch.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/elements.h"
#include "providers/cpu/thread_lists.h"

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
    if constexpr (std::is_same_v<T, float>) {
      const int64_t samples = op_.sampling_ratio > 0 ? op_.sampling_ratio * op_.sampling_ratio : 1;
      if (op_.aligned && !op_.takes_max && x[1] >= kVectorChannels && samples <= kVectorSamples &&
          8 * rois[0] * op_.height * op_.width * samples >= x[0] * x[2] * x[3]) {
        align_channels_last(context, data, x, regions, batches, rois[0], y.template data<float>());
        y.store(context.parallel());
        return {};
      }
    }
    if constexpr (std::is_same_v<T, float>) {
      if (!op_.aligned && x[1] >= kVectorChannels && 8 * rois[0] * op_.height * op_.width >= x[0] * x[2] * x[3]) {
        pool_channels_last(context, data, x, regions, rois[0], y.template data<float>());
        y.store(context.parallel());
        return {};
      }
    }
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
  struct Neighbour {
    int64_t row;
    T weight;
  };
  template <typename T>
  using Corner = std::conditional_t<std::is_same_v<T, float>, compute::WeightedRow, Neighbour<T>>;

  /// Appends the neighbours of a sample; one that is outside has no weights.
  template <typename T>
  static void sample(const Map<T>& map, T y, T x, BoundedList<Corner<T>>& corners) {
    if (!(y >= -1 && y <= static_cast<T>(map.height) && x >= -1 && x <= static_cast<T>(map.width))) {
      for (int i = 0; i < 4; ++i) corners.push_back({0, 0});
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

  static constexpr int64_t kVectorChannels = 8;   ///< from which on channels are taken side by side
  static constexpr int64_t kVectorSamples = 256;  ///< of a bin at most, for the same

  static const float* channels_last(RunContext& context, const float* x, const Shape& shape) {
    float* last = context.scratch_array<float>(shape.elements());
    const int64_t dims[] = {shape[0], shape[1], shape[2] * shape[3]}, permutation[] = {0, 2, 1};
    compute::transpose(x, dims, permutation, sizeof(float), last, context.parallel());
    return last;
  }

  /// With the channels of an element next to each other, so that a bin takes all of them at once.
  void align_channels_last(RunContext& context, const float* x, const Shape& shape, const float* regions, const int64_t* batches,
                           int64_t count, float* y) const {
    const int64_t channels = shape[1], bins = op_.height * op_.width, image = channels * shape[2] * shape[3];
    const float* last = channels_last(context, x, shape);
    const double work = 8.0 * static_cast<double>(channels * bins);
    context.parallel().for_range(count, {work, work}, [&](Range part) {
      float* sums =
          static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(bins * channels) * sizeof(float)));
      const std::span<size_t> ends = thread_list<size_t>(ThreadList::first, bins);
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t batch = batch_of(static_cast<double>(batches[i]), shape[0]);
        float* out = y + i * channels * bins;
        const std::optional<BoundedList<Corner<float>>> corners = find_corners(shape, regions + 4 * i, ends);
        if (!corners) {
          align(Map<float>{channels, shape[2], shape[3], x + batch * image}, regions + 4 * i, out);
          continue;
        }
        compute::sum_rows(last + batch * image, channels, channels, corners->data(), ends.data(), bins, sums, channels);
        compute::transpose_words(reinterpret_cast<const uint32_t*>(sums), channels, reinterpret_cast<uint32_t*>(out), bins, channels, bins);
      }
    });
  }

  /// The neighbours that each bin of a region is the sum of, one bin after the other; nothing where there are too many.
  std::optional<BoundedList<Corner<float>>> find_corners(const Shape& shape, const float* region, std::span<size_t> ends) const {
    const Grid<float> grid = grid_of(region);
    if (shape[2] == 0 || shape[3] == 0 || grid.rows > kVectorSamples || grid.columns > kVectorSamples ||
        grid.rows * grid.columns > kVectorSamples)
      return std::nullopt;
    BoundedList<Corner<float>> corners(
        thread_list<Corner<float>>(ThreadList::second, 4 * op_.height * op_.width * grid.rows * grid.columns));
    const Map<float> map{shape[1], shape[2], shape[3], nullptr};
    const float share = 1 / static_cast<float>(std::max<int64_t>(1, grid.rows * grid.columns));
    for (int64_t bin = 0; bin < op_.height * op_.width; ++bin) {
      for (int64_t i = 0; i < grid.rows * grid.columns; ++i)
        sample(map, grid.row(bin / op_.width, i / grid.columns), grid.column(bin % op_.width, i % grid.columns), corners);
      ends[static_cast<size_t>(bin)] = corners.size();
    }
    for (Corner<float>& corner : corners) corner.weight *= share;
    return corners;
  }

  /// Where the samples of a region lie: so many rows and columns of them in each bin.
  template <typename T>
  struct Grid {
    T top, left, bin_height, bin_width;
    int64_t rows, columns;

    T row(int64_t bin, int64_t i) const {
      return top + static_cast<T>(bin) * bin_height + (static_cast<T>(i) + T(0.5)) * (bin_height / static_cast<T>(rows));
    }
    T column(int64_t bin, int64_t i) const {
      return left + static_cast<T>(bin) * bin_width + (static_cast<T>(i) + T(0.5)) * bin_width / static_cast<T>(columns);
    }
  };

  template <typename T>
  Grid<T> grid_of(const T* region) const {
    const T offset = op_.half_pixel ? T(0.5) : T(0), scale = static_cast<T>(op_.spatial_scale);
    const T left = region[0] * scale - offset, top = region[1] * scale - offset;
    T width = region[2] * scale - offset - left, height = region[3] * scale - offset - top;
    if (!op_.half_pixel) {
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    const T bin_height = height / static_cast<T>(op_.height), bin_width = width / static_cast<T>(op_.width);
    return {top, left, bin_height, bin_width, samples(bin_height), samples(bin_width)};
  }

  template <typename T>
  void align(const Map<T>& map, const T* region, T* y) const {
    const Grid<T> grid = grid_of(region);
    const int64_t rows = grid.rows, columns = grid.columns;
    check_samples(columns);
    if (map.height == 0 || map.width == 0) {
      std::fill_n(y, map.channels * op_.height * op_.width, T(0));
      return;
    }
    const T count = static_cast<T>(std::max<int64_t>(1, rows * columns));
    for (int64_t bin_row = 0; bin_row < op_.height; ++bin_row) {
      T* out = y + bin_row * op_.width;
      const auto for_bins = [&](auto change) {
        for (int64_t i = 0; i < map.channels * op_.width; ++i) change(out[i / op_.width * op_.height * op_.width + i % op_.width]);
      };
      for_bins([&](T& bin) { bin = op_.takes_max && rows * columns > 0 ? -std::numeric_limits<T>::infinity() : T(0); });
      BoundedList<Corner<T>> corners(thread_list<Corner<T>>(ThreadList::second, 4 * op_.width * columns));
      for (int64_t row = 0; row < rows; ++row) {
        throw_if_cancelled();
        corners.clear();
        for (int64_t i = 0; i < op_.width * columns; ++i)
          sample(map, grid.row(bin_row, row), grid.column(i / columns, i % columns), corners);
        add_samples<T>(map, corners, columns * 4, out);
      }
      if (!op_.takes_max) for_bins([&](T& bin) { bin /= count; });
    }
  }

  /// Samples of a row are kept, one for each column of each bin.
  void check_samples(int64_t columns) const {
    constexpr int64_t kMost = 1 << 20;
    if (columns * op_.width > kMost)
      fail(ErrorCode::invalid_argument, "RoiAlign: a region has {} samples a row, expected at most {}", columns * op_.width, kMost);
  }

  /// Takes a row of samples, `each` neighbours a bin, into a row of bins of every channel. The largest is that of the weighted neighbours
  /// one by one, as the standard's reference has it.
  template <typename T>
  void add_samples(const Map<T>& map, std::span<const Corner<T>> corners, int64_t each, T* bins) const {
    for (int64_t c = 0; c < map.channels; ++c) {
      const T* channel = map.data + c * map.height * map.width;
      for (int64_t bin = 0; bin < op_.width; ++bin) {
        T result = bins[c * op_.height * op_.width + bin];
        for (const Corner<T>& corner : std::span(corners.data() + bin * each, static_cast<size_t>(each))) {
          const T value = corner.weight * channel[corner.row];
          result = op_.takes_max ? std::max(result, value) : result + value;
        }
        bins[c * op_.height * op_.width + bin] = result;
      }
    }
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

  /// The rows of each row of bins of a region, then the columns of each column of bins.
  template <typename T>
  std::span<const Range> find_areas(const T* region, int64_t height, int64_t width) const {
    const T scale = static_cast<T>(op_.spatial_scale);
    BoundedList<Range> areas(thread_list<Range>(ThreadList::first, op_.height + op_.width));
    for (int64_t i = 0; i < op_.height; ++i) areas.push_back(bin_range(region[1] * scale, region[3] * scale, op_.height, i, height));
    for (int64_t i = 0; i < op_.width; ++i) areas.push_back(bin_range(region[0] * scale, region[2] * scale, op_.width, i, width));
    return areas;
  }
  const Range& rows_of(std::span<const Range> areas, int64_t bin) const { return areas[static_cast<size_t>(bin / op_.width)]; }
  const Range& columns_of(std::span<const Range> areas, int64_t bin) const {
    return areas[static_cast<size_t>(op_.height + bin % op_.width)];
  }

  /// pool() with the channels of an element next to each other.
  void pool_channels_last(RunContext& context, const float* x, const Shape& shape, const float* regions, int64_t count, float* y) const {
    const int64_t channels = shape[1], bins = op_.height * op_.width, image = channels * shape[2] * shape[3];
    const float* last = channels_last(context, x, shape);
    const double work = 16.0 * static_cast<double>(channels * bins);
    context.parallel().for_range(count, {work, work}, [&](Range part) {
      float* most =
          static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(bins * channels) * sizeof(float)));
      for (int64_t i = part.begin; i < part.end; ++i) {
        const float* region = regions + 5 * i;
        const std::span<const Range> areas = find_areas(region + 1, shape[2], shape[3]);
        const float* from = last + batch_of(static_cast<double>(region[0]), shape[0]) * image;
        for (int64_t bin = 0; bin < bins; ++bin) {
          const Range &rows = rows_of(areas, bin), &columns = columns_of(areas, bin);
          float* to = most + bin * channels;
          if (rows.size() <= 0 || columns.size() <= 0) {
            std::fill_n(to, channels, 0.0F);
          } else {
            compute::largest_of_area(from + (rows.begin * shape[3] + columns.begin) * channels, shape[3] * channels, rows.size(),
                                     columns.size(), channels, to);
          }
        }
        compute::transpose_words(reinterpret_cast<const uint32_t*>(most), channels, reinterpret_cast<uint32_t*>(y + i * channels * bins),
                                 bins, channels, bins);
      }
    });
  }

  template <typename T>
  void pool(const Map<T>& map, const T* region, T* y) const {
    const std::span<const Range> areas = find_areas(region, map.height, map.width);
    for (int64_t bin = 0; bin < op_.height * op_.width; ++bin) {
      const Range &rows = rows_of(areas, bin), &columns = columns_of(areas, bin);
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
