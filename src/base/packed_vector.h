#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/shared_bytes.h"

namespace rh {

/// Memory of the PackingScope of a run in which the allocator is made, which takes none back; without such a scope, of the heap.
template <typename T>
class PackingAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  PackingAllocator() : run_(PackingScope::current_of_run()) {}
  template <typename U>
  PackingAllocator(const PackingAllocator<U>& other) : run_(other.run()) {}

  T* allocate(size_t count) {
    static_assert(alignof(T) <= 64);
    return run_ ? static_cast<T*>(run_->run_memory(count * sizeof(T))) : std::allocator<T>().allocate(count);
  }
  void deallocate(T* memory, size_t count) {
    if (!run_) std::allocator<T>().deallocate(memory, count);
  }
  const PackingScope* run() const { return run_; }
  friend bool operator==(const PackingAllocator& a, const PackingAllocator& b) { return a.run_ == b.run_; }

 private:
  const PackingScope* run_;
};

/// A list that is part of what is packed. One that is made in a run's scope may grow as long as that lives, on the scope's thread.
template <typename T>
using PackedVector = std::vector<T, PackingAllocator<T>>;

/// A base of objects that are packed forms: those made by `new` in the PackingScope of a run lie in the run's memory too.
struct PackedObject {
  static void* operator new(size_t bytes);
  static void operator delete(void* object) noexcept;
};

}  // namespace rh
