#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_BMP
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS (1 << 17)
#include <stb_image.h>

#include <cstring>

#include "optional/images_codecs.h"

namespace rh::images {

const char* decode_stb(Source source, const Sink& sink) {
  int width = 0, height = 0, parts = 0;
  if (source.size > (1u << 30)) return kTooLarge;
  const auto size = static_cast<int>(source.size);
  if (!stbi_info_from_memory(source.data, size, &width, &height, &parts)) return "the image data is damaged";
  uint8_t* out = sink.rgb(width, height);
  if (!out) return kTooLarge;
  stbi_uc* pixels = stbi_load_from_memory(source.data, size, &width, &height, &parts, 3);
  if (!pixels) return "the image data is damaged";
  std::memcpy(out, pixels, static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  stbi_image_free(pixels);
  return nullptr;
}

}  // namespace rh::images
