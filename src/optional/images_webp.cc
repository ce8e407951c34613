#include <webp/decode.h>

#include "optional/images_codecs.h"

namespace rh::images {

const char* decode_webp(Source source, const Sink& sink) {
  static constexpr char kDamaged[] = "the WebP data is damaged";
  int width = 0, height = 0;
  if (!WebPGetInfo(source.data, source.size, &width, &height)) return kDamaged;
  uint8_t* out = sink.rgb(width, height);
  if (!out) return kTooLarge;
  const size_t row = static_cast<size_t>(width) * 3;
  return WebPDecodeRGBInto(source.data, source.size, out, row * static_cast<size_t>(height), width * 3) ? nullptr : kDamaged;
}

}  // namespace rh::images
