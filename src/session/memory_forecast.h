#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "session/plan.h"
#include "tensor/shape.h"

namespace rh {

/// A tensor, and the memory that it takes.
struct TensorMemory {
  std::string tensor;
  std::string node;  ///< that makes it, or that keeps it packed; empty: neither
  size_t bytes = 0;
};

/// What a run will take, told before it.
struct MemoryForecast {
  std::vector<std::pair<std::string, int64_t>> symbols;  ///< the values that sizes were computed with
  std::vector<std::string> assumed;                      ///< symbols that nothing gave a value: 1 was taken
  size_t weight_bytes = 0;                               ///< initializers in the form of the file, mapped ones included
  size_t packed_bytes = 0;                               ///< initializers in the form of their kernels
  size_t arena_bytes = 0;                                ///< intermediate tensors, subgraphs' included
  size_t live_bytes = 0;                                 ///< the most that the main graph's intermediate tensors take at one time
  size_t output_bytes = 0;                               ///< of outputs whose size is known before
  size_t late_bytes = 0;                                 ///< the most that values of unknown size have taken so far
  size_t scratch_bytes = 0;                              ///< the most that kernels have taken for one step so far
  int64_t late_tensors = 0;                              ///< values whose size only a run tells
  size_t budget_bytes = 0;                               ///< 0: none
  std::string peak_node;                                 ///< at which live_bytes live
  std::vector<TensorMemory> at_peak;                     ///< what lives there, the largest first
  std::vector<TensorMemory> weights;                     ///< the largest first

  size_t total_bytes() const { return weight_bytes + packed_bytes + arena_bytes + output_bytes + late_bytes + scratch_bytes; }
};

/// The shape that an input will have.
struct InputShape {
  std::string name;
  Shape shape;
};

/// What a run with these input shapes takes. Inputs left out have the shape that the model declares, with `symbols` for its names. What
/// runs have taken so far is not filled in. Throws Error{invalid_argument} where a name is unknown or a shape does not fit.
MemoryForecast forecast_memory(const Plan& plan, std::span<const InputShape> shapes,
                               std::span<const std::pair<std::string, int64_t>> symbols);

/// These planned buffers by their tensors, the largest first.
std::vector<TensorMemory> tensors_of(const Plan& plan, const Binding& binding, std::span<const int32_t> buffers);

/// Initializers that the plan and its kernels keep, subgraphs' included, the largest first.
std::vector<TensorMemory> weights_of(const Plan& plan);

void sort_by_size(std::vector<TensorMemory>& tensors);  ///< the largest first

/// "'a' 12.0 MiB (node conv1), 'b' 3.2 KiB and 7 more of 1.1 KiB": the first `count`.
std::string list_largest(std::span<const TensorMemory> tensors, size_t count = 8);

/// "1.5 MiB", with the exact number where it is small.
std::string bytes_text(size_t bytes);

}  // namespace rh
