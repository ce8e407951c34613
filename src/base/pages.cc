#include "base/pages.h"

#include <algorithm>
#include <cstdint>

#include "base/aligned.h"

namespace rh {

namespace {

constexpr size_t kAlignment = 64;

}  // namespace

std::shared_ptr<std::byte> PageChunk::take(size_t bytes) {
  if (bytes > kMoreThanMemory) return nullptr;
  const size_t size = std::max<size_t>(1, (bytes + kAlignment - 1) / kAlignment) * kAlignment, room = room_.load();
  size_t begin = used_.load();
  do {
    if (size > room || begin > room - size) return nullptr;
  } while (!used_.compare_exchange_weak(begin, begin + size));
  return {static_cast<std::byte*>(memory_.data()) + begin, [chunk = shared_from_this(), begin, size](std::byte*) {
            size_t end = begin + size;
            chunk->used_.compare_exchange_strong(end, begin);
          }};
}

void PageChunk::touch() { touch_pages(memory_.data(), memory_.bytes()); }

void PageChunk::close() {
  room_ = 0;
  memory_.shorten(used_.load());
}

}  // namespace rh
