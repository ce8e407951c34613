#include "abi/allocator.h"
#include "abi/arena_allocator.h"

#include <cstring>

#include "abi/key_values.h"
#include "abi/status.h"
#include "base/fork_mutex.h"

namespace rh::abi {

namespace {

void* ORT_API_CALL alloc_host(OrtAllocator*, size_t size) {
  try {
    return size == 0 ? nullptr : host_allocator().allocate(size);
  } catch (...) {
    return nullptr;
  }
}

void ORT_API_CALL free_host(OrtAllocator*, void* memory) {
  if (memory) host_allocator().deallocate(memory);
}

OrtStatus* ORT_API_CALL no_stats(const OrtAllocator*, OrtKeyValuePairs** out) {
  try {
    *out = new OrtKeyValuePairs;
    return nullptr;
  } catch (...) {
    return status_of_current_exception();
  }
}

void* ORT_API_CALL alloc_on_stream(OrtAllocator* self, size_t size, OrtSyncStream*) { return alloc_host(self, size); }
OrtStatus* ORT_API_CALL shrink_nothing(OrtAllocator*) { return nullptr; }

const OrtMemoryInfo* ORT_API_CALL default_info(const OrtAllocator*) { return &host_memory_info(); }

OrtAllocator host_functions() {
  OrtAllocator table{};
  table.version = ORT_API_VERSION;
  table.Alloc = alloc_host;
  table.Free = free_host;
  table.Info = default_info;
  table.Reserve = alloc_host;
  table.GetStats = no_stats;
  table.AllocOnStream = alloc_on_stream;
  table.Shrink = shrink_nothing;
  return table;
}

}  // namespace

struct OwnedAllocator : OrtAllocator {
  explicit OwnedAllocator(const OrtMemoryInfo& memory) : OrtAllocator(host_functions()), info(memory) {
    Info = [](const OrtAllocator* self) { return &static_cast<const OwnedAllocator*>(self)->info; };
  }
  OrtMemoryInfo info;
};

/// Functions that came with later versions of the interface fall back on those that were always there.
struct ForwardingAllocator : OrtAllocator {
  ForwardingAllocator(const OrtMemoryInfo& memory, OrtAllocator& target, std::shared_ptr<const void> needed)
      : OrtAllocator{}, info(memory), to(target), kept(std::move(needed)) {
    version = ORT_API_VERSION;
    Alloc = alloc;
    Free = [](OrtAllocator* self, void* memory) { own(self).to.Free(&own(self).to, memory); };
    Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* { return &static_cast<const ForwardingAllocator*>(self)->info; };
    Reserve = [](OrtAllocator* self, size_t size) {
      OrtAllocator& target = own(self).to;
      return target.version >= 18 && target.Reserve ? target.Reserve(&target, size) : target.Alloc(&target, size);
    };
    GetStats = [](const OrtAllocator* self, OrtKeyValuePairs** out) {
      const OrtAllocator& target = static_cast<const ForwardingAllocator*>(self)->to;
      return target.version >= 23 && target.GetStats ? target.GetStats(&target, out) : no_stats(self, out);
    };
    const auto on_stream = [](OrtAllocator* self, size_t size, OrtSyncStream* stream) {
      return own(self).to.AllocOnStream(&own(self).to, size, stream);
    };
    if (target.version >= 23 && target.AllocOnStream) AllocOnStream = on_stream;
    Shrink = [](OrtAllocator* self) -> OrtStatus* {
      OrtAllocator& target = own(self).to;
      return target.version >= 25 && target.Shrink ? target.Shrink(&target) : nullptr;
    };
  }
  static ForwardingAllocator& own(OrtAllocator* self) { return *static_cast<ForwardingAllocator*>(self); }
  static void* ORT_API_CALL alloc(OrtAllocator* self, size_t size) { return own(self).to.Alloc(&own(self).to, size); }

  OrtMemoryInfo info;
  OrtAllocator& to;
  std::shared_ptr<const void> kept;
};

OrtAllocator& default_allocator() {
  static constinit ForkOnce<OrtAllocator> allocator;
  return allocator.get(host_functions);
}

OrtAllocator* new_host_allocator(const OrtMemoryInfo& info) { return new OwnedAllocator(info); }

OrtAllocator* new_forwarding_allocator(const OrtMemoryInfo& info, OrtAllocator& to, std::shared_ptr<const void> kept) {
  return new ForwardingAllocator(info, to, std::move(kept));
}

void release_allocator(OrtAllocator* allocator) {
  if (!allocator || allocator == &default_allocator()) return;
  if (allocator->Alloc == alloc_host) {
    delete static_cast<OwnedAllocator*>(allocator);
  } else if (allocator->Alloc == ForwardingAllocator::alloc) {
    delete static_cast<ForwardingAllocator*>(allocator);
  } else {
    release_arena_allocator(allocator);
  }
}

void* allocate(OrtAllocator& allocator, size_t bytes) {
  if (!allocator.Alloc) fail(ErrorCode::invalid_argument, "the allocator has no Alloc function");
  void* memory = allocator.Alloc(&allocator, bytes);
  if (!memory && bytes != 0) fail(ErrorCode::fail, "out of memory: the allocator gave none for {} bytes", bytes);
  return memory;
}

char* copy_string(OrtAllocator& allocator, std::string_view text) {
  char* copy = static_cast<char*>(allocate(allocator, text.size() + 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace rh::abi
