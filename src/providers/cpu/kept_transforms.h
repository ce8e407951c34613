#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "compute/fft.h"

namespace rh::cpu {

/// The transforms that a kernel made last, so that runs of the same lengths make no tables. Thread-safe.
class KeptTransforms {
 public:
  std::shared_ptr<const compute::Fft> of(int64_t size) const {
    const std::lock_guard lock(mutex_);
    for (const auto& kept : kept_)
      if (kept && kept->size() == size) return kept;
    auto made = std::make_shared<const compute::Fft>(size);
    if (size <= kLongestKept) kept_[next_++ % kept_.size()] = made;
    return made;
  }

 private:
  static constexpr int64_t kLongestKept = 1 << 20;

  mutable std::mutex mutex_;
  mutable std::array<std::shared_ptr<const compute::Fft>, 4> kept_;
  mutable size_t next_ = 0;
};

}  // namespace rh::cpu
