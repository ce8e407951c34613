#pragma once

#include "ops/activation/fused_activation.h"
#include "ops/inference.h"

namespace rh::ops {

/// BatchNormalization: ai.onnx 1, 6, 7, 9, 14, 15. Inputs X, scale, B, mean, var. FusedBatchNormalization: roundhouse 1, with an input 5 of
/// the shape of X that is added to the result, and an activation of that; X may be of channels in blocks, as BlockChannels gives it.
struct BatchNormalization {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  bool training = false;  ///< training_mode, or before opset 14 more than one output
  bool spatial = true;    ///< a parameter for each channel; before opset 9 there may be one for each element of an image
  bool blocked = false;
  bool sum_first = false;  ///< input 5 is added to X
  FusedActivation activation;

  static BatchNormalization read(const NodeView& node);
};
void infer(const BatchNormalization& op, InferenceContext& context);

/// LayerNormalization (ai.onnx 17; the same under com.microsoft-free opset 1 exports) and RMSNormalization (ai.onnx 23): over the axes from
/// `axis` on. ChannelNormalization: roundhouse 1, LayerNormalization of floats over dimension 1 alone, with a scale and a bias for each
/// channel, and an activation of the result.
struct LayerNormalization {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  bool rms = false;          ///< without mean and bias
  bool of_channels = false;  ///< over dimension 1 alone
  DType stash_type = DType::float32;
  FusedActivation activation;  ///< of ChannelNormalization

  static LayerNormalization read(const NodeView& node);
};
void infer(const LayerNormalization& op, InferenceContext& context);

/// InstanceNormalization (ai.onnx 1, 6, 22) and GroupNormalization (18: scale and bias a group, 21: a channel). FusedGroupNormalization:
/// roundhouse 1, either of them, with an input 3 of the shape of X that is added to the result, and an activation of that; `num_groups`
/// may be left out.
struct GroupNormalization {
  float epsilon = 1e-5f;
  int64_t groups = 0;  ///< 0: every channel is a group of its own
  bool per_group_scale = false;
  FusedActivation activation;

  static GroupNormalization read(const NodeView& node);
};
void infer(const GroupNormalization& op, InferenceContext& context);

/// LRN: ai.onnx 1, 13. Across channels.
struct Lrn {
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  int64_t size = 1;

  static Lrn read(const NodeView& node);
};
void infer(const Lrn& op, InferenceContext& context);

/// LpNormalization (ai.onnx 1, 22) and MeanVarianceNormalization (1: by attributes that name no axes, 9, 13).
struct AxisNormalization {
  bool mean_variance = false;
  bool keeps_variance = false;  ///< the mean alone is taken away
  std::vector<int64_t> axes;    ///< as they are given
  int64_t p = 2;

  static AxisNormalization read(const NodeView& node);
  /// The axes in order. MeanVarianceNormalization leaves those out that the rank lacks, as its default axes of an image do in rows.
  InlineVector<int64_t, 8> axes_of(int rank) const;
};
void infer(const AxisNormalization& op, InferenceContext& context);

}  // namespace rh::ops
