#include "base/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "base/file.h"
#include "support/page_faults.h"
#include "support/sanitizers.h"

namespace rh::test {
namespace {

TEST(PageMemory, GrowsAndShrinksAcrossTheBoundaryOfHeapAndSystem) {
  PageMemory memory;
  for (size_t bytes : {64u, 1000u, 200u << 10, 3u << 20, 10u << 20, 4096u, 0u, 1u << 20}) {
    memory.resize(bytes);
    EXPECT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    if (bytes) std::memset(memory.data(), 1, bytes);
  }
  PageMemory moved = std::move(memory);
  EXPECT_EQ(memory.bytes(), 0u);  // NOLINT(bugprone-use-after-move): it is empty from then on
  EXPECT_EQ(moved.bytes(), 1u << 20);
}

TEST(PageMemory, InLargePagesIsAlignedAndGrowsLikeOthers) {
  for (size_t bytes : {0u, 1000u, 200u << 10, 2u << 20, (5u << 20) + 1}) {
    PageMemory memory = PageMemory::in_large_pages(bytes);
    EXPECT_EQ(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    if (bytes) std::memset(memory.data(), 1, bytes);
    memory.resize(bytes + (3u << 20));
    std::memset(memory.data(), 1, memory.bytes());
  }
  EXPECT_THROW(PageMemory::in_large_pages(size_t{1} << 60), std::bad_alloc);
  EXPECT_THROW(PageMemory::in_large_pages(SIZE_MAX), std::bad_alloc);
}

#if defined(__linux__)
TEST(PageMemory, PagesThatWereTouchedAreThere) {
  if (kSanitized) GTEST_SKIP() << "sanitizers touch pages of their own";
  if (!takes_advice()) GTEST_SKIP() << "this system ignores advice";
  for (const size_t offset : {size_t{0}, size_t{64}}) {
    PageMemory memory((3u << 20) + 4096);
    touch_pages(static_cast<std::byte*>(memory.data()) + offset, memory.bytes() - offset);
    const int64_t before = page_faults();
    std::memset(memory.data(), 1, memory.bytes());
    EXPECT_LE(page_faults() - before, 8) << "of 769 pages, from byte " << offset << " on";
  }
  PageMemory small(1000);
  touch_pages(small.data(), small.bytes());
  std::memset(small.data(), 1, small.bytes());
  touch_pages(nullptr, 0);
}

TEST(MappedFile, PagesThatWerePopulatedAreThere) {
  if (kSanitized) GTEST_SKIP() << "sanitizers touch pages of their own";
  if (!takes_advice()) GTEST_SKIP() << "this system ignores advice";
  const std::string path = ::testing::TempDir() + "roundhouse_pages";
  write_file(path, std::string((3u << 20) + 100, 'x'));
  const MappedFile file{InputFile(path)};
  populate_pages(file.bytes().data() + 33, file.bytes().size() - 33);
  const int64_t before = page_faults();
  EXPECT_EQ(std::ranges::count(file.bytes(), std::byte{'x'}), static_cast<int64_t>(file.bytes().size()));
  EXPECT_LE(page_faults() - before, 4) << "of 769 pages, of which the system brings 16 at a time by itself";
  populate_pages(nullptr, 0);
}

// Bytes of files that count as the process's.
int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/statm");
  int64_t size = 0, resident = 0, of_files = 0;
  status >> size >> resident >> of_files;
  return of_files * ::sysconf(_SC_PAGESIZE);
}

TEST(MappedFile, AFewBytesOfALargeFileBringFewPages) {
  if (kSanitized) GTEST_SKIP() << "sanitizers touch pages of their own";
  if (!takes_advice()) GTEST_SKIP() << "an emulator's files are not the process's";
  constexpr size_t kPieces = 16, kPiece = 2 << 20;
  const std::string path = ::testing::TempDir() + "roundhouse_large_file";
  write_file(path, std::string(kPieces * kPiece + 100, 'x'));
  const MappedFile file{InputFile(path)};
  const int64_t before = resident_file_bytes();
  for (size_t i = 0; i < kPieces; ++i) EXPECT_EQ(file.bytes()[i * kPiece + 99], std::byte{'x'});
  EXPECT_LE(resident_file_bytes() - before, 8 << 20) << "for 16 bytes in 16 places of 32 MiB";
  EXPECT_EQ(file.bytes().back(), std::byte{'x'});
  std::remove(path.c_str());
}
#endif

TEST(PageMemory, WhatItIsShortenedToStays) {
  PageMemory memory = PageMemory::in_large_pages(8 << 20);
  std::memset(memory.data(), 7, memory.bytes());
  const void* before = memory.data();
  memory.shorten((3u << 20) + 1);
  EXPECT_EQ(memory.data(), before);
  EXPECT_GE(memory.bytes(), (3u << 20) + 1);
  if (PageChunk::kGivesBack) {
    EXPECT_LE(memory.bytes(), 4u << 20);
  }
  const unsigned char* bytes = static_cast<const unsigned char*>(memory.data());
  EXPECT_TRUE(std::all_of(bytes, bytes + (3u << 20) + 1, [](unsigned char byte) { return byte == 7; }));
  memory.shorten(100u << 20);
  EXPECT_EQ(memory.data(), before);
  memory.resize(0);
}

TEST(PageChunk, BlocksLieOneBehindTheOther) {
  std::shared_ptr<PageChunk> chunk = PageChunk::make(4 << 20);
  const std::shared_ptr<std::byte> a = chunk->take(100), b = chunk->take(1 << 20);
  std::shared_ptr<std::byte> c = chunk->take(65), none = chunk->take(3 << 20);
  EXPECT_EQ(b.get(), a.get() + 128);
  EXPECT_EQ(c.get(), b.get() + (1 << 20));
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(chunk->take(SIZE_MAX), nullptr);
  std::memset(a.get(), 1, 100);
  std::memset(b.get(), 2, 1 << 20);
  const std::byte* const last = c.get();
  c.reset();
  c = chunk->take(2 << 20);
  EXPECT_EQ(c.get(), last) << "the room of the last block is free again";
  std::memset(c.get(), 3, 2 << 20);
  chunk->close();
  EXPECT_EQ(chunk->take(1), nullptr);
  chunk.reset();
  EXPECT_EQ(a.get()[99], std::byte{1});
  EXPECT_EQ(b.get()[(1 << 20) - 1], std::byte{2});
  EXPECT_EQ(c.get()[(2 << 20) - 1], std::byte{3});
}

TEST(PageChunk, RoomOfABlockBeforeOthersIsNotTakenAgain) {
  const std::shared_ptr<PageChunk> chunk = PageChunk::make(2 << 20);
  std::shared_ptr<std::byte> first = chunk->take(64);
  const std::shared_ptr<std::byte> second = chunk->take(64);
  first.reset();
  EXPECT_EQ(chunk->take(64).get(), second.get() + 64);
  EXPECT_NE(chunk->take((2 << 20) - 128), nullptr);
  EXPECT_EQ(chunk->take((2 << 20) - 127), nullptr);
}

TEST(PageMemory, TooMuchIsAnErrorAndLeavesItUsable) {
  PageMemory memory(1 << 20);
  EXPECT_THROW(memory.resize(size_t{1} << 60), std::bad_alloc);
  EXPECT_THROW(memory.resize(SIZE_MAX), std::bad_alloc);
  memory.resize(1 << 20);
  std::memset(memory.data(), 1, memory.bytes());
}

}  // namespace
}  // namespace rh::test
