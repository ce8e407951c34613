#include "base/packed_vector.h"

#include <new>

namespace rh {

namespace {

constexpr std::align_val_t kAlignment{64};
constexpr size_t kBefore = 64;  // bytes before an object, of which the first tells whether they are the heap's

}  // namespace

void* PackedObject::operator new(size_t bytes) {
  const PackingScope* run = PackingScope::current_of_run();
  void* const memory = run ? run->run_memory(kBefore + bytes) : ::operator new(kBefore + bytes, kAlignment);
  return new (memory) bool(run == nullptr) + kBefore;
}

void PackedObject::operator delete(void* object) noexcept {
  if (!object) return;
  bool* const memory = static_cast<bool*>(object) - kBefore;
  if (*memory) ::operator delete(memory, kAlignment);
}

}  // namespace rh
