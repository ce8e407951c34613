#include <cstdio>  // before jpeglib.h

#include <jpeglib.h>

#include <csetjmp>
#include <cstdlib>

#include "optional/images_codecs.h"

namespace rh::images {

namespace {

struct Failure {
  jpeg_error_mgr manager;
  jmp_buf back;
};

/// What one decoding holds; longjmp passes over no destructor.
struct State {
  jpeg_decompress_struct info;
  Failure failure;
  JSAMPLE* cmyk;  ///< a row, of images in four inks
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  std::longjmp(failure->back, 1);
}

void stay_silent(j_common_ptr, int) {}

/// Inks that absorb, stored inverted where Adobe wrote them.
void to_rgb(const JSAMPLE* inks, bool inverted, JDIMENSION width, uint8_t* rgb) {
  for (JDIMENSION i = 0; i < width; ++i, inks += 4, rgb += 3) {
    for (int k = 0; k < 3; ++k) {
      const int ink = inverted ? inks[k] : 255 - inks[k], black = inverted ? inks[3] : 255 - inks[3];
      rgb[k] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

bool run(State& state, Source source, const Sink& sink) {
  jpeg_decompress_struct& info = state.info;
  if (setjmp(state.failure.back)) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, source.data, static_cast<unsigned long>(source.size));
  jpeg_read_header(&info, TRUE);
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  uint8_t* out = sink.rgb(info.image_width, info.image_height);
  if (!out) return false;
  jpeg_start_decompress(&info);
  if (inks) state.cmyk = static_cast<JSAMPLE*>(std::malloc(static_cast<size_t>(info.output_width) * 4));
  if (inks && !state.cmyk) return false;
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = inks ? state.cmyk : out;
    jpeg_read_scanlines(&info, &row, 1);
    if (inks) to_rgb(state.cmyk, info.saw_Adobe_marker, info.output_width, out);
    out += static_cast<size_t>(info.output_width) * 3;
  }
  jpeg_finish_decompress(&info);
  return true;
}

}  // namespace

const char* decode_jpeg(Source source, const Sink& sink) {
  State state{};
  state.info.err = jpeg_std_error(&state.failure.manager);
  state.failure.manager.error_exit = fail;
  state.failure.manager.emit_message = stay_silent;
  const bool done = run(state, source, sink);
  std::free(state.cmyk);
  jpeg_destroy_decompress(&state.info);
  return done ? nullptr : "the JPEG data is damaged, or the image too large";
}

}  // namespace rh::images
