#include "providers/kit/cache/content_hash.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sha256.h"

namespace rh::kit {

void ContentHash::add(std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  size_t left = bytes.size();
  const auto filled = static_cast<size_t>(bytes_ % 64);
  bytes_ += left;
  if (filled > 0) {
    const size_t taken = std::min(left, 64 - filled);
    std::memcpy(rest_.data() + filled, at, taken);
    at += taken, left -= taken;
    if (filled + taken < 64) return;
    sha256_blocks(state_.data(), rest_.data(), 1);
  }
  sha256_blocks(state_.data(), at, left / 64);
  at += left / 64 * 64, left %= 64;
  if (left > 0) std::memcpy(rest_.data(), at, left);
}

void ContentHash::add_number(uint64_t number) {
  std::byte bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(number >> (8 * (7 - i)));
  add(bytes);
}

void ContentHash::add_text(std::string_view text) {
  add_number(text.size());
  add(std::as_bytes(std::span(text)));
}

std::string ContentHash::hex() {
  const uint64_t bits = bytes_ * 8;
  const std::byte one{0x80}, zero{0};
  add({&one, 1});
  while (bytes_ % 64 != 56) add({&zero, 1});
  add_number(bits);
  std::string text;
  for (uint32_t word : state_) text += fmt::format("{:08x}", word);
  return text;
}

namespace {

constexpr uint64_t kFactor = 0x9e3779b185ebca87, kOther = 0xc2b2ae3d27d4eb4f;

/// Each bit of the word moves about half of those of the result, and no two words give the same.
uint64_t spread(uint64_t word) {
  word *= kFactor;
  word ^= word >> 32;
  return word * kOther;
}

}  // namespace

uint64_t checksum_of(std::string_view bytes) {
  constexpr size_t kLanes = 4, kStep = kLanes * sizeof(uint64_t);
  uint64_t lanes[kLanes] = {bytes.size(), kFactor, kOther, kFactor ^ kOther}, words[kLanes];
  // For a lane as it is, another word gives another lane. A word is spread first: bits that change alone would be undone by the next
  // word's.
  const auto add = [&] {
    for (size_t i = 0; i < kLanes; ++i) lanes[i] = std::rotl((lanes[i] ^ spread(words[i])) * kFactor, 29);
  };
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= kStep; at += kStep, left -= kStep) {
    std::memcpy(words, at, kStep);
    add();
  }
  std::ranges::fill(words, 0);
  if (left > 0) std::memcpy(words, at, left);
  add();
  uint64_t sum = kOther;
  for (const uint64_t lane : lanes) sum = spread(sum ^ lane);
  return sum ^ sum >> 32;
}

std::string hash_of(std::string_view text) {
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.hex();
}

}  // namespace rh::kit
