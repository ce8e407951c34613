#pragma once

#include <span>

#include "ops/inference.h"
#include "tensor/tensor.h"

namespace rh::ops {

/// Scan: ai.onnx 8 (with a batch dimension and sequence lengths), 9 (axes), 11 (negative axes) on. The body takes states and one slice of
/// each scanned input and gives states and one slice of each scanned output.
struct Scan {
  bool batched = false;  ///< opset 8: input 0 holds sequence lengths, dimension 0 is the batch, 1 the sequence
  int states = 0;
  int scans = 0;                       ///< scanned inputs
  std::vector<int64_t> input_axes;     ///< one a scanned input, as written
  std::vector<int64_t> output_axes;    ///< one a scanned output, as written
  std::vector<bool> input_backwards;   ///< from the last slice to the first
  std::vector<bool> output_backwards;  ///< each slice goes before those that stand

  static Scan read(const NodeView& node);
  size_t outputs() const { return output_axes.size(); }  ///< scanned ones
  int first_input() const { return batched ? 1 : 0; }    ///< index of the first state
};

void infer(const Scan& op, InferenceContext& context);

/// Opset 8: how many slices each item of the batch has, at most `length`.
struct ScanBatch {
  int64_t length = 0;
  std::vector<int64_t> lengths;
};

/// `shapes`: of all inputs but the sequence lengths; `sequence_lens` may be null. Throws Error{invalid_argument} where they do not agree.
ScanBatch batch_of(const Scan& op, std::span<const Shape> shapes, const Tensor* sequence_lens);

}  // namespace rh::ops
