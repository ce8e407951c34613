#include "base/shared_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace rh::test {
namespace {

std::shared_ptr<float[]> array_of(size_t count, float value) {
  auto array = aligned_array<float>(count);
  std::fill_n(array.get(), count, value);
  return array;
}

TEST(SharedBytes, EqualOnesAreThereOnce) {
  const auto a = share_array(array_of(5000, 1), 5000), b = share_array(array_of(5000, 1), 5000), c = share_array(array_of(5001, 1), 5001);
  EXPECT_EQ(a.get(), b.get());
  EXPECT_NE(a.get(), c.get());
}

// The key looks at samples only.
TEST(SharedBytes, OneByteMakesADifference) {
  const auto a = share_array(array_of(100000, 1), 100000);
  for (size_t at = 0; at < 100000; at += 997) {
    auto other = array_of(100000, 1);
    other[at] = 2;
    EXPECT_NE(share_array(other, 100000).get(), a.get()) << at;
  }
}

TEST(SharedBytes, LastsAsLongAsSomebodyHasIt) {
  const size_t before = shared_bytes().bytes;
  {
    const auto a = share_array(array_of(5000, 3), 5000);
    EXPECT_EQ(shared_bytes().bytes, before + 5000 * sizeof(float));
  }
  EXPECT_EQ(shared_bytes().bytes, before);
}

TEST(SharedBytes, ManyThreadsAgree) {
  std::vector<std::shared_ptr<const float[]>> got(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < got.size(); ++t) threads.emplace_back([&, t] { got[t] = share_array(array_of(5000, 4), 5000); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : got) EXPECT_EQ(one.get(), got[0].get());
}

}  // namespace
}  // namespace rh::test
