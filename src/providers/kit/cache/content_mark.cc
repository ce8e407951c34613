#include "providers/kit/cache/content_mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

#include "base/fork_mutex.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

__extension__ using Wide = unsigned __int128;

/// value * place + added modulo the prime; all of them are below it.
uint64_t step(uint64_t value, uint64_t place, uint64_t added) {
  const Wide product = static_cast<Wide>(value) * place + added;
  const uint64_t sum = (static_cast<uint64_t>(product) & kPrime) + static_cast<uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

constinit ForkOnce<MarkKey> g_of_process;

}  // namespace

/// Blocks become numbers of 128 bits by NH, the hash within UMAC: two blocks that differ give one number for 1 of 2^64 keys. These and the
/// length are the coefficients of a polynomial, whose values at two places are the mark: two polynomials of degree n agree at n of 2^61.
class MarkedContent {
 public:
  explicit MarkedContent(const MarkKey& key) : key_(key) {}

  /// Of a whole number of pairs of words.
  void add_block(const char* bytes, size_t size) {
    Wide sum = 0;
    for (size_t at = 0, i = 0; at < size; at += kPair, i += 2) {
      uint64_t words[2];
      std::memcpy(words, bytes + at, kPair);
      sum += static_cast<Wide>(words[0] + key_.words_[i]) * (words[1] + key_.words_[i + 1]);
    }
    constexpr uint64_t kLow = (uint64_t{1} << 60) - 1;
    for (const int shift : {120, 60, 0}) add(static_cast<uint64_t>(sum >> shift) & kLow);
  }

  ContentMark mark(uint64_t length) {
    add(length >> 60), add(length & kPrime >> 1);
    return {values_[0], values_[1]};
  }

  static constexpr size_t kPair = 2 * sizeof(uint64_t);

 private:
  void add(uint64_t coefficient) {
    for (size_t i = 0; i < values_.size(); ++i) values_[i] = step(values_[i], key_.places_[i], coefficient);
  }

  const MarkKey& key_;
  std::array<uint64_t, 2> values_ = {};
};

// SHA-256 of the secret and a number gives four words.
MarkKey::MarkKey(std::string_view secret) {
  uint64_t number = 0;
  const auto fill = [&](std::span<uint64_t> words) {
    for (size_t i = 0; i < words.size(); i += 4) {
      ContentHash hash;
      hash.add_text(secret);
      hash.add_number(number++);
      const std::string digits = hash.hex();
      for (size_t k = i; k < std::min(i + 4, words.size()); ++k) words[k] = std::stoull(digits.substr((k - i) * 16, 16), nullptr, 16);
    }
  };
  fill(words_);
  fill(places_);
  for (uint64_t& place : places_) place %= kPrime;
}

std::string MarkKey::drawn_secret() {
  std::random_device source;
  std::string digits;
  for (int i = 0; i < 8; ++i) digits += fmt::format("{:08x}", source());
  return digits;
}

const MarkKey& MarkKey::of_process() {
  return g_of_process.get([] { return MarkKey(drawn_secret()); });
}

ContentMark content_mark(std::string_view bytes, const MarkKey& key) {
  MarkedContent content(key);
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= MarkKey::kBlock; at += MarkKey::kBlock, left -= MarkKey::kBlock) content.add_block(at, MarkKey::kBlock);
  char last[MarkKey::kBlock] = {};
  if (left > 0) std::memcpy(last, at, left);
  content.add_block(last, (left + MarkedContent::kPair - 1) / MarkedContent::kPair * MarkedContent::kPair);
  return content.mark(bytes.size());
}

}  // namespace rh::kit
