#include "ops/vision/crop_and_resize.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"
#include "providers/cpu/thread_lists.h"

namespace rh::cpu {

class CropAndResizeKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, Float16>;

  explicit CropAndResizeKernel(const KernelInfo& info) : op_(info.attributes<ops::CropAndResize>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), rois = context.input(1);
    const int64_t* images = indices_of(context, 2);
    const auto size = context.input_ints(3);
    if (x.rank() != 4 || rois.rank() != 2 || rois.shape()[1] != 4 || context.input(2).elements() != rois.shape()[0] || size.size() != 2) {
      return error_status(ErrorCode::invalid_argument,
                          "CropAndResize: the inputs have shapes {}, {}, {} and {}, expected [N, C, H, W], [rois, 4], [rois] and [2]",
                          x.shape().to_string(), rois.shape().to_string(), context.input(2).shape().to_string(),
                          context.input(3).shape().to_string());
    }
    for (int64_t i = 0; i < rois.shape()[0]; ++i) {
      if (images[i] < 0) return error_status(ErrorCode::invalid_argument, "CropAndResize: batch index {} is {}", i, images[i]);
      checked_index(images[i], x.shape()[0], "CropAndResize: a batch index");
    }
    if (size[0] < 1 || size[1] < 1 || x.shape()[2] < 1 || x.shape()[3] < 1) {
      return error_status(ErrorCode::invalid_argument, "CropAndResize: crops of {} x {} of images {}, expected sizes from 1", size[0],
                          size[1], x.shape().to_string());
    }
    const Shape shape{rois.shape()[0], x.shape()[1], size[0], size[1]};
    check_elements(shape, "CropAndResize: the crops");
    return dispatch<Types>(x.dtype(), "CropAndResize", [&]<typename T>() {
      T* y = context.output(0, shape).data<T>();
      const auto planes = shape[0] * shape[1];
      const Cost cost{.bytes = 0, .operations = 20.0 * static_cast<double>(size[0]) * static_cast<double>(size[1])};
      context.parallel().for_range(planes, cost, [&](Range range) {
        const std::span<Line> rows = thread_list<Line>(ThreadList::first, size[0]),
                              columns = thread_list<Line>(ThreadList::second, size[1]);
        for (int64_t plane = range.begin, last = -1; plane < range.end; ++plane) {
          const int64_t roi = plane / shape[1], channel = plane % shape[1];
          if (roi != last) {
            const T* box = rois.data<T>() + roi * 4;
            lines(static_cast<double>(box[0]), static_cast<double>(box[2]), x.shape()[2], rows);
            lines(static_cast<double>(box[1]), static_cast<double>(box[3]), x.shape()[3], columns);
            last = roi;
          }
          const Plane<T> from{x.data<T>() + (images[roi] * shape[1] + channel) * x.shape()[2] * x.shape()[3], x.shape()[2], x.shape()[3]};
          crop(from, rows, columns, y + plane * size[0] * size[1]);
        }
      });
    });
  }

 private:
  template <typename T>
  struct Plane {
    const T* data;
    int64_t height, width;

    double at(int64_t y, int64_t x) const { return static_cast<double>(data[y * width + x]); }
  };

  /// Where line `i` of `count` of a crop from `first` to `last` lies.
  static double place(int64_t i, int64_t count, double first, double last, int64_t size) {
    const double scale = static_cast<double>(size - 1);
    if (count == 1) return 0.5 * (first + last) * scale;
    return first * scale + static_cast<double>(i) * (last - first) * scale / static_cast<double>(count - 1);
  }

  /// What a line of a crop is made of: two lines of the image, or twice the nearest one.
  struct Line {
    int64_t low = -1, high = -1;  ///< -1: outside
    double rest = 0;              ///< the share of `high`
  };

  void lines(double first, double last, int64_t size, std::span<Line> to) const {
    const int64_t count = static_cast<int64_t>(to.size());
    std::ranges::fill(to, Line{});
    for (int64_t i = 0; i < count; ++i) {
      const double at = place(i, count, first, last, size);
      if (!(at >= 0 && at <= static_cast<double>(size - 1))) continue;
      const double low = op_.nearest ? std::round(at) : std::floor(at), high = op_.nearest ? low : std::ceil(at);
      to[static_cast<size_t>(i)] = {static_cast<int64_t>(low), static_cast<int64_t>(high), op_.nearest ? 0 : at - low};
    }
  }

  template <typename T>
  void crop(const Plane<T>& from, std::span<const Line> rows, std::span<const Line> columns, T* out) const {
    const T outside = narrowed<T>(static_cast<double>(op_.outside));
    for (const Line& row : rows) {
      for (const Line& column : columns) {
        *out++ =
            row.low >= 0 && column.low >= 0 ? narrowed<T>(op_.nearest ? from.at(row.low, column.low) : sample(from, row, column)) : outside;
      }
    }
  }

  template <typename T>
  static double sample(const Plane<T>& from, const Line& row, const Line& column) {
    const double above = from.at(row.low, column.low) + (from.at(row.low, column.high) - from.at(row.low, column.low)) * column.rest;
    const double below = from.at(row.high, column.low) + (from.at(row.high, column.high) - from.at(row.high, column.low)) * column.rest;
    return above + (below - above) * row.rest;
  }

  ops::CropAndResize op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CropAndResizeKernel)
