#include "base/shared_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/packed_vector.h"

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

/// Memory of a run.
class RunBytes {
 public:
  void* operator()(size_t bytes) {
    constexpr size_t kAlignment = 64;
    blocks_.emplace_back(bytes + kAlignment);
    void* at = blocks_.back().data();
    size_t room = blocks_.back().size();
    return std::align(kAlignment, bytes, at, room);
  }
  bool has(const void* memory, size_t bytes) const {
    const auto* begin = static_cast<const std::byte*>(memory);
    return std::ranges::any_of(blocks_,
                               [&](const auto& block) { return begin >= block.data() && begin + bytes <= block.data() + block.size(); });
  }

 private:
  std::vector<std::vector<std::byte>> blocks_;
};

/// 100 pieces of 1000 bytes; one byte is `odd`.
std::shared_ptr<const void> pieces_with(size_t at, char odd, const Parallel& parallel = {}, int* writes = nullptr) {
  const auto begin = [](size_t piece) { return piece * 1000; };
  const auto write = [&](size_t piece, void* to) {
    char* bytes = static_cast<char*>(to);
    std::fill_n(bytes, 1000, static_cast<char>(piece));
    if (at / 1000 == piece) bytes[at % 1000] = odd;
    if (writes) ++*writes;
  };
  return share_pieces({100, begin, write}, 64, parallel);
}

