#include "ops/text/murmur_hash3.h"

#include <bit>
#include <type_traits>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

uint32_t scrambled(uint32_t block) { return std::rotl(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

uint32_t mixed(uint32_t hash, uint32_t block) { return std::rotl(hash ^ scrambled(block), 13) * 5 + 0xe6546b64u; }

uint32_t finished(uint32_t hash, size_t size) {
  hash ^= static_cast<uint32_t>(size);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

/// Austin Appleby's MurmurHash3_x86_32.
uint32_t hash_of(const void* data, size_t size, uint32_t seed) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  const auto block = [&](size_t at, size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; ++i) value |= static_cast<uint32_t>(bytes[at + i]) << 8 * i;
    return value;
  };
  uint32_t hash = seed;
  const size_t whole = size / 4 * 4;
  for (size_t at = 0; at < whole; at += 4) hash = mixed(hash, block(at, 4));
  if (whole < size) hash ^= scrambled(block(whole, size - whole));
  return finished(hash, size);
}

/// The same of a number's bytes, the lowest first.
template <typename T>
uint32_t hash_of(T number, uint32_t seed) {
  if constexpr (sizeof(T) == 4) {
    return finished(mixed(seed, std::bit_cast<uint32_t>(number)), 4);
  } else {
    const auto bits = std::bit_cast<uint64_t>(number);
    return finished(mixed(mixed(seed, static_cast<uint32_t>(bits)), static_cast<uint32_t>(bits >> 32)), 8);
  }
}

}  // namespace

class MurmurHash3Kernel final : public Kernel {
 public:
  using Types = rh::Types<uint32_t, int32_t, uint64_t, int64_t, float, double, std::string>;

  explicit MurmurHash3Kernel(const KernelInfo& info) : op_(info.attributes<ops::MurmurHash3>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    auto* out = static_cast<uint32_t*>(context.output(0, op_.positive ? DType::uint32 : DType::int32, x.shape()).raw());
    return dispatch<Types>(x.dtype(), "MurmurHash3", [&]<typename T>() {
      const T* from = x.data<T>();
      const uint32_t seed = op_.seed;
      context.parallel().for_range(x.elements(), Cost{.bytes = sizeof(T) + 4, .operations = 10}, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          if constexpr (std::is_same_v<T, std::string>) {
            out[i] = hash_of(from[i].data(), from[i].size(), seed);
          } else {
            out[i] = hash_of(from[i], seed);
          }
        }
      });
    });
  }

 private:
  ops::MurmurHash3 op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MurmurHash3Kernel)
