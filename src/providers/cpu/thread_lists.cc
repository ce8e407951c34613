#include "providers/cpu/thread_lists.h"

#include "base/thread_memory.h"

namespace rh::cpu {
namespace {

thread_local ThreadMemory lists[static_cast<int>(ThreadList::count)];

}  // namespace

void* thread_list_memory(ThreadList list, size_t bytes) { return lists[static_cast<int>(list)].grow(bytes); }

}  // namespace rh::cpu
