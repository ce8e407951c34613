#include "abi/arena_allocator.h"

#include <new>

#include "abi/key_values.h"
#include "abi/options.h"
#include "abi/status.h"
#include "tensor/arena_report.h"

namespace rh::abi {

namespace {

OrtStatus* ORT_API_CALL arena_stats(const OrtAllocator* self, OrtKeyValuePairs** out);

}  // namespace

struct ArenaAllocator : OrtAllocator {
  ArenaAllocator(const OrtMemoryInfo& memory, std::shared_ptr<Arena> shared) : OrtAllocator{}, info(memory), arena(std::move(shared)) {
    version = ORT_API_VERSION;
    Alloc = alloc_piece;
    Free = [](OrtAllocator* self, void* memory) { static_cast<ArenaAllocator*>(self)->arena->deallocate(memory); };
    Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* { return &static_cast<const ArenaAllocator*>(self)->info; };
    Reserve = [](OrtAllocator* self, size_t size) {
      return give(size, [&] { return static_cast<ArenaAllocator*>(self)->arena->reserve(size); });
    };
    GetStats = arena_stats;
    AllocOnStream = [](OrtAllocator* self, size_t size, OrtSyncStream*) { return alloc_piece(self, size); };
    Shrink = [](OrtAllocator* self) -> OrtStatus* {
      try {
        static_cast<ArenaAllocator*>(self)->arena->shrink();
        return nullptr;
      } catch (...) {
        return status_of_current_exception();
      }
    };
  }
  static void* ORT_API_CALL alloc_piece(OrtAllocator* self, size_t size) {
    return give(size, [&] { return static_cast<ArenaAllocator*>(self)->arena->allocate(size); });
  }
  template <typename F>
  static void* give(size_t size, F&& body) {
    try {
      return size == 0 ? nullptr : body();
    } catch (...) {
      return nullptr;
    }
  }

  OrtMemoryInfo info;
  std::shared_ptr<Arena> arena;
};

namespace {

OrtStatus* ORT_API_CALL arena_stats(const OrtAllocator* self, OrtKeyValuePairs** out) {
  try {
    auto pairs = std::make_unique<OrtKeyValuePairs>();
    for (const auto& [key, value] : arena_report(static_cast<const ArenaAllocator*>(self)->arena->statistics()))
      pairs->set(key, std::to_string(value));
    *out = pairs.release();
    return nullptr;
  } catch (...) {
    return status_of_current_exception();
  }
}

/// Where the memory given is not aligned, the block begins further on; what it was is kept before it.
class OverAllocator final : public ShrinkableAllocator {
 public:
  explicit OverAllocator(OrtAllocator& raw) : raw_(raw) {
    if (const OrtMemoryInfo* info = raw.Info ? raw.Info(&raw) : nullptr) device_ = device_of(*info);
  }
  void* allocate(size_t bytes) override {
    if (!device_.is_host()) return take(bytes == 0 ? 1 : bytes);
    const size_t room = kTensorAlignment + sizeof(void*);
    if (bytes > SIZE_MAX - room) throw std::bad_alloc();
    void* given = take(bytes + room);
    const uintptr_t first = reinterpret_cast<uintptr_t>(given) + room;
    void** aligned = reinterpret_cast<void**>(first / kTensorAlignment * kTensorAlignment);
    aligned[-1] = given;
    return aligned;
  }
  void deallocate(void* memory) override {
    if (memory) raw_.Free(&raw_, device_.is_host() ? static_cast<void**>(memory)[-1] : memory);
  }
  Device device() const override { return device_; }
  void shrink() override {
    if (raw_.version >= 25 && raw_.Shrink) release_status(raw_.Shrink(&raw_));
  }

 private:
  void* take(size_t bytes) {
    void* memory = raw_.Alloc(&raw_, bytes);
    if (!memory) throw std::bad_alloc();
    return memory;
  }
  OrtAllocator& raw_;
  Device device_;
};

}  // namespace

OrtAllocator* new_arena_allocator(const OrtMemoryInfo& info, std::shared_ptr<Arena> arena) {
  return new ArenaAllocator(info, std::move(arena));
}

std::shared_ptr<Arena> arena_of(OrtAllocator& allocator) {
  return allocator.Alloc == ArenaAllocator::alloc_piece ? static_cast<ArenaAllocator&>(allocator).arena : nullptr;
}

ArenaSettings arena_settings(const OrtArenaCfg* given) {
  ArenaSettings settings;
  if (!given) return settings;
  const auto set = [&](const char* key, size_t& to) {
    const auto at = given->values.find(key);
    if (at != given->values.end() && at->second >= 0) to = static_cast<size_t>(at->second);
  };
  set("max_mem", settings.max_bytes);
  set("initial_chunk_size_bytes", settings.initial_chunk_bytes);
  set("max_dead_bytes_per_chunk", settings.max_dead_bytes);
  set("initial_growth_chunk_size_bytes", settings.initial_growth_bytes);
  set("max_power_of_two_extend_bytes", settings.max_power_of_two_bytes);
  const auto strategy = given->values.find("arena_extend_strategy");
  if (strategy != given->values.end() && strategy->second == 1) settings.growth = ArenaSettings::Growth::same_as_requested;
  return settings;
}

std::shared_ptr<Allocator> allocator_over(OrtAllocator& raw) {
  if (auto arena = arena_of(raw)) return arena;
  return std::make_shared<OverAllocator>(raw);
}

void release_arena_allocator(OrtAllocator* allocator) {
  if (allocator->Alloc == ArenaAllocator::alloc_piece) delete static_cast<ArenaAllocator*>(allocator);
}

}  // namespace rh::abi
