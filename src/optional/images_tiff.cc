#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "optional/images_codecs.h"

namespace rh::images {

namespace {

struct Reader {
  Source source;
  uint64_t at = 0;
};

tmsize_t read(thandle_t handle, void* to, tmsize_t count) {
  auto& reader = *static_cast<Reader*>(handle);
  if (count < 0 || reader.at >= reader.source.size) return 0;
  const size_t bytes = std::min(static_cast<size_t>(count), reader.source.size - static_cast<size_t>(reader.at));
  std::memcpy(to, reader.source.data + reader.at, bytes);
  reader.at += bytes;
  return static_cast<tmsize_t>(bytes);
}

tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& reader = *static_cast<Reader*>(handle);
  reader.at = offset + (whence == SEEK_CUR ? reader.at : whence == SEEK_END ? reader.source.size : 0);
  return reader.at;
}

int close(thandle_t) { return 0; }
toff_t size(thandle_t handle) { return static_cast<Reader*>(handle)->source.size; }

int map(thandle_t handle, void** base, toff_t* bytes) {
  const Source& source = static_cast<Reader*>(handle)->source;
  *base = const_cast<uint8_t*>(source.data);
  *bytes = source.size;
  return 1;
}

void unmap(thandle_t, void*, toff_t) {}

}  // namespace

const char* decode_tiff(Source source, const Sink& sink) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  Reader reader{source};
  const std::unique_ptr<TIFF, void (*)(TIFF*)> tiff(TIFFClientOpen("image", "r", &reader, read, write, seek, close, size, map, unmap),
                                                    TIFFClose);
  static constexpr char kDamaged[] = "the TIFF data is damaged";
  uint32_t width = 0, height = 0;
  if (!tiff || !TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height))
    return kDamaged;
  uint8_t* out = sink.rgb(width, height);
  if (!out) return kTooLarge;
  std::vector<uint32_t> pixels(static_cast<size_t>(width) * height);
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, pixels.data(), ORIENTATION_TOPLEFT, 1)) return kDamaged;
  for (const uint32_t pixel : pixels) {
    *out++ = static_cast<uint8_t>(TIFFGetR(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetG(pixel));
    *out++ = static_cast<uint8_t>(TIFFGetB(pixel));
  }
  return nullptr;
}

}  // namespace rh::images
