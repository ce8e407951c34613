#include "ops/vision/image_scaler.h"

#include <algorithm>

#include "compute/elementwise/double_math.h"
#include "compute/elementwise/vector_math.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

class ImageScalerKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit ImageScalerKernel(const KernelInfo& info) : op_(info.attributes<ops::ImageScaler>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int64_t channels = static_cast<int64_t>(op_.channel_bias.size());
    if (channels > 0 && (x.rank() != 4 || x.shape()[1] != channels)) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, {}, H, W] for a bias of {} numbers",
                          x.shape().to_string(), channels, channels);
    }
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) {
      return dispatch<rh::Types<float, double>>(from.dtype(), "ImageScaler", [&]<typename T>() {
        // Planes of one channel each; without a bias for each channel all is one plane.
        const int64_t planes = channels > 0 ? x.shape()[0] * channels : 1, length = x.elements() / planes;
        constexpr int64_t kPiece = 1 << 14;
        const int64_t pieces = (length + kPiece - 1) / kPiece;
        context.parallel().for_range(planes * pieces, {.bytes = 2.0 * sizeof(T) * kPiece, .operations = kPiece / 8.0}, [&](Range part) {
          for (int64_t i = part.begin; i < part.end; ++i) {
            const int64_t plane = i / pieces, begin = i % pieces * kPiece, at = plane * length + begin;
            const float bias = channels > 0 ? op_.channel_bias[static_cast<size_t>(plane % channels)] : op_.bias;
            compute::scale_shift(from.data<T>() + at, T(op_.scale), T(bias), to.data<T>() + at, std::min(kPiece, length - begin));
          }
        });
      });
    });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  ops::ImageScaler op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ImageScalerKernel)
