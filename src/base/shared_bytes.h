#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "base/pages.h"
#include "base/thread_pool.h"

namespace rh {

/// Constant memory that those who share one content have once in the process: what is given, or, where memory with the same bytes is shared
/// already, that. The bytes must not change afterwards. Thread-safe.
std::shared_ptr<const void> share_bytes(std::shared_ptr<const void> memory, size_t bytes);

/// Memory that is made in pieces.
struct Pieces {
  size_t count = 0;
  FunctionRef<size_t(size_t)> begin;       ///< of a piece, in bytes; begin(count) is the end of all
  FunctionRef<void(size_t, void*)> write;  ///< writes a piece, always the same; may be called twice, and from several threads
};

/// The same of memory that is yet to be made: where it is shared already the pieces are only compared with that, and no memory is taken.
/// `slack` bytes follow that may be read but belong to nobody. Without threads of their own, pieces are made by those of the PackingScope.
std::shared_ptr<const void> share_pieces(const Pieces& pieces, size_t slack, const Parallel& parallel = {});

/// The same of an array of floats or the like.
template <typename T>
std::shared_ptr<const T[]> share_array(std::shared_ptr<T[]> array, size_t count) {
  const std::shared_ptr<const void> shared = share_bytes(array, count * sizeof(T));
  return std::shared_ptr<const T[]>(shared, static_cast<const T*>(shared.get()));
}

/// An array that shares its memory so, with its size.
template <typename T>
class SharedArray {
 public:
  SharedArray() = default;
  SharedArray(std::shared_ptr<T[]> array, size_t count) : array_(share_array(std::move(array), count)), size_(count) {}
  /// Of memory that is shared already.
  SharedArray(const std::shared_ptr<const void>& shared, size_t count)
      : array_(shared, static_cast<const T*>(shared.get())), size_(count) {}

  const T* data() const { return array_.get(); }
  size_t size() const { return size_; }

 private:
  std::shared_ptr<const T[]> array_;
  size_t size_ = 0;
};

/// Memory for what is packed: uninitialised, 64-byte aligned, in the pages of this thread's PackingScope where it has such. Throws
/// std::bad_alloc.
std::shared_ptr<void> packing_memory(size_t bytes);

/// The same of an array.
template <typename T>
std::shared_ptr<T[]> aligned_array(size_t count) {
  const std::shared_ptr<void> memory = packing_memory(count * sizeof(T));
  return std::shared_ptr<T[]>(memory, static_cast<T*>(memory.get()));
}

/// Keeps shared memory alive. Thread-safe.
class KeptBytes {
 public:
  void keep(const std::shared_ptr<const void>& memory);
  size_t pieces() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<const void>> kept_;
};

/// While it lives, all that this thread shares is kept; null: nothing is.
class KeepingScope {
 public:
  explicit KeepingScope(KeptBytes* keeper);
  ~KeepingScope();
  KeepingScope(const KeepingScope&) = delete;
  KeepingScope& operator=(const KeepingScope&) = delete;

 private:
  KeptBytes* before_;
};

/// While it lives, share_pieces() of this thread has these threads.
class PackingScope {
 public:
  /// Of so many bytes to be packed in all.
  explicit PackingScope(const Parallel& parallel, size_t bytes = 0);
  /// Gives memory, 64-byte aligned, that outlives all that is packed in it and is nobody's to free. Throws std::bad_alloc.
  using RunMemory = FunctionRef<void*(size_t bytes)>;
  /// What is packed serves one run: it lies where `memory`, which must outlive the scope, gives room, and is not shared.
  static PackingScope of_run(const Parallel& parallel, RunMemory memory) { return PackingScope(parallel, memory); }
  ~PackingScope();
  PackingScope(const PackingScope&) = delete;
  PackingScope& operator=(const PackingScope&) = delete;

  /// From now on what this thread packs lies one behind the other in large pages, unless it is very little or much in all. Large pages
  /// take the system longer to give: for what is read in order and soon after it was fetched.
  static void use_pages();
  /// What this thread has shared since the last call, in the order of sharing. Empty where no scope lives.
  static std::vector<std::span<const std::byte>> take_shared();
  /// This thread's scope where that is of a run, else null.
  static PackingScope* current_of_run();
  /// Of a scope of a run.
  void* run_memory(size_t bytes) const { return (*run_memory_)(bytes); }

 private:
  friend struct Packing;
  PackingScope(const Parallel& parallel, RunMemory memory);

  /// Null where blocks have memory of their own.
  std::shared_ptr<void> take_memory(size_t bytes);

  Parallel parallel_;
  bool may_have_pages_, has_pages_ = false;
  std::optional<RunMemory> run_memory_;  ///< of a scope of a run
  std::shared_ptr<PageChunk> pages_;
  std::vector<std::span<const std::byte>> shared_;
  PackingScope* before_;
};

struct SharedBytes {
  size_t pieces = 0;  ///< that are shared now
  size_t bytes = 0;   ///< of these, each counted once
  size_t made = 0;    ///< pieces that ever became shared
  size_t found = 0;   ///< times that one was there already
};
SharedBytes shared_bytes();

}  // namespace rh
