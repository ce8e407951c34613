// Memory of devices: what the kit keeps for streams, and how strict the fake device is.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "base/error.h"
#include "providers/fake_device/memory.h"
#include "providers/kit/device/stream_memory.h"

namespace rh {

namespace {

using fake_device::DeviceMemory;

/// Host memory as the source of arenas, counted.
class CountedMemory final : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    ++blocks;
    return host_allocator().allocate(bytes);
  }
  void deallocate(void* memory) override {
    --blocks;
    host_allocator().deallocate(memory);
  }
  std::atomic<int> blocks = 0;
};

constexpr size_t kPiece = 4096;

struct Streams {
  std::shared_ptr<CountedMemory> source = std::make_shared<CountedMemory>();
  kit::StreamMemory memory{source, ArenaSettings{.initial_chunk_bytes = 2 * kPiece}};
  int first = 0, second = 0;  // by their addresses
};

TEST(KitStreamMemory, AStreamReusesItsPiecesAtOnce) {
  Streams s;
  void* piece = s.memory.allocate_on(&s.first, kPiece);
  s.memory.deallocate(piece);
  EXPECT_EQ(s.memory.allocate_on(&s.first, kPiece), piece);
  s.memory.deallocate(piece);
}

TEST(KitStreamMemory, OthersGetThemWhenTheStreamIsDone) {
  Streams s;
  void* piece = s.memory.allocate_on(&s.first, kPiece);
  s.memory.deallocate(piece);
  std::set<void*> others;
  for (int i = 0; i < 8; ++i) others.insert({s.memory.allocate_on(&s.second, kPiece), s.memory.allocate(kPiece)});
  EXPECT_FALSE(others.contains(piece));
  for (void* other : others) s.memory.deallocate(other);
  const int before = s.source->blocks.load();
  s.memory.settle(&s.first);
  s.memory.settle(&s.second);
  s.memory.shrink();
  EXPECT_LT(s.source->blocks, before);
  EXPECT_EQ(s.source->blocks, 0);
}

TEST(KitStreamMemory, PiecesOutliveTheirStream) {
  Streams s;
  void* piece = s.memory.allocate_on(&s.first, kPiece);
  s.memory.forget(&s.first);
  static_cast<char*>(piece)[kPiece - 1] = 1;
  void* other = s.memory.allocate_on(&s.first, kPiece);  // a new stream at the same address
  EXPECT_NE(other, piece);
  s.memory.deallocate(piece);
  s.memory.deallocate(other);
  s.memory.forget(&s.first);
  s.memory.shrink();
  EXPECT_EQ(s.source->blocks, 0);
}

TEST(KitStreamMemory, AllStreamsTogetherKeepToTheLimit) {
  const auto source = std::make_shared<CountedMemory>();
  kit::StreamMemory memory(source, ArenaSettings{.max_bytes = 4 * kPiece, .growth = ArenaSettings::Growth::same_as_requested});
  int first = 0, second = 0;
  void* a = memory.allocate_on(&first, 2 * kPiece);
  void* b = memory.allocate_on(&second, 2 * kPiece);
  EXPECT_THROW(memory.allocate_on(&first, kPiece), Error);
  memory.deallocate(b);
  memory.settle(&second);
  void* c = memory.allocate_on(&first, 2 * kPiece);
  memory.deallocate(a);
  memory.deallocate(c);
}

TEST(KitStreamMemory, WithoutAnArenaEachPieceIsABlock) {
  const auto source = std::make_shared<CountedMemory>();
  kit::StreamMemory memory(source, std::nullopt);
  int stream = 0;
  void* piece = memory.allocate_on(&stream, kPiece);
  EXPECT_EQ(source->blocks, 1);
  memory.deallocate(piece);
  EXPECT_EQ(source->blocks, 0);
}

TEST(KitStreamMemory, ThreadsOnStreamsOfTheirOwnGetPiecesOfTheirOwn) {
  Streams s;
  std::vector<std::thread> threads;
  for (int number = 1; number <= 4; ++number) {
    threads.emplace_back([&s, number] {
      const int stream = number;
      for (int run = 0; run < 50; ++run) {
        std::vector<unsigned char*> pieces;
        for (size_t i = 1; i <= 6; ++i) {
          auto* piece = static_cast<unsigned char*>(i % 3 == 0 ? s.memory.allocate(i * 700) : s.memory.allocate_on(&stream, i * 700));
          std::memset(piece, number, i * 700);
          pieces.push_back(piece);
        }
        for (size_t i = 1; i <= pieces.size(); ++i) {
          const unsigned char* piece = pieces[i - 1];
          EXPECT_TRUE(std::all_of(piece, piece + i * 700, [&](unsigned char byte) { return byte == number; }));
          s.memory.deallocate(pieces[i - 1]);
        }
        s.memory.settle(&stream);
      }
      s.memory.forget(&stream);
    });
  }
  for (std::thread& thread : threads) thread.join();
  s.memory.shrink();
  EXPECT_EQ(s.source->blocks, 0);
}

std::string message_of(const DeviceMemory& memory, const void* address, size_t bytes) {
  try {
    memory.at(address, bytes, "it");
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::ep_fail);
    return error.message();
  }
}

TEST(FakeDeviceMemory, TakesItsOwnAddressesAlone) {
  fake_device::Counts counts;
  DeviceMemory memory(counts), other(counts);
  char* block = static_cast<char*>(memory.allocate(100, 100));
  EXPECT_EQ(message_of(memory, block, 100), "");
  EXPECT_EQ(message_of(memory, block + 99, 1), "");
  EXPECT_NE(message_of(memory, block + 99, 2), "");
  EXPECT_NE(message_of(other, block, 100), "");
  const int here = 0;
  EXPECT_NE(message_of(memory, &here, sizeof(here)).find("an address of the host"), std::string::npos);
  EXPECT_THROW(DeviceMemory::check_host(block, "it"), Error);
  DeviceMemory::check_host(&here, "it");
  memory.free(block);
}

TEST(FakeDeviceMemory, FillsWhatIsNewAndWhatIsFreed) {
  fake_device::Counts counts;
  DeviceMemory memory(counts);
  void* block = memory.allocate(64, 64);
  const auto* bytes = static_cast<const unsigned char*>(memory.at(block, 64, "it"));
  EXPECT_EQ(bytes[0], 0xff);
  EXPECT_EQ(counts.bytes, 64);
  memory.free(block);
  EXPECT_EQ(bytes[63], 0xdd);  // it is kept for a while
  EXPECT_EQ(counts.bytes, 0);
  EXPECT_EQ(counts.peak_bytes, 64);
  EXPECT_NE(message_of(memory, block, 1).find("is in no block of the device"), std::string::npos);
}

}  // namespace

}  // namespace rh
