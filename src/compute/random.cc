#include "compute/random.h"

#include <cmath>
#include <numbers>

namespace rh::compute {

namespace {

uint64_t joined(uint32_t high, uint32_t low) { return static_cast<uint64_t>(high) << 32 | low; }

}  // namespace

std::array<uint32_t, 4> RandomStream::block(uint64_t index) const {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(stream_),
                               static_cast<uint32_t>(stream_ >> 32)};
  uint32_t key0 = static_cast<uint32_t>(seed_), key1 = static_cast<uint32_t>(seed_ >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xd2511f53} * c[0], b = uint64_t{0xcd9e8d57} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key0, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c[3] ^ key1,
         static_cast<uint32_t>(a)};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return c;
}

double RandomStream::uniform(uint64_t index, int bits) const {
  const auto c = block(index);
  return std::ldexp(static_cast<double>(joined(c[0], c[1]) >> (64 - bits)), -bits);
}

double RandomStream::normal(uint64_t index) const {  // Box and Muller
  const auto c = block(index);
  const double u = std::ldexp(static_cast<double>((joined(c[0], c[1]) >> 11) + 1), -53),
               v = std::ldexp(static_cast<double>(joined(c[2], c[3]) >> 11), -53);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace rh::compute
