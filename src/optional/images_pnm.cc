#include <cstddef>

#include "optional/images_codecs.h"

namespace rh::images {

namespace {

/// P1 to P6: bits, grey values and colours, in text (P1 to P3) or in bytes.
class PnmReader {
 public:
  explicit PnmReader(Source source) : source_(source) {}

  const char* decode(const Sink& sink) {
    const int kind = source_.data[1] - '0';
    if (kind < 1 || kind > 6) return "the bytes are of no format that is known";
    at_ = 2;
    int64_t width = 0, height = 0, largest = 1;
    if (!number(width) || !number(height) || (kind % 3 != 1 && !number(largest)) || largest < 1 || largest > 65535) return kDamaged;
    const bool is_text = kind <= 3, is_bits = kind % 3 == 1, is_colour = kind % 3 == 0;
    if (!is_text) ++at_;  // one white space ends the header
    uint8_t* out = sink.rgb(width, height);
    if (!out) return kTooLarge;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x, out += 3) {
        for (int k = 0; k < (is_colour ? 3 : 1); ++k) {
          int64_t value = 0;
          const bool is_there = is_text ? (is_bits ? digit(value) : number(value)) : is_bits ? bit(x, value) : binary(largest, value);
          if (!is_there || value > largest) return kDamaged;
          if (is_bits) value = 1 - value;  // 1 is black
          out[k] = static_cast<uint8_t>((value * 255 + largest / 2) / largest);
        }
        if (!is_colour) out[1] = out[2] = out[0];
      }
    }
    return nullptr;
  }

 private:
  static constexpr char kDamaged[] = "the PNM data is damaged";

  bool ended() const { return at_ >= source_.size; }

  void skip_space() {
    while (!ended()) {
      const uint8_t c = source_.data[at_];
      if (c == '#') {
        while (!ended() && source_.data[at_] != '\n') ++at_;
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool number(int64_t& value) {
    skip_space();
    const size_t begin = at_;
    for (value = 0; !ended() && source_.data[at_] >= '0' && source_.data[at_] <= '9' && value < (1 << 24); ++at_) {
      value = value * 10 + source_.data[at_] - '0';
    }
    return at_ > begin;
  }

  bool digit(int64_t& value) {
    skip_space();
    if (ended()) return false;
    value = source_.data[at_++] - '0';
    return value == 0 || value == 1;
  }

  /// Rows of bits begin at a byte.
  bool bit(int64_t x, int64_t& value) {
    if (x % 8 == 0 && began_) ++at_;
    began_ = true;
    if (ended()) return false;
    value = source_.data[at_] >> (7 - x % 8) & 1;
    return true;
  }

  bool binary(int64_t largest, int64_t& value) {
    const size_t bytes = largest > 255 ? 2 : 1;
    if (source_.size < bytes || at_ > source_.size - bytes) return false;
    value = source_.data[at_++];
    if (bytes == 2) value = value << 8 | source_.data[at_++];
    return true;
  }

  Source source_;
  size_t at_ = 0;
  bool began_ = false;  ///< a bit was read
};

}  // namespace

const char* decode_pnm(Source source, const Sink& sink) {
  return source.size < 8 ? "the PNM data is damaged" : PnmReader(source).decode(sink);
}

}  // namespace rh::images
