#include "providers/kit/device/stream_memory.h"

#include <utility>

namespace rh::kit {

StreamMemory::StreamMemory(std::shared_ptr<Allocator> source, const std::optional<ArenaSettings>& settings)
    : source_(std::move(source)), settings_(settings.value_or(ArenaSettings{})) {
  if (settings) arena_ = std::make_shared<Arena>(source_, settings_);
}

void* StreamMemory::allocate(size_t bytes) { return arena_ ? arena_->allocate(bytes) : source_->allocate(bytes); }

void* StreamMemory::allocate_on(const void* stream, size_t bytes) {
  if (!arena_ || !stream) return allocate(bytes);
  std::shared_ptr<Arena> arena;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Arena>& of_stream = streams_[stream];
    if (!of_stream) {
      ArenaSettings settings = settings_;
      settings.max_bytes = 0;  // the arena around it has the bound
      of_stream = std::make_shared<Arena>(arena_, settings);
    }
    arena = of_stream;
  }
  void* memory = arena->allocate(bytes);
  const std::lock_guard lock(mutex_);
  pieces_[memory] = std::move(arena);
  return memory;
}

void* StreamMemory::reserve(size_t bytes) { return arena_ ? arena_->reserve(bytes) : source_->allocate(bytes); }

void StreamMemory::deallocate(void* memory) {
  if (!memory) return;
  if (!arena_) return source_->deallocate(memory);
  std::shared_ptr<Arena> owner;  // may be the last to have it: its regions then go back
  {
    const std::lock_guard lock(mutex_);
    if (const auto piece = pieces_.find(memory); piece != pieces_.end()) {
      owner = std::move(piece->second);
      pieces_.erase(piece);
    }
  }
  (owner ? *owner : *arena_).deallocate(memory);
}

void StreamMemory::settle(const void* stream) {
  const std::lock_guard lock(mutex_);
  if (const auto at = streams_.find(stream); at != streams_.end()) at->second->shrink();
}

void StreamMemory::forget(const void* stream) {
  std::shared_ptr<Arena> gone;
  const std::lock_guard lock(mutex_);
  if (const auto at = streams_.find(stream); at != streams_.end()) {
    gone = std::move(at->second);
    streams_.erase(at);
  }
  if (gone) gone->shrink();
}

void StreamMemory::shrink() {
  if (arena_) arena_->shrink();
}

ArenaStatistics StreamMemory::statistics() const { return arena_ ? arena_->statistics() : ArenaStatistics{}; }

}  // namespace rh::kit
