#include "ops/vision/image_decoder.h"

#include <exception>
#include <utility>

#include "base/images_library.h"
#include "base/optional_library.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

/// Memory that the decoder asks for: the output itself, or scratch memory for grey images.
struct Request {
  RunContext& context;
  bool grayscale;
  int64_t width = 0, height = 0;
  uint8_t* rgb = nullptr;
  std::exception_ptr error = nullptr;

  static uint8_t* answer(void* self, int64_t width, int64_t height) noexcept {
    auto& request = *static_cast<Request*>(self);
    try {
      request.width = width, request.height = height;
      request.rgb = request.grayscale ? request.context.scratch_array<uint8_t>(width * height * 3)
                                      : request.context.output(0, DType::uint8, Shape{height, width, 3}).data<uint8_t>();
    } catch (...) {
      request.error = std::current_exception();
    }
    return request.rgb;
  }
};

}  // namespace

class ImageDecoderKernel final : public Kernel {
 public:
  using Types = rh::Types<uint8_t>;

  explicit ImageDecoderKernel(const KernelInfo& info)
      : op_(info.attributes<ops::ImageDecoder>()),
        library_(static_cast<const ImagesLibrary*>(optional_library_table(
            "images",
            "libjpeg (libjpeg-dev), OpenJPEG (libopenjp2-7-dev), libtiff (libtiff-dev), libwebp (libwebp-dev) and stb (libstb-dev)"))) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    Request request{context, op_.pixels == ops::ImageDecoder::Pixels::grayscale};
    const char* wrong = library_->decode(x.data<uint8_t>(), static_cast<size_t>(x.elements()), Request::answer, &request);
    if (request.error) std::rethrow_exception(request.error);
    if (wrong) {
      context.output(0, DType::uint8, Shape{0, 0, op_.channels()});
      return {};
    }
    const int64_t pixels = request.width * request.height;
    if (op_.pixels == ops::ImageDecoder::Pixels::bgr) {
      for (int64_t i = 0; i < pixels; ++i) std::swap(request.rgb[3 * i], request.rgb[3 * i + 2]);
    } else if (request.grayscale) {
      uint8_t* grey = context.output(0, DType::uint8, Shape{request.height, request.width, 1}).data<uint8_t>();
      for (int64_t i = 0; i < pixels; ++i) grey[i] = luma(request.rgb + 3 * i);
    }
    return {};
  }

 private:
  /// ITU-R 601.
  static uint8_t luma(const uint8_t* rgb) {
    return static_cast<uint8_t>((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
  }

  ops::ImageDecoder op_;
  const ImagesLibrary* library_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ImageDecoderKernel)
