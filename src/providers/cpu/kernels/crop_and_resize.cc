#include "ops/vision/crop_and_resize.h"

#include <cmath>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

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
        for (int64_t plane = range.begin; plane < range.end; ++plane) {
          const int64_t roi = plane / shape[1], channel = plane % shape[1];
          const Plane<T> from{x.data<T>() + (images[roi] * shape[1] + channel) * x.shape()[2] * x.shape()[3], x.shape()[2], x.shape()[3]};
          crop(from, rois.data<T>() + roi * 4, size[0], size[1], y + plane * size[0] * size[1]);
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

  template <typename T>
  void crop(const Plane<T>& from, const T* box, int64_t height, int64_t width, T* out) const {
    for (int64_t i = 0; i < height; ++i) {
      const double y = place(i, height, static_cast<double>(box[0]), static_cast<double>(box[2]), from.height);
      for (int64_t j = 0; j < width; ++j, ++out) {
        const double x = place(j, width, static_cast<double>(box[1]), static_cast<double>(box[3]), from.width);
        const bool inside = y >= 0 && y <= static_cast<double>(from.height - 1) && x >= 0 && x <= static_cast<double>(from.width - 1);
        *out = narrowed<T>(inside ? sample(from, y, x) : static_cast<double>(op_.outside));
      }
    }
  }

  template <typename T>
  double sample(const Plane<T>& from, double y, double x) const {
    if (op_.nearest) return from.at(static_cast<int64_t>(std::round(y)), static_cast<int64_t>(std::round(x)));
    const auto top = static_cast<int64_t>(std::floor(y)), bottom = static_cast<int64_t>(std::ceil(y));
    const auto left = static_cast<int64_t>(std::floor(x)), right = static_cast<int64_t>(std::ceil(x));
    const double dy = y - std::floor(y), dx = x - std::floor(x);
    const double above = from.at(top, left) + (from.at(top, right) - from.at(top, left)) * dx;
    const double below = from.at(bottom, left) + (from.at(bottom, right) - from.at(bottom, left)) * dx;
    return above + (below - above) * dy;
  }

  ops::CropAndResize op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CropAndResizeKernel)
