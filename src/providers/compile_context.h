#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "providers/kernel.h"
#include "providers/tuning.h"

namespace rh {

/// What is known of the session when a kernel is made.
struct CompileContext {
  Precision precision = Precision::fp32;
  Tuning tuning = {};            ///< of kernels that have several variants
  bool lean_memory = false;      ///< constants in the form of their kernels may take no more memory than they do in the model
  bool compact_weights = false;  ///< weights of products take fewer bytes where that loses nothing (PackedUse::compact)
  /// How many kernels that draw random numbers the session has made so far; null: not counted.
  std::shared_ptr<std::atomic<uint64_t>> random_kernels = {};
};

}  // namespace rh