TEST(SharedBytes, PiecesAreComparedBeforeMemoryIsTaken) {
  int writes = 0;
  const auto first = pieces_with(0, 1, {}, &writes);
  const SharedBytes before = shared_bytes();
  const auto again = pieces_with(0, 1, {}, &writes);
  EXPECT_EQ(again.get(), first.get());
  EXPECT_EQ(shared_bytes().made, before.made);
  EXPECT_EQ(shared_bytes().found, before.found + 1);
  EXPECT_EQ(shared_bytes().bytes, before.bytes);
  const char* bytes = static_cast<const char*>(first.get());
  EXPECT_EQ(bytes[0], 1);
  for (size_t i = 1; i < 100'000; ++i) ASSERT_EQ(bytes[i], static_cast<char>(i / 1000)) << i;
}

TEST(SharedBytes, OneByteOfOnePieceMakesADifference) {
  ThreadPool pool({.threads = 3});
  const Parallel parallel(&pool, 3);
  const auto first = pieces_with(0, 0);
  for (size_t at : {999u, 50'000u, 99'999u}) {
    const auto other = pieces_with(at, 'x', parallel);
    EXPECT_NE(other.get(), first.get()) << at;
    EXPECT_EQ(static_cast<const char*>(other.get())[at], 'x');
    EXPECT_EQ(pieces_with(at, 'x', parallel).get(), other.get());
  }
}

TEST(SharedBytes, AScopeLendsItsThreads) {
  ThreadPool pool({.threads = 3});
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto begin = [](size_t piece) { return piece << 20; };
  const auto write = [&](size_t piece, void* to) {
    std::fill_n(static_cast<char*>(to), size_t{1} << 20, static_cast<char>(piece + 40));
    // Each waits until there are two: one thread alone would not get on.
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    const auto seen = [&] {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
      return threads.size();
    };
    while (piece > 0 && seen() < 2 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  };
  std::shared_ptr<const void> made;
  {
    const PackingScope scope(Parallel(&pool, 3));
    made = share_pieces({8, begin, write}, 0);
  }
  EXPECT_GE(threads.size(), 2u);
  for (size_t piece = 0; piece < 8; ++piece)
    EXPECT_EQ(static_cast<const char*>(made.get())[begin(piece) + 7], static_cast<char>(piece + 40)) << piece;
}

TEST(SharedBytes, AScopeOfManyBytesPacksThemOneBehindTheOther) {
  const auto array_of = [](char value, size_t bytes) {
    std::shared_ptr<char[]> array = aligned_array<char>(bytes);
    std::fill_n(array.get(), bytes, value);
    return share_array(std::move(array), bytes);
  };
  const auto begin = [](size_t piece) { return piece * 500'000; };
  const auto write = [](size_t, void* to) { std::fill_n(static_cast<char*>(to), 500'000, '2'); };
  EXPECT_TRUE(PackingScope::take_shared().empty());
  std::shared_ptr<const char[]> first, third, again, large;
  std::shared_ptr<const void> second;
  std::vector<std::span<const std::byte>> shared;
  {
    const PackingScope scope({}, 40 << 20);
    PackingScope::use_pages();
    first = array_of('1', 100'000);
    EXPECT_EQ(PackingScope::take_shared().size(), 1u);
    second = share_pieces({2, begin, write}, 64);
    again = array_of('1', 100'000);
    third = array_of('3', 9'000);
    large = array_of('4', 20 << 20);
    shared = PackingScope::take_shared();
    const PackingScope inner({}, 0);
    EXPECT_TRUE(PackingScope::take_shared().empty());
  }
  EXPECT_TRUE(PackingScope::take_shared().empty());
  ASSERT_EQ(shared.size(), 4u);
  const void* const expected[] = {second.get(), first.get(), third.get(), large.get()};
  const size_t sizes[] = {1'000'000, 100'000, 9'000, 20 << 20};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shared[i].data(), expected[i]) << i;
    EXPECT_EQ(shared[i].size(), sizes[i]) << i;
  }
  EXPECT_EQ(again, first);
  if (PageChunk::kGivesBack) {
    EXPECT_EQ(static_cast<const char*>(second.get()), first.get() + 100'032);
    EXPECT_EQ(third.get(), static_cast<const char*>(second.get()) + 1'000'064) << "what was there already takes no room";
  }
  EXPECT_EQ(first[99'999], '1');
  EXPECT_EQ(static_cast<const char*>(second.get())[999'999], '2');
  EXPECT_EQ(third[8'999], '3');
  EXPECT_EQ(large[(20 << 20) - 1], '4');
}

TEST(SharedBytes, WhatAScopeOfARunPacksIsNotShared) {
  const auto there = share_array(array_of(5000, 7), 5000);
  const auto pieces_there = pieces_with(100, 0);
  const size_t made = shared_bytes().made, found = shared_bytes().found;
  ThreadPool pool({.threads = 3});
  RunBytes memory;
  const PackingScope scope = PackingScope::of_run(Parallel(&pool, 3), memory);
  const auto own = share_array(array_of(5000, 7), 5000);
  const auto pieces = pieces_with(100, 0);
  EXPECT_NE(own.get(), there.get());
  EXPECT_NE(pieces.get(), pieces_there.get());
  EXPECT_EQ(std::memcmp(pieces.get(), pieces_there.get(), 100 * 1000), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(own.get()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.get()) % 64, 0u);
  EXPECT_EQ(shared_bytes().made, made);
  EXPECT_EQ(shared_bytes().found, found);
  EXPECT_TRUE(memory.has(own.get(), 5000 * sizeof(float)));
  EXPECT_TRUE(memory.has(pieces.get(), 100'000));
}

struct PackedNumber : PackedObject {
  explicit PackedNumber(int number) : number(number) {
    if (number < 0) throw std::runtime_error("negative");
  }
  virtual ~PackedNumber() = default;
  int number;
};
struct PackedNumbers final : PackedNumber {
  explicit PackedNumbers(int number) : PackedNumber(number), more(100, number) {}
  PackedVector<int> more;
};

TEST(SharedBytes, ObjectsAndListsOfAScopeOfARunLieInItsMemory) {
  RunBytes memory;
  std::unique_ptr<PackedNumber> before = std::make_unique<PackedNumbers>(1), within;
  PackedVector<int> list(10, 3);
  {
    const PackingScope scope = PackingScope::of_run({}, memory);
    within = std::make_unique<PackedNumbers>(2);
    PackedVector<int> grown;
    for (int i = 0; i < 1000; ++i) grown.push_back(i);
    EXPECT_TRUE(memory.has(grown.data(), 4000));
    EXPECT_EQ(grown[999], 999);
    list.resize(1000, 4);
    EXPECT_FALSE(memory.has(list.data(), 4000)) << "it was made before";
    EXPECT_THROW((void)std::make_unique<PackedNumbers>(-1), std::runtime_error);
    const PackingScope inner({}, 0);
    EXPECT_FALSE(memory.has(std::make_unique<PackedNumbers>(3).get(), sizeof(PackedNumbers)));
  }
  EXPECT_THROW((void)std::make_unique<PackedNumbers>(-1), std::runtime_error);
  EXPECT_FALSE(memory.has(before.get(), sizeof(PackedNumbers)));
  EXPECT_TRUE(memory.has(within.get(), sizeof(PackedNumbers)));
  EXPECT_TRUE(memory.has(static_cast<PackedNumbers&>(*within).more.data(), 400));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(within.get()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(before.get()) % 64, 0u);
  before.reset();
  within.reset();
}

TEST(SharedBytes, AKeeperKeepsWhatItsThreadShares) {
  const size_t before = shared_bytes().bytes;
  {
    KeptBytes kept;
    {
      const KeepingScope scope(&kept);
      (void)pieces_with(7, 'k');
      (void)pieces_with(7, 'k');
    }
    (void)pieces_with(8, 'k');
    EXPECT_EQ(kept.pieces(), 1u);
    EXPECT_EQ(shared_bytes().bytes, before + 100'000);
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
