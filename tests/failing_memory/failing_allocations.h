#pragma once

#include <cstdint>

namespace rh::test {

/// While it lives, allocation `n` (from 1) of this process fails, and those after it where `on`. Counts operator new, aligned_alloc, mmap
/// and mremap of all threads.
class FailingAllocations {
 public:
  FailingAllocations(int64_t n, bool on);
  ~FailingAllocations() { stop(); }
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  void stop();
  /// Whether one has failed.
  bool failed() const;
  /// Those that were made so far, or until it stopped.
  int64_t count() const;

 private:
  int64_t n_, count_ = -1;
};

}  // namespace rh::test
