#pragma once

#include <memory>

#include "abi/memory_info.h"
#include "tensor/arena.h"

namespace rh::abi {

/// An arena as an allocator of the interface, owned by whoever releases it; all that are made for an arena share it.
OrtAllocator* new_arena_allocator(const OrtMemoryInfo& info, std::shared_ptr<Arena> arena);
/// Null for an allocator that new_arena_allocator did not make.
std::shared_ptr<Arena> arena_of(OrtAllocator& allocator);
/// Leaves an allocator of others alone.
void release_arena_allocator(OrtAllocator* allocator);

/// Bounds that are not given (null, or a negative number) are the defaults.
ArenaSettings arena_settings(const OrtArenaCfg* settings);

/// A caller's allocator as the runtime uses it; the caller keeps it. Blocks of host memory are aligned whatever it gives.
std::shared_ptr<Allocator> allocator_over(OrtAllocator& raw);

}  // namespace rh::abi
