#include "base/images_library.h"

#include <cstring>
#include <exception>

#include "optional/images_codecs.h"

namespace rh::images {

namespace {

struct Format {
  const char* magic;
  size_t size;
  const char* (*decode)(Source source, const Sink& sink);
};

constexpr Format kFormats[] = {
    {"BM", 2, decode_stb},
    {"\x89PNG", 4, decode_stb},
    {"\xff\xd8\xff", 3, decode_jpeg},
    {"\0\0\0\x0cjP  ", 8, decode_jpeg2000},
    {"\xff\x4f\xff\x51", 4, decode_jpeg2000},
    {"II*\0", 4, decode_tiff},
    {"MM\0*", 4, decode_tiff},
    {"RIFF", 4, decode_webp},
    {"P", 1, decode_pnm},
};

const char* decode(const uint8_t* data, size_t size, ImagesLibrary::Allocate allocate, void* context) {
  try {
    for (const Format& format : kFormats) {
      if (size > format.size && std::memcmp(data, format.magic, format.size) == 0) return format.decode({data, size}, {allocate, context});
    }
    return "the bytes are of no format that is known";
  } catch (const std::exception&) {
    return "not enough memory";
  }
}

}  // namespace

}  // namespace rh::images

extern "C" __attribute__((visibility("default"))) const void* roundhouse_images() {
  static const ImagesLibrary library = {rh::images::decode};
  return &library;
}
