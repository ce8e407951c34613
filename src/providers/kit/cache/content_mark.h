#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rh::kit {

/// Of content_mark(): drawn by chance and told to nobody, so that nobody can make two contents of one mark.
class MarkKey {
 public:
  static constexpr size_t kBlock = 1024;  ///< bytes
  /// The key that a secret of 32 random bytes stands for.
  explicit MarkKey(std::string_view secret);
  /// As 64 hexadecimal digits.
  static std::string drawn_secret();
  /// Of this process: for marks that do not outlive it.
  static const MarkKey& of_process();

 private:
  friend class MarkedContent;
  std::array<uint64_t, kBlock / sizeof(uint64_t)> words_;
  std::array<uint64_t, 2> places_;
};

/// 122 bits of bytes, as fast as memory is read. Whatever two contents are, as long as nobody knows the key their marks are equal with a
/// probability of 2^-64. That is proven. Equal marks without a key can be computed, unless they are a cryptographic hash: SHA-256 takes
/// some three times as long where the processor has instructions for it, and 20 times elsewhere, which is seconds for 500 MB.
struct ContentMark {
  uint64_t first = 0, second = 0;
  auto operator<=>(const ContentMark&) const = default;
};
ContentMark content_mark(std::string_view bytes, const MarkKey& key);

}  // namespace rh::kit
