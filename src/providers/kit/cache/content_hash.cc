#include "providers/kit/cache/content_hash.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace rh::kit {

namespace {

constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t word_at(const std::byte* bytes) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<uint32_t>(bytes[i]);
  return word;
}

}  // namespace

void ContentHash::add_block(const std::byte* block) {
  uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = word_at(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int i = 0; i < 64; ++i) {
    const uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
    const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state_[i] += added[i];
}

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
    add_block(rest_.data());
  }
  for (; left >= 64; at += 64, left -= 64) add_block(at);
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

std::string hash_of(std::string_view text) {
  ContentHash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.hex();
}

}  // namespace rh::kit
