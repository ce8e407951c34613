#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace rh::onnx {

/// Weights of a convolution of `com.microsoft.nchwc`: by their shape [outputs, inputs, height, width], but outputs lie in blocks that come
/// last (OIHWBo), and inputs, where `inputs_in_blocks`, in blocks before these (OIHWBiBo). Floats; no dimension is 0, and those in blocks
/// are multiples of the block size.
struct BlockedWeights {
  Tensor tensor;
  bool inputs_in_blocks = false;

  int64_t outputs() const { return tensor.shape()[0]; }
  int64_t inputs() const { return tensor.shape()[1]; }  ///< of one group
  int64_t pixels() const { return tensor.shape()[2] * tensor.shape()[3]; }
};

/// The first `outputs` and `inputs` of them as the standard has them: OIHW.
Tensor plain_weights(const BlockedWeights& weights, int block, int64_t outputs, int64_t inputs);

/// How many inputs there are up to the last one with a weight that is not 0; only those of the last block are looked at.
int64_t used_inputs(const BlockedWeights& weights, int block);

/// Tells blocks of 8 from blocks of 16 by the weights alone. Those of one channel are of one magnitude, which differs from channel to
/// channel (0 for channels that only fill a block up); read with the wrong size, each channel has weights of several, and magnitudes are
/// more alike.
class BlockSizeEvidence {
 public:
  void add(const BlockedWeights& weights);
  /// Nothing where weights that are alike in all channels could look the same.
  std::optional<int> block() const;

 private:
  double difference_ = 0;  // of logarithms of likelihoods, of normal distributions with a variance for each channel
  int64_t channels_ = 0;
};

}  // namespace rh::onnx
