#include "ops/tensor/depth_to_space.h"

#include "compute/move/interleave.h"
#include "compute/move/strided_copy.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

class DepthToSpaceKernel final : public Kernel {
 public:
  using Types = AnyType;

  explicit DepthToSpaceKernel(const KernelInfo& info) : op_(info.attributes<ops::DepthToSpace>()) {}

  Status run(RunContext& context) const override {
    const ElementInput x(context, 0);
    const Shape& d = x.shape();
    const int64_t b = op_.block;
    if (d.rank() != 4 || (op_.inverse ? d[2] % b != 0 || d[3] % b != 0 : d[1] % (b * b) != 0)) {
      return error_status(ErrorCode::invalid_argument, "{}: the input has shape {}, expected rank 4 and {} divisible by {}",
                          op_.inverse ? "SpaceToDepth" : "DepthToSpace", d.to_string(), op_.inverse ? "height and width" : "channels",
                          op_.inverse ? b : b * b);
    }
    const Shape y_shape = op_.inverse ? Shape{d[0], d[1] * b * b, d[2] / b, d[3] / b} : Shape{d[0], d[1] / (b * b), d[2] * b, d[3] * b};
    ElementOutput y(context, 0, x.dtype(), y_shape);
    if (y.elements() == 0) return {};
    if (x.kind() == compute::ElementKind::string) {
      copy_strings(d, x, y, context.parallel());
    } else {
      copy_rows(d, x, y, context.parallel());
    }
    y.finish();
    return {};
  }

 private:
  // Rows of the wide side: each is made of, or falls into, `block` rows of the deep side.
  void copy_rows(const Shape& d, const ElementInput& x, const ElementOutput& y, const Parallel& parallel) const {
    const int64_t b = op_.block, channels = op_.inverse ? d[1] : d[1] / (b * b);
    const int64_t height = op_.inverse ? d[2] / b : d[2], width = op_.inverse ? d[3] / b : d[3];  // of the deep side
    const size_t bytes = compute::element_bytes(x.kind());
    const double row_bytes = 2.0 * static_cast<double>(bytes) * static_cast<double>(width * b);
    parallel.for_range(d[0] * channels * height * b, {row_bytes, static_cast<double>(width)}, [&](Range part) {
      int64_t i = part.begin % b, h = part.begin / b % height, channel = part.begin / (b * height) % channels,
              image = part.begin / (b * height * channels);
      for (int64_t row = part.begin; row < part.end; ++row) {
        // Between the deep channels of one row of the block, and the first of them.
        const int64_t step = op_.column_row_depth ? 1 : channels;
        const int64_t first = op_.column_row_depth ? (channel * b + i) * b : i * b * channels + channel;
        const int64_t deep = ((image * channels * b * b + first) * height + h) * width, stride = step * height * width;
        if (op_.inverse) {
          compute::deinterleave(x.at(row * width * b), b, width, bytes, y.at(deep), stride);
        } else {
          compute::interleave(x.at(deep), stride, b, width, bytes, y.at(row * width * b));
        }
        if (++i < b) continue;
        i = 0;
        if (++h < height) continue;
        h = 0;
        if (++channel < channels) continue;
        channel = 0;
        ++image;
      }
    });
  }

  // A transposition of six dimensions.
  void copy_strings(const Shape& d, const ElementInput& x, const ElementOutput& y, const Parallel& parallel) const {
    const int64_t b = op_.block;
    Shape from, order;
    if (op_.inverse) {
      from = {d[0], d[1], d[2] / b, b, d[3] / b, b};
      order = op_.column_row_depth ? Shape{0, 1, 3, 5, 2, 4} : Shape{0, 3, 5, 1, 2, 4};
    } else {
      const int64_t channels = d[1] / (b * b);
      from = op_.column_row_depth ? Shape{d[0], channels, b, b, d[2], d[3]} : Shape{d[0], b, b, channels, d[2], d[3]};
      order = op_.column_row_depth ? Shape{0, 1, 4, 2, 5, 3} : Shape{0, 3, 4, 1, 5, 2};
    }
    const Shape strides = strides_of(from);
    Shape shape, x_strides;
    for (int64_t k : order) {
      shape.push_back(from[k]);
      x_strides.push_back(strides[k]);
    }
    compute::strided_copy(x.kind(), shape, x.data(), x_strides, y.data(), strides_of(shape), parallel);
  }

  ops::DepthToSpace op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(DepthToSpaceKernel)
