#pragma once

#include "base/images_library.h"

/// The decoders of libroundhouse_images: one image format each, as ImagesLibrary::decode. No dimension exceeds kMostSide, no image
/// kMostPixels.
namespace rh::images {

struct Source {
  const uint8_t* data;
  size_t size;
};

/// Where the decoded image goes.
struct Sink {
  ImagesLibrary::Allocate allocate;
  void* context;

  /// Null where the image is too large or memory is refused.
  uint8_t* rgb(int64_t width, int64_t height) const {
    constexpr int64_t kMostSide = 1 << 17, kMostPixels = 1 << 28;
    const bool fits = width > 0 && height > 0 && width <= kMostSide && height <= kMostSide && width * height <= kMostPixels;
    return fits ? allocate(context, width, height) : nullptr;
  }
};

constexpr char kTooLarge[] = "the image is empty, too large or not wanted";

const char* decode_jpeg(Source source, const Sink& sink);
const char* decode_jpeg2000(Source source, const Sink& sink);
const char* decode_pnm(Source source, const Sink& sink);
const char* decode_stb(Source source, const Sink& sink);  ///< BMP and PNG
const char* decode_tiff(Source source, const Sink& sink);
const char* decode_webp(Source source, const Sink& sink);

}  // namespace rh::images
