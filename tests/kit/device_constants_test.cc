// Constants on a device: each content once, and never another's.
#include "providers/kit/device/device_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kit/forged.h"
#include "providers/kit/cache/content_hash.h"

namespace rh {

namespace {

/// A device whose memory is the host's; it counts what it has copied.
class CountingDriver final : public kit::DeviceDriver {
 public:
  void* allocate(size_t bytes) override { return ::operator new(bytes); }
  void free(void* memory) noexcept override { ::operator delete(memory); }
  void* allocate_pinned(size_t bytes) override { return allocate(bytes); }
  void free_pinned(void* memory) noexcept override { free(memory); }
  void copy(void* to, const void* from, size_t bytes, kit::CopyKind, kit::StreamHandle) override {
    std::memcpy(to, from, bytes);
    copied += bytes;
  }
  kit::StreamHandle make_stream() override { return nullptr; }
  void destroy_stream(kit::StreamHandle) noexcept override {}
  void wait(kit::StreamHandle) override {}
  void wait_for_all() override {}
  kit::EventHandle make_event() override { return nullptr; }
  void destroy_event(kit::EventHandle) noexcept override {}
  void record(kit::EventHandle, kit::StreamHandle) override {}
  void wait_for(kit::EventHandle) override {}
  void make_wait(kit::StreamHandle, kit::EventHandle) override {}

  size_t copied = 0;
};

constexpr int64_t kElements = 1024;

Tensor tensor_of(float value) {
  Tensor tensor(DType::float32, Shape{kElements});
  std::fill_n(tensor.data<float>(), kElements, value);
  return tensor;
}

std::string_view text_of(const Tensor& tensor) { return {static_cast<const char*>(tensor.raw()), tensor.bytes()}; }

class KitConstants : public testing::Test {
 protected:
  /// As a call of a host's Compile does.
  Tensor uploaded(const Tensor& tensor) {
    const Tensor* const one[] = {&tensor};
    return kit::DeviceConstants(driver_, earlier_).upload(one)[0];
  }

  std::shared_ptr<CountingDriver> driver_ = std::make_shared<CountingDriver>();
  kit::UploadedConstants earlier_;
};

TEST_F(KitConstants, AreUploadedOnceForAllCalls) {
  const Tensor first = uploaded(tensor_of(1)), again = uploaded(tensor_of(1)), other = uploaded(tensor_of(2));
  EXPECT_EQ(first.raw(), again.raw());
  EXPECT_NE(first.raw(), other.raw());
  EXPECT_EQ(driver_->copied, first.bytes() + other.bytes());
}

TEST_F(KitConstants, OfContentsWhoseChecksumWasMadeEqualAreTwo) {
  const Tensor given = tensor_of(1), forged = tensor_of(1);
  forge({static_cast<std::byte*>(const_cast<void*>(forged.raw())), forged.bytes()});
  ASSERT_EQ(kit::checksum_of(text_of(given)), kit::checksum_of(text_of(forged)));
  const Tensor first = uploaded(given), second = uploaded(forged);
  EXPECT_EQ(text_of(first), text_of(given));
  EXPECT_EQ(text_of(second), text_of(forged));
}

}  // namespace

}  // namespace rh
