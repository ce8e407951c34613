#include "ops/text/murmur_hash3.h"

#include <bit>
#include <cstring>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

namespace {

uint32_t scrambled(uint32_t block) { return std::rotl(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

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
  for (size_t at = 0; at < whole; at += 4) hash = std::rotl(hash ^ scrambled(block(at, 4)), 13) * 5 + 0xe6546b64u;
  if (whole < size) hash ^= scrambled(block(whole, size - whole));
  hash ^= static_cast<uint32_t>(size);
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
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
      for (int64_t i = 0; i < x.elements(); ++i) {
        const T& value = x.data<T>()[i];
        if constexpr (std::is_same_v<T, std::string>) {
          out[i] = hash_of(value.data(), value.size(), op_.seed);
        } else {
          out[i] = hash_of(&value, sizeof value, op_.seed);
        }
      }
    });
  }

 private:
  ops::MurmurHash3 op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MurmurHash3Kernel)
