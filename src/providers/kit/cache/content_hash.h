#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rh::kit {

/// SHA-256 (FIPS 180-4) of what is added, piece by piece.
class ContentHash {
 public:
  void add(std::span<const std::byte> bytes);
  /// A text with its length before it, so that no two lists of texts give the same bytes.
  void add_text(std::string_view text);
  void add_number(uint64_t number);
  /// 64 hexadecimal digits; ends the hash.
  std::string hex();

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> rest_ = {};
  uint64_t bytes_ = 0;
};

/// The hash of one text alone.
std::string hash_of(std::string_view text);

/// 64 bits of bytes that may have been damaged, as fast as memory is read. Who knows how it is made can make bytes with the same: it is no
/// identity (content_mark.h).
uint64_t checksum_of(std::string_view bytes);

}  // namespace rh::kit
