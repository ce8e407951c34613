#pragma once

#include <memory>
#include <string_view>

#include "abi/memory_info.h"

namespace rh::abi {

/// The process-wide allocator of host memory, which GetAllocatorWithDefaultOptions gives. Never released.
OrtAllocator& default_allocator();

/// Host memory under another memory information, owned by whoever releases it (CreateAllocator).
OrtAllocator* new_host_allocator(const OrtMemoryInfo& info);
/// Hands calls on to another allocator under another memory information; keeps what that one needs.
OrtAllocator* new_forwarding_allocator(const OrtMemoryInfo& info, OrtAllocator& to, std::shared_ptr<const void> kept);
/// Releases one made by new_host_allocator, new_forwarding_allocator or new_arena_allocator; others and null are left alone.
void release_allocator(OrtAllocator* allocator);

/// Memory from a caller's allocator. Throws Error{fail} where it gives none.
void* allocate(OrtAllocator& allocator, size_t bytes);
/// A copy with a terminator; the caller frees it with the allocator.
char* copy_string(OrtAllocator& allocator, std::string_view text);

}  // namespace rh::abi
