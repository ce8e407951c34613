#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "optional/images_codecs.h"

namespace rh::images {

namespace {

struct Reader {
  Source source;
  size_t at = 0;
};

OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* user) {
  auto& reader = *static_cast<Reader*>(user);
  const size_t bytes = std::min(count, reader.source.size - reader.at);
  if (bytes == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, reader.source.data + reader.at, bytes);
  reader.at += bytes;
  return bytes;
}

OPJ_OFF_T skip(OPJ_OFF_T count, void* user) {
  auto& reader = *static_cast<Reader*>(user);
  if (count < 0) return -1;
  reader.at += std::min(static_cast<size_t>(count), reader.source.size - reader.at);
  return count;
}

OPJ_BOOL seek(OPJ_OFF_T to, void* user) {
  auto& reader = *static_cast<Reader*>(user);
  if (to < 0 || static_cast<size_t>(to) > reader.source.size) return OPJ_FALSE;
  reader.at = static_cast<size_t>(to);
  return OPJ_TRUE;
}

struct Image {
  opj_image_t* image = nullptr;
  ~Image() { opj_image_destroy(image); }
};

uint8_t sample(const opj_image_comp_t& component, size_t i) {
  int64_t value = component.data[i];
  if (component.sgnd) value += int64_t{1} << (component.prec - 1);
  if (component.prec > 8) value >>= component.prec - 8;
  if (component.prec < 8) value = value * 255 / ((int64_t{1} << component.prec) - 1);
  return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255));
}

uint8_t byte(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

const char* write(const opj_image_t& image, const Sink& sink) {
  const opj_image_comp_t* parts = image.comps;
  const bool colour = image.numcomps >= 3;
  for (OPJ_UINT32 k = 0; k < (colour ? 3u : 1u); ++k) {
    const bool usable = parts[k].data && parts[k].prec >= 1 && parts[k].prec <= 31 && parts[k].w == parts[0].w && parts[k].h == parts[0].h;
    if (!usable) return "the JPEG 2000 image has components of different sizes";
  }
  uint8_t* out = sink.rgb(parts[0].w, parts[0].h);
  if (!out) return kTooLarge;
  const size_t pixels = static_cast<size_t>(parts[0].w) * parts[0].h;
  for (size_t i = 0; i < pixels; ++i, out += 3) {
    for (int k = 0; k < 3; ++k) out[k] = sample(parts[colour ? k : 0], i);
    if (image.color_space != OPJ_CLRSPC_SYCC || !colour) continue;
    const double y = out[0], cb = out[1] - 128.0, cr = out[2] - 128.0;
    out[0] = byte(y + 1.402 * cr), out[1] = byte(y - 0.344136 * cb - 0.714136 * cr), out[2] = byte(y + 1.772 * cb);
  }
  return nullptr;
}

}  // namespace

const char* decode_jpeg2000(Source source, const Sink& sink) {
  static constexpr char kDamaged[] = "the JPEG 2000 data is damaged";
  Reader reader{source};
  const std::unique_ptr<opj_stream_t, void (*)(opj_stream_t*)> stream(
      [] { return static_cast<opj_stream_t*>(opj_stream_default_create(OPJ_TRUE)); }(), [](opj_stream_t* s) { opj_stream_destroy(s); });
  const std::unique_ptr<opj_codec_t, void (*)(opj_codec_t*)> codec(
      static_cast<opj_codec_t*>(opj_create_decompress(source.data[0] == 0 ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K)),
      [](opj_codec_t* c) { opj_destroy_codec(c); });
  if (!stream || !codec) return "not enough memory";
  opj_stream_set_user_data(stream.get(), &reader, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.size);
  opj_stream_set_read_function(stream.get(), read);
  opj_stream_set_skip_function(stream.get(), skip);
  opj_stream_set_seek_function(stream.get(), seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  Image image;
  if (!opj_setup_decoder(codec.get(), &parameters) || !opj_read_header(stream.get(), codec.get(), &image.image)) return kDamaged;
  const auto width = static_cast<int64_t>(image.image->x1) - image.image->x0,
             height = static_cast<int64_t>(image.image->y1) - image.image->y0;
  if (image.image->numcomps < 1 || width <= 0 || height <= 0 || width > (1 << 17) || height > (1 << 17) || width * height > (1 << 28)) {
    return kTooLarge;
  }
  if (!opj_decode(codec.get(), stream.get(), image.image)) return kDamaged;
  return write(*image.image, sink);
}

}  // namespace rh::images
